"""asciicast."""
