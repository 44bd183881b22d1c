"""The list of all sessions on a real terminal."""
