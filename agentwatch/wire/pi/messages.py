"""Reads the messages of Pi, which are the same in the stream and in session files."""

from __future__ import annotations

from agentwatch.events import Channel, Event, Notice, Outcome, Tokens, TurnEnded, Usage, UsageScope
from agentwatch.text.amounts import plural
from agentwatch.wire.fields import Fields, cost, in_words, items, mapping, number, text

_TEXT_KEYS = {"text": ("text", Channel.ANSWER), "thinking": ("thinking", Channel.REASONING)}
_TOO_LONG = "the model's answer was cut at its length limit"


def content_text(content: object) -> str:
    """Return the text of a content: a string, or the texts of a list of parts joined."""
    if isinstance(content, str):
        return content
    found = (mapping(part) for part in items(content))
    return "".join(text(part, "text") or "" for part in found if part.get("type") == "text")


def prompt_text(message: Fields) -> str:
    """Return the text of the user's message. For one without a text, its images are counted."""
    content = message.get("content")
    images = sum(mapping(part).get("type") == "image" for part in items(content))
    return content_text(content) or (f"[{plural(images, 'image')}]" if images else "")


def texts(message: Fields) -> list[tuple[int, Channel, str]]:
    """Return the texts and thoughts of an assistant's message, each with its index in the content."""
    found = []
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    for index, part in enumerate(map(mapping, parts)):
        kind = part.get("type")
        key, channel = _TEXT_KEYS.get(kind if isinstance(kind, str) else "", ("", Channel.ANSWER))
        if words := text(part, key):
            found.append((index, channel, words))
    return found


def tool_calls(message: Fields) -> list[Fields]:
    """Return the tool calls of an assistant's message.

    Pi does not run the calls of a message that failed or was interrupted.
    """
    if message.get("stopReason") in ("error", "aborted"):
        return []
    parts = map(mapping, items(message.get("content")))
    return [part for part in parts if part.get("type") == "toolCall"]


def model_of(message: Fields, key: str = "model") -> str | None:
    """Return the model as Pi's command line names it: `anthropic/claude-opus-4-5`."""
    model, provider = text(message, key), text(message, "provider")
    return f"{provider}/{model}" if model and provider else model


def usage(counts: Fields, *, has_context: bool = True) -> list[Event]:
    """Read the token counts of one request. `input` excludes what the cache was read and written.

    Args:
        counts: The field `usage` of a message.
        has_context: Whether the request shows how much of the model's context is in use. One that failed
            does not.
    """
    sent = [number(counts, key) for key in ("input", "cacheRead", "cacheWrite")]
    output = number(counts, "output")
    if not any((*sent, output)):
        return []
    tokens = Tokens(
        input=None if sent[0] is None else sum(count or 0 for count in sent),
        cached=sent[1],
        output=output,
        cost_usd=cost(mapping(counts.get("cost")).get("total")),
        context_used=(number(counts, "totalTokens") or None) if has_context else None,
    )
    return [Usage(tokens, UsageScope.REQUEST)]


def turn_ended(message: Fields) -> TurnEnded | None:
    """Return the end of the turn whose last message this is; None if calls of the message follow."""
    match message.get("stopReason"):
        case "error":
            return TurnEnded(Outcome.FAILED, text(message, "errorMessage") or "the model's request failed")
        case "aborted":
            return TurnEnded(Outcome.CANCELLED, text(message, "errorMessage"))
        case "length":
            return TurnEnded(Outcome.FAILED, text(message, "errorMessage") or _TOO_LONG)
        case "toolUse":
            return None
    return TurnEnded(Outcome.SUCCEEDED)


def own_command(message: Fields) -> Notice:
    """Read a command that the user ran with `!`. It is no call of the agent."""
    command = in_words(text(message, "command") or "").partition("\n")[0]
    code = number(message, "exitCode")
    state = "cancelled" if message.get("cancelled") is True else None if code is None else f"exit {code}"
    return Notice(f"! {command}" if state is None else f"! {command} ({state})")
