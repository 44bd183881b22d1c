"""The command `stats`: statistics over all sessions of this machine."""
