"""Functions that apply one event to a digest, by the type of the event. A session treats them alike.

Only `agentwatch.machine.digest.digest` imports from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest

    Applier = Callable[[Digest, Any, int | None], None]
