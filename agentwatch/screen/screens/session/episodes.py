"""The sign and the call numbers of an episode of trouble, for the screens that list some."""

from __future__ import annotations

from agentwatch.analysis.episodes import Episode, EpisodeKind
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText
from agentwatch.text.signs import SIGNS

_COUNTED = (EpisodeKind.FAILURE, EpisodeKind.CYCLES)


def episode_sign(episode: Episode) -> tuple[SafeText, str]:
    """Return the sign of an episode and the name of its style: failed or, in the end, succeeded."""
    if episode.kind not in _COUNTED:
        return SafeText("\N{MIDDLE DOT}"), "muted"
    outcome = Outcome.SUCCEEDED if episode.is_fixed else Outcome.FAILED
    return SafeText(SIGNS[outcome]), str(outcome)


def episode_calls(episode: Episode) -> SafeText:
    """Return the numbers of the first and the last call: `#12\N{EN DASH}#19`."""
    first, last = episode.first, episode.last
    return SafeText(f"#{first}" if first == last else f"#{first}\N{EN DASH}#{last}")
