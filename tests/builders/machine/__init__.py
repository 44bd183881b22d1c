"""Builds a machine in a folder: the files of all agents, as a list of sessions finds them."""
