"""What rewards.py and tools.py import: decorators, their arguments, and the registries that they fill."""
