"""The transcript pane: the session's entries, cut into blocks that are rendered one by one."""
