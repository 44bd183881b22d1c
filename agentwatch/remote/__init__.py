"""Sessions of other machines as they are watched here: their rows, and a local copy of an opened one.

A copy is a recording like any other; everything behind it is the code that reads recordings. Nothing here is
imported unless an address of another machine is given or set.
"""
