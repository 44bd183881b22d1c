"""An agent's bytes are appended to files."""
