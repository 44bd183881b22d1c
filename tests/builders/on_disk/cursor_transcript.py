"""Lines of a transcript of Cursor, as it writes them to disk."""

from typing import Any

from agentwatch.agents.cursor.agent import TRANSCRIPT as AGENT
from agentwatch.session.call import Place
from agentwatch.session.events import Event
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.agents.decoded import events_of

Line = dict[str, Any]


def line(role: object, *parts: object) -> Line:
    return {"role": role, "message": {"content": list(parts)}}


def text(words: object) -> Line:
    return {"type": "text", "text": words}


def call(name: object = "Shell", **given: Any) -> Line:
    return {"type": "tool_use", "name": name, "input": given or {"command": "ls"}}


def user(words: str) -> Line:
    """Return a prompt, as newer versions write it."""
    time = "<timestamp>Tuesday, Jul 28, 2026, 12:06 PM (UTC+2)</timestamp>"
    return line("user", text(f"{time}\n<user_query>\n{words}\n</user_query>"))


def said(*words: str) -> Line:
    return line("assistant", *map(text, words))


def called(*parts: Line) -> Line:
    return line("assistant", *(parts or (call(),)))


def returned(content: object = "ok", **more: Any) -> Line:
    """Return the result of a call, which most transcripts do not have."""
    return line("user", {"type": "tool_result", "content": content, **more})


def ended(status: object = "success", **more: Any) -> Line:
    return {"type": "turn_ended", "status": status, **more}


def decoded(*lines: Line) -> list[Event]:
    """Return the events of lines, without the start of the run."""
    return events_of(AGENT, *lines)[1:]


def session_of(*lines: Line) -> Session:
    """Return the session after lines, before it is closed."""
    decoder, session = AGENT.decoder(), Session()
    for number, each in enumerate(lines):
        apply_line(session, decoder.decode(each), Place(number, 1, None))
    apply_line(session, decoder.end(), Place(len(lines), 0, None), 0)
    return session
