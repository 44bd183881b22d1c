"""The command `engine`: for the administrator of an engine, through which machines show their sessions."""
