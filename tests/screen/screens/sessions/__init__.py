"""The app that lists all sessions of the machine, opens them and rings."""
