"""Whole sessions against a truth that was written independently."""
