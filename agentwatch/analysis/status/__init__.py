"""What a session is doing, and how it ended and why, in words for the status line and for stderr."""
