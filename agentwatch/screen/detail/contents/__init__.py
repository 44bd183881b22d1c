"""What the detail shows of a call, and in which order."""
