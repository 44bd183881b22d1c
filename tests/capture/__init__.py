"""An agent's bytes are appended to files, whatever happens to the disk."""
