"""The sessions of all agents on this machine: where they lie, what state each is in, and how that is known.

A session in a list is a digest of about 2 KB until it is opened. Of the package, this folder may import
everything but the command line, the printed outputs and the screen. Nothing here writes to a file of another
program.
"""
