"""How a value is written, once: safe text, durations, times, counts, sizes, costs, signs and paths. Every
room may import this one.
"""

UNKNOWN = "–"
"""A value that is not known, in the tables of the screen."""
