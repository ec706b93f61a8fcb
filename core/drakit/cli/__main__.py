"""``python -m drakit.cli``."""

from drakit.cli import main

main()
