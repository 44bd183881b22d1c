"""The program on a real pty: what only a terminal, a pipe and processes can show."""
