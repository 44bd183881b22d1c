"""The moment on a real terminal."""
