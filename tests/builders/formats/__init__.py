"""Lines of several formats, and recordings of them with fields of other types."""
