"""The content of the page: Markdown, and the blocks of calls, as nodes that become markup or elements."""
