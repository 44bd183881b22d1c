"""`python -m agentwatch`."""

from agentwatch.cli.start import main

main()
