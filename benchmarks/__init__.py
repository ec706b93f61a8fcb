"""Measurements that are not tests; each module prints a table."""
