"""The transcript."""
