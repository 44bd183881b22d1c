"""Lines of the files that agents write to disk."""
