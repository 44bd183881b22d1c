"""The preview of a large recording: its head and tail are shown until the whole session is loaded."""
