"""The row of a session in a list, and the interface of a list: of this machine, of an engine, of a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.session_status import Group, SessionStatus
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:  # commands that print rows do not read sessions
    from agentwatch.catalog.digest.digest import LastTests
    from agentwatch.catalog.evidence import Facts
    from agentwatch.recording.acts import Act
    from agentwatch.session.counts import Use
    from agentwatch.session.events import Tokens
    from agentwatch.session.limits import Reported


class Row(NamedTuple):
    """A session in a list, at one time. Its texts are foreign: they are made safe where they are shown.
    Unknown numbers and times are None, unknown texts are empty."""

    key: Key
    agent: str
    """The agent; in a recording of our own, the one that wrote it, or empty."""
    id: str
    """The session's id, which is an address."""
    path: Path
    """The address that opens it, for a session of this machine."""
    status: SessionStatus
    address: str = ""
    """The address of a session on another machine: `nats://team/ci.0f3a…`."""
    can_open: bool = True
    title: str = ""
    """The user's name of the session, or else the agent's title, or else the last prompt."""
    is_read: bool = True
    """The lines of hidden sessions are not read until they are wanted."""
    prompts: str = ""
    """The first and the last prompt, which a search looks through."""
    last_text: str = ""
    cwd: str = ""
    repo: str = ""
    """The name of the repository, or else of the folder."""
    branch: str = ""
    worktree: str = ""
    """It is empty for the main one."""
    model: str = ""
    calls: int | None = None
    failed: int | None = None
    rejected: int | None = None
    """Calls that a person or a rule refused."""
    cancelled: int | None = None
    turns: int | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    """The cost that the agent reports."""
    uses: tuple[tuple[Use, Tokens], ...] | None = None
    """What the cost is estimated by, if the agent reports none; None without a price list."""
    open_calls: int = 0
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Reported, ...] = ()
    """The limits that its lines report."""
    lines_added: int | None = None
    lines_removed: int | None = None
    todo: tuple[int, int] | None = None
    """Completed, and all."""
    tests: LastTests | None = None
    began_ms: int | None = None
    seen_ms: int | None = None
    """The time of the last line, by its own timestamp if it has one."""
    duration_ms: int | None = None
    """It is None while the session runs, and if it is unknown."""
    exit_code: int | None = None
    """The exit code of its process, if agentwatch started it and it has ended."""
    size: int = 0
    pid: int | None = None
    tmux: str = ""
    host: str = ""
    """It is empty for this machine."""
    publisher: str = ""
    """The name under which a session is published, a claim; empty if it is that of the machine."""
    lost_ms: int | None = None
    """The time since which its machine has not reported it, although it ran; None while it does."""
    parent: Key | None = None
    subagents: int = 0
    """Their rows are folded."""
    working_subagents: int = 0
    is_one_liner: bool = False
    """Whether another program ran it for one prompt: such rows are folded per folder."""
    is_archived: bool = False
    is_own: bool = False
    rings: bool = True
    """Whether the terminal rings when it begins to need the user."""
    is_marked: bool = False
    """Whether it has begun to need the user, and was not viewed since."""
    alarm: str = ""
    """The rule of the settings that was hit last, and was not viewed since."""

    acts: Sequence[Act] = ()
    """What the user did to it through agentwatch on this machine, oldest first."""

    @property
    def place(self) -> str:
        """`ci@build1`: after the name of the publisher; empty for this machine."""
        return f"{self.publisher}@{self.host}" if self.publisher else self.host

    @property
    def last_ms(self) -> int:
        """The time of its last line, of its state, or of its beginning; 0 without any."""
        return self.seen_ms or self.status.since_ms or self.began_ms or 0

    @property
    def group(self) -> Group:
        """One of another machine that is silent may still run."""
        return Group.QUIET if self.lost_ms is not None else self.status.group


def changed_rows(before: Mapping[Key, Row], rows: Mapping[Key, Row]) -> list[Row]:
    """Return the rows that are new or another object: 0.1 ms for 5,000 rows if they were replaced in place
    and appended. Otherwise each row is looked up, which takes four times as long."""
    pairs = [pair for pair in zip(before.values(), rows.values(), strict=False) if pair[0] is not pair[1]]
    if len(rows) >= len(before) and all(old.key == new.key for old, new in pairs):
        return [*(new for _, new in pairs), *islice(rows.values(), len(before), None)]
    return [row for key, row in rows.items() if before.get(key) is not row]


Rows = Mapping[Key, Row]


class Watched(Protocol):
    """A list of sessions that is kept up to date, one step after the other."""

    @property
    def rows(self) -> Rows:
        """Return the rows by key. A changed row replaces the mapping by a new one."""

    @property
    def is_found(self) -> bool:
        """Whether all were listed once, or it is known that nothing answers now."""

    @property
    def problem(self) -> SafeText:
        """Why there are no rows, or why they are old; empty without a fault."""

    @property
    def notes(self) -> Sequence[SafeText]:
        """A line each; the problem comes first."""

    wants_all: bool
    """Whether the lines of hidden sessions are read too."""

    in_view: AbstractSet[Key] | None
    """The sessions that are read more often than the others; None for all that run."""

    @property
    def is_still(self) -> bool:
        """Whether a step a second is enough: no session in view runs, and no question is held back."""

    def step(self, now_ms: int, /) -> bool:
        """Do the work that is due, and return whether more is due at once. It never waits."""

    def facts(self, key: Key, /) -> Facts | None:
        """Return None if another machine knows it. Any thread may ask."""

    def close(self) -> None:
        """Stop to watch. It never raises, and never waits for longer than a few seconds."""


class Elsewhere:
    """What the lists of other machines share, which decide themselves what they read."""

    def __init__(self) -> None:
        self.rows: Rows = {}
        self.is_found = self.wants_all = self.is_still = False
        self.in_view: AbstractSet[Key] | None = None
        self.problem = SafeText("")

    def facts(self, key: Key) -> None:
        """Return nothing: the other machine knows why its sessions have their states."""
