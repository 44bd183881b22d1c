"""Sessions of other machines."""
