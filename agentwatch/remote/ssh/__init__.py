"""Sessions of a host that ssh reaches: their list, and the bytes of one, over one shared connection.

The program `ssh` handles logins, keys and encryption. Data from the host is foreign.
"""
