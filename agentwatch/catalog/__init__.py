"""The sessions of all agents on this machine: where they are, the state of each, and how that is known.

A session in a list is a digest of about 2 KB until it is opened. Only `hooks` writes to the files of other
programs, when the user asks for it.
"""
