"""Whole sessions checked against expectations that were written independently."""
