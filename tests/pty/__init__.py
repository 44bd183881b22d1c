"""Tests of agentwatch on a real pty, for what only a terminal, a pipe and processes can show."""
