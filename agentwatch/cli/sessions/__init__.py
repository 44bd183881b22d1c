"""The command `sessions`, which lists the sessions of this machine, and deletes old recordings of our own."""
