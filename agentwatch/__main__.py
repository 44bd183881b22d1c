"""`python -m agentwatch`."""

from agentwatch.cli import main

main()
