"""Tests of agentwatch on a real pty, for behaviour that needs a terminal, a pipe or processes."""
