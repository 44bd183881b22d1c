"""`python -m agentwatch`."""

from agentwatch.cli.app import main

main()
