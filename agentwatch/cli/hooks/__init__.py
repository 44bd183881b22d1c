"""The command `hooks`, which installs, removes and reports the hooks of agents."""
