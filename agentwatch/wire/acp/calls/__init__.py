"""The tool calls of the protocol: their descriptions, results and blocks."""
