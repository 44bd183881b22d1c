"""Clips: a part of a recording that is a recording itself.

A clip has the start lines of its run, its last prompt, and every line of the part. The end of a call that
began before the part is left out, so that no end is without its start.
"""

from agentwatch.exports.clipping.making import Clip, Range, clip, range_of

__all__ = ["Clip", "Range", "clip", "range_of"]
