"""Local copies of sessions of other machines."""
