"""Generated runs that are compared."""
