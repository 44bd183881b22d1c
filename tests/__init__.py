"""The tests mirror the rooms of `agentwatch`; `pty` is the program in a real terminal."""
