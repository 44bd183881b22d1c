"""Home with made sessions."""
