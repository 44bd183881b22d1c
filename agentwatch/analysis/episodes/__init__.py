"""Trouble in episodes: failures with their retries, edit-test-fail cycles, files read again and again.

No agent reports these. They are read from the calls as they end, and count per call how often it was tried.
"""

from agentwatch.analysis.episodes.episode import Episode, EpisodeKind, for_reading
from agentwatch.analysis.episodes.episodes import Episodes, whole_episodes

__all__ = ["Episode", "EpisodeKind", "Episodes", "for_reading", "whole_episodes"]
