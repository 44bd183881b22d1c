"""Statistics over the sessions of the index: sums, failures, durations, edited files and verdicts."""

from agentwatch.session_index.statistics.chosen import Chosen, Names, names
from agentwatch.session_index.statistics.statistics import Statistics, statistics

__all__ = ["Chosen", "Names", "Statistics", "names", "statistics"]
