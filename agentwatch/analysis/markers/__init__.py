"""Markers: the moments of a session that mark themselves, beside the bookmarks that the user sets."""

from agentwatch.analysis.markers.markers import Marker, MarkerKind, Markers, VerdictMark

__all__ = ["Marker", "MarkerKind", "Markers", "VerdictMark"]
