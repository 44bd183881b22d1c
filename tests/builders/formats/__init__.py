"""Lines, samples and plugins of agents' formats."""
