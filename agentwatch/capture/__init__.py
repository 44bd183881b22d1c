"""Appends the bytes of an agent to files, as they arrive and whatever happens to the disk.

The relay of `run` is a Python process that imports only this folder: it starts in 6 ms and has 9 MB. So this
folder imports nothing else of the package, and of the standard library only `os`, `time`, `errno`, `select`
and `fcntl`. `typing` alone would double the duration of the start.
"""
