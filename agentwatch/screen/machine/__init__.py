"""The app of all sessions of this machine: it shows the list, opens sessions, and rings."""
