"""``python -m drakit``."""

from drakit.cli import main

main()
