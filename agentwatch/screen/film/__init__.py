"""A film of the screen: the app without a terminal, drawn at the times of a recording."""
