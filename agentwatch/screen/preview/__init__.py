"""The preview of a large recording: its head and tail are shown until the whole recording has been read.

Within the screen, this folder may import only `workspace`.
"""
