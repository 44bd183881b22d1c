"""The index of a large recording: what was learnt of it, kept in a file, so that opening it again is at once.

`STEM.index` holds the state of the feed at the end of the recording, its checkpoints and times, the bytes of
its spills, and the laid-out transcript. It is a cache: an index that does not fit is ignored, and replaced.
"""
