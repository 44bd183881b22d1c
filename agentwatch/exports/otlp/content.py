"""The texts of a session as values of attributes, for `--content`. The recording is redacted before."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable

import orjson

from agentwatch.feed import Feed
from agentwatch.outputs.shown.call import call_json
from agentwatch.session import Call
from agentwatch.text.paths import is_windows
from agentwatch.text.safe import safe_text

MOST_BYTES = 8192
"""The longest value. Backends cut or refuse longer ones, and 512 spans must fit into a request."""
_PART_OF_NAME = "._-~"
_TOO_DEEP = "nested too deeply"


def message_list(role: str, texts: Iterable[str]) -> str:
    """Return messages in the JSON of the GenAI conventions, of at most 8 kB together.

    Example:
        >>> message_list("user", ["Fix the tests."])
        '[{"role":"user","parts":[{"type":"text","content":"Fix the tests."}]}]'
    """
    messages: list[str] = []
    room = MOST_BYTES - 2
    for text in texts:
        message = _fitting(role, safe_text(text[:MOST_BYTES]), room)
        if message is None:
            break
        messages.append(message)
        room -= len(message.encode()) + 1
    return f"[{','.join(messages)}]"


def payloads(feed: Feed, call: Call, cwd: str | None) -> tuple[str | None, str | None]:
    """Return the arguments and the result of a call, each as text or JSON of at most 8 kB.

    A longer one is cut, and ends in `…`. A path inside the cwd becomes relative to it.

    Returns:
        None instead of what the recording does not contain.
    """
    try:
        members = orjson.loads(call_json(feed, call))
    except orjson.JSONDecodeError:  # Python's own encoder nests deeper than orjson decodes
        return _TOO_DEEP, _TOO_DEEP
    return _payload(members["arguments"], cwd), _payload(members["result"], cwd)


def shortened(text: str) -> str:
    """Return a text of at most 8 kB in UTF-8; a longer one is cut and ends in `…`."""
    text = safe_text(text[: MOST_BYTES + 1])
    data = text.encode()
    if len(data) <= MOST_BYTES:
        return text
    return data[: MOST_BYTES - 3].decode("utf-8", "ignore") + "…"


def relative(text: str, cwd: str | None, *, is_json: bool = False) -> str:
    """Return a text in which paths inside the cwd are relative to it; the cwd itself is `.`.

    Args:
        text: The text.
        cwd: The cwd; None if unknown.
        is_json: Whether the text is JSON, in which a backslash is written twice.

    Example:
        >>> relative("cat /srv/ada/app/src/a.py in /srv/ada/app, not /srv/ada/application", "/srv/ada/app")
        'cat src/a.py in ., not /srv/ada/application'
    """
    if cwd is None or len(cwd) < 2:
        return text
    folder = json.dumps(cwd, ensure_ascii=False)[1:-1] if is_json else cwd
    separators = ("/", "\\\\" if is_json else "\\") if is_windows(cwd) else ("/",)
    is_short = cwd.count("/") == 1  # `/app` may be the end of another path
    done, *others = text.split(folder)
    parts = [done]
    for other in others:
        separator = next((each for each in separators if other.startswith(each)), None)
        if (is_short and _continues_name(parts[-1][-1:])) or _continues_name(other[:1]):
            parts.append(folder + other)
        else:
            parts.append(f".{other}" if separator is None else other[len(separator) :])
    return "".join(parts)


def _payload(value: object, cwd: str | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return shortened(relative(value, cwd))
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # it nests over 254 levels
        return _TOO_DEEP
    return shortened(relative(text, cwd, is_json=True))


def _continues_name(char: str) -> bool:
    """Return whether a character beside a path makes it a part of a longer name."""
    return bool(char) and (char.isalnum() or char in _PART_OF_NAME)


def _fitting(role: str, text: str, room: int) -> str | None:
    """Return a message of at most this number of bytes, with the text cut; None if the room is too small."""
    message = _message(role, text)
    if len(message.encode()) <= room:
        return message

    def size(kept: int) -> int:
        return len(_message(role, f"{text[:kept]}…").encode())

    kept = bisect_right(range(len(text)), room, key=size) - 1
    return _message(role, f"{text[:kept]}…") if kept > 0 else None


def _message(role: str, text: str) -> str:
    message = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
