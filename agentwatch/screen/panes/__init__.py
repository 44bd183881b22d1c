"""The panes of a session, and what surrounds them."""
