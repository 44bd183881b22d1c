"""Trouble in episodes: failures with their retries, edit-test-fail cycles, files read again and again.

No agent reports trouble. It is found in the calls as they end. Each call also gets its number of tries.
"""

from agentwatch.analysis.episodes.episode import Episode, EpisodeKind, for_reading
from agentwatch.analysis.episodes.episodes import Episodes, whole_episodes

__all__ = ["Episode", "EpisodeKind", "Episodes", "for_reading", "whole_episodes"]
