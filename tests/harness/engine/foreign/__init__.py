"""Peers that share nothing with the program: a bare client, an impostor of a server, certificates."""
