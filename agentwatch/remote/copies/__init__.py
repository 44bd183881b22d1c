"""Local copies of sessions of other machines: their folder, where each is from, and how pieces get into one.

A copy is a recording with its arrival times. Its size is the cursor: nothing else says how far it was read.
"""
