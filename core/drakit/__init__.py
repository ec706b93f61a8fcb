"""drakit: the Python framework for Kubernetes Dynamic Resource Allocation (DRA) drivers."""
