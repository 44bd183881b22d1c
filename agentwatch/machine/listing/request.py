"""What the user wants to see of the list: a filter, a search, an order."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from agentwatch.machine.row import Row
from agentwatch.machine.standing import State

Matches = Callable[[Row], bool]
_LEAST_OF_A_STATE = 3
"""The number of letters from which a word can be the beginning of a state, while it is being typed."""
_FAILED = "failed"
_STATES = frozenset({*State, _FAILED})


class Sort(StrEnum):
    """The order of the list."""

    STATE = "state"
    """In groups: what needs the user first."""
    AGE = "age"
    """By the time at which a session began, the newest first."""
    REPOSITORY = "repository"


class Request(NamedTuple):
    """What is to be shown."""

    filter: str = ""
    """Words that all must match."""
    sort: Sort = Sort.STATE
    shows_hidden: bool = False
    search: str = ""
    """Words that all must occur in the title or in a prompt; hidden sessions are searched too."""


def row_filter(text: str) -> Matches | None:
    """Return a predicate for the words of a filter; None if there are no words.

    Each word must occur in the session's title, in what it does now, or in the name of its agent, machine,
    repository, branch or worktree; or be the beginning of its state (at least three letters, so that it
    matches while it is being typed). Full names of states select the sessions in any of these states;
    `failed` also selects those whose last turn failed. `agent:`, `repo:`, `branch:`, `host:` and `state:`
    restrict a word to one field; `state:ended` and `state:needs` name groups.

    Args:
        text: The words.
    """
    words = text.lower().split()
    states = frozenset(word for word in words if word in _STATES)
    fields = [field for word in words if (field := _field(word)) is not None]
    texts = [word for word in words if word not in states and _field(word) is None]

    def matches(row: Row) -> bool:
        if states and row.standing.state not in states and not (_FAILED in states and _has_failed(row)):
            return False
        if not all(value(row, wanted) for value, wanted in fields):
            return False
        if not texts:
            return True
        searched = _searched(row)
        return all(word in searched or _begins_state(row, word) for word in texts)

    return matches if words else None


def row_search(text: str) -> Matches | None:
    """Return a predicate for the words of a search in titles and prompts; None if there are no words.

    Args:
        text: The words; all must occur.
    """
    words = text.lower().split()

    def matches(row: Row) -> bool:
        searched = f"{row.title}\n{row.prompts}".lower()
        return all(word in searched for word in words)

    return matches if words else None


def _is_agent(row: Row, wanted: str) -> bool:
    return row.agent.lower().startswith(wanted)


def _is_in_repo(row: Row, wanted: str) -> bool:
    return wanted in row.repo.lower()


def _is_on_branch(row: Row, wanted: str) -> bool:
    return wanted in row.branch.lower()


def _is_on_host(row: Row, wanted: str) -> bool:
    return wanted in row.host.lower()


def _is_in_state(row: Row, wanted: str) -> bool:
    return wanted in f"{row.standing.state}\n{row.group}"


_FIELDS: dict[str, Callable[[Row, str], bool]] = {
    "agent": _is_agent,
    "repo": _is_in_repo,
    "branch": _is_on_branch,
    "host": _is_on_host,
    "state": _is_in_state,
}


def _field(word: str) -> tuple[Callable[[Row, str], bool], str] | None:
    name, colon, wanted = word.partition(":")
    test = _FIELDS.get(name) if colon else None
    return None if test is None else (test, wanted)


def _has_failed(row: Row) -> bool:
    return row.standing.state is State.TURN_FAILED


def _begins_state(row: Row, word: str) -> bool:
    return len(word) >= _LEAST_OF_A_STATE and row.standing.state.startswith(word)


def _searched(row: Row) -> str:
    texts = (row.title, row.standing.now, row.agent, row.host, row.repo, row.branch, row.worktree)
    return "\n".join(texts).lower()
