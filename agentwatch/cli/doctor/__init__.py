"""The command `doctor`: facts about the installation and the machine, for a bug report."""
