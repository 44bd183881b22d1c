"""The transcript pane: prompts, thinking, answers as Markdown, and calls, in order.

Within the screen, this folder may import `lines`, `markup` and `preview`.
"""
