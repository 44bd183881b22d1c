"""Two plugins of agentwatch: the format of the agent Tern, and the export format `csv`."""
