"""The estimated costs of sessions by prices that are kept: importing the price list takes 0.26 s.

`prices.json` in the state folder has the prices that were found in one version of the price list. What is
damaged, or was found in another version, is looked up again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import orjson

from agentwatch.analysis import prices
from agentwatch.base.clock import now_ms
from agentwatch.base.files import state_folder
from agentwatch.recording.store import open_own, private_folder, replace_file
from agentwatch.session.counts import Use
from agentwatch.text.times import utc

if TYPE_CHECKING:
    from agentwatch.catalog.row import Row
    from agentwatch.session.session import Session

_FILE = "prices.json"
_MOST = 4096
"""The newest prices that are kept: a model has one for each day and size of request. They are 400 KB."""
_MOST_BYTES = 1 << 20


def cost_of(row: Row) -> float | None:
    """Return None if the agent reports a cost, or nothing was counted."""
    if not row.uses or row.cost_usd is not None:
        return None
    load_kept()
    return prices.estimate(row.uses).cost_usd


def cost_of_session(session: Session) -> float | None:
    """None as for a row. Tokens without a time are priced as of today, so that their prices can be kept."""
    if session.uses is not None:
        load_kept()
    return prices.cost_of(session, now_ms())


def keep() -> None:
    found = {use: price for use, price in prices.looked_up.items() if utc(use.at_ms) is not None}
    if not found.keys() - load_kept():
        return
    newest = sorted(found.items(), key=lambda each: (each[0].at_ms or 0, each[0]))[-_MOST:]
    path = state_folder() / _FILE
    with suppress(OSError):  # it only costs time
        private_folder(path.parent)
        entries = [[list(use), price and list(price)] for use, price in newest]
        content = orjson.dumps({"made_by": _made_by(), "prices": entries})
        replace_file(path, lambda: content, is_lasting=False)
    load_kept().update(found)


@cache
def load_kept() -> set[Use]:
    """Add the prices that were kept to those that were found, and return what they are for."""
    known = dict(_read())
    prices.looked_up.update(known)
    return {*known}


def _read() -> Iterator[tuple[Use, prices.Prices | None]]:
    try:
        with open(open_own(state_folder() / _FILE), "rb", buffering=0) as file:
            read = orjson.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError):
        return
    if type(read) is not dict or read.get("made_by") != _made_by():
        return
    entries: Any = read.get("prices")
    for entry in entries if type(entries) is list else ():
        match entry:
            case [[str() as model, int() as at_ms, int() as size], None]:
                yield Use(model, at_ms, size), None
            case [[str() as model, int() as at_ms, int() as size], [*each]] if _are_prices(each):
                yield Use(model, at_ms, size), prices.Prices(*each)


def _are_prices(values: list[Any]) -> bool:
    return len(values) == len(prices.Prices._fields) and all(type(each) is float for each in values)


def _made_by() -> list[Any]:
    found = find_spec("genai_prices")
    path = None if found is None else found.origin
    try:
        return [path, path and os.stat(path).st_mtime_ns]
    except OSError:
        return [path, None]
