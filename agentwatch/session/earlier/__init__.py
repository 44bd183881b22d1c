"""The session at an earlier line of its recording.

An earlier session is a view: it shares the calls and the entries of the newest session, which only grow. What
it has of its own is small: the facts that later lines changed, and what the lines after its checkpoint added.
"""

from agentwatch.session.earlier.state import SessionState, earlier_session, empty_session, session_state

__all__ = ["SessionState", "earlier_session", "empty_session", "session_state"]
