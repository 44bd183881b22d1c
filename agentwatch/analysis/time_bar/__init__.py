"""The time bar as data: which sign stands in which column, and which moment a column is.

A moment is a number of bytes of the recording; it lies just after a line end. The bar is laid out as one
moment per column, the last one of its span. Every mark is then placed by bisection among these moments: a
call, a bookmark, a verdict and the present moment need no position of their own, and their order in the bar
is their order in the recording.
"""

from agentwatch.analysis.time_bar.axis import Axis
from agentwatch.analysis.time_bar.bar import Bar, Cell, Kind

__all__ = ["Axis", "Bar", "Cell", "Kind"]
