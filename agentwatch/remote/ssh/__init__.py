"""Sessions of a host that ssh reaches: their list, and the bytes of one, over one shared connection.

The program `ssh` does all that is about logins, keys and encryption. What the host sends is foreign.
"""
