"""Stories: descriptions of sessions that yield both an agent's lines and the expected summary."""
