"""The moment of the session that the screen shows: the live one, or an earlier one that stands or plays."""
