"""Remote sessions: their rows, a local copy of each that is opened, and the publishing of our own.

A copy is an ordinary recording, read by the code that reads recordings. Nothing here is imported unless an
address of another machine is given or set.
"""
