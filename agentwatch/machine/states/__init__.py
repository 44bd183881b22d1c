"""How states of sessions are decided."""
