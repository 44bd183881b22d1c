"""Generates what follows from the code: pages of commands and keys, the man page, completion scripts."""
