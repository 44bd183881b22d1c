"""The Python API: what a program gets that imports agentwatch."""
