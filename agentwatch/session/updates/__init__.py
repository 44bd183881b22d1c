"""Functions that apply one event to a session, by the type of the event.

Only `agentwatch.session.applying` imports from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentwatch.session.call import Place
    from agentwatch.session.session import Session

    Applier = Callable[[Session, Any, Place], None]
