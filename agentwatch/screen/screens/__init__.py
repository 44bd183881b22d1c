"""The screens: of one session, and of the list of sessions."""
