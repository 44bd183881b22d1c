"""The screen of a session, and the boxes and dialogs that open over it."""
