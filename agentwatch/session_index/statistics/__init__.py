"""Statistics over the sessions of the index: what they took, what failed, and what their tests said."""

from agentwatch.session_index.statistics.chosen import Chosen, Names, names
from agentwatch.session_index.statistics.statistics import Statistics, statistics

__all__ = ["Chosen", "Names", "Statistics", "names", "statistics"]
