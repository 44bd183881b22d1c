"""The transcript pane: prompts, thinking, answers as Markdown, and calls, in order."""
