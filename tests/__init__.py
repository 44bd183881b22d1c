"""The tests, in the same folders as the code in `agentwatch`; `pty` tests the program in a real terminal."""
