"""The sessions of other machines in a list."""
