"""Reads the texts of a message: what the user asked, what the model answered, and what neither wrote."""

from __future__ import annotations

from enum import Enum

from agentwatch.wire.fields import Fields, items, mapping, text

_CONTEXT = "<session_context>"
_CONTEXT_END = "</session_context>"
_SETUP = ("Reminder:", "My setup is complete")
"""The beginnings of what the agent itself writes after the context."""
_SUMMARY = "<state_snapshot>"
_SHELL = "I ran the following shell command:"
_CONTINUE = "System: Please continue."
_OF_THE_AGENT = (
    _CONTEXT,
    _SUMMARY,
    "<hook_context>",
    _CONTINUE,
    "This is the Gemini CLI. We are setting up the context",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
)
"""The beginnings of messages that the agent itself writes in the name of the user."""
_REFERENCED = "--- Content from referenced files ---"
"""The beginning of the files that a prompt names with `@`; they follow the prompt in the same message."""
_FOLDERS = "Workspace Directories:"
_MOST_CONTEXT = 4096
"""The characters of the context that are searched for the working directory."""


class Author(Enum):
    """Who wrote a message of the type `user`."""

    USER = "user"
    SHELL = "shell"
    """The user ran a command, whose output the model is shown."""
    CONTEXT = "context"
    SUMMARY = "summary"
    """The agent, which replaced the conversation by a summary."""
    RESULTS = "results"
    """The results of calls, which are also in the message that made the calls."""
    AGENT = "agent"


def content_text(content: object) -> str:
    """Return the text of a content: a string, a part, or a list of both. Thoughts are no part of it."""
    parts = content if isinstance(content, list) else [content]
    return "".join(_part_text(part) for part in parts)


def message_text(fields: Fields) -> str:
    """Return the text of a message."""
    return content_text(fields["content"] if "content" in fields else fields.get("parts"))


def prompt_text(fields: Fields) -> str:
    """Return what the user typed: without the context before it, and the files that the prompt names."""
    typed = content_text(fields.get("displayContent"))
    return typed or _after_context(message_text(fields)).partition(_REFERENCED)[0].rstrip()


def _after_context(message: str) -> str:
    """Return a message without the context that the agent puts before it in some versions."""
    if not message.lstrip().startswith(_CONTEXT):
        return message
    words = message.partition(_CONTEXT_END)[2].lstrip()
    return "" if words.startswith(_SETUP) else words


def author_of(fields: Fields, message: str) -> Author:
    """Return who wrote a message of the type `user`.

    Args:
        fields: The message.
        message: Its text.
    """
    parts = items(fields.get("content"))
    if any("functionResponse" in mapping(part) for part in parts):
        return Author.RESULTS
    message = message.lstrip()
    if message.startswith(_CONTEXT):
        return Author.USER if _after_context(message) else Author.CONTEXT
    if message.startswith(_SUMMARY):
        return Author.SUMMARY
    if message.startswith(_SHELL):
        return Author.SHELL
    return Author.AGENT if message.startswith(_OF_THE_AGENT) else Author.USER


def shell_command(message: str) -> str:
    """Return the command that the user ran, from the message that shows it to the model."""
    lines = (line.strip() for line in message[:_MOST_CONTEXT].split("\n")[1:])
    return next((line for line in lines if line and not line.startswith("```")), "")


def folder_in(message: str) -> str | None:
    """Return the first of the workspace directories in the context, which is the working directory."""
    if not message.lstrip().startswith(_CONTEXT):
        return None
    _, found, rest = message[:_MOST_CONTEXT].partition(_FOLDERS)
    for line in rest.split("\n")[1:] if found else ():
        entry = line.strip()
        if entry:
            return entry.removeprefix("- ") if entry.startswith("- ") else None
    return None


def thoughts_in(fields: Fields) -> list[str]:
    """Return the thoughts of a message: a subject and a description, or one of them."""
    found = []
    for thought in items(fields.get("thoughts")):
        words = [text(mapping(thought), key) for key in ("subject", "description")]
        found.append("\n\n".join(word for word in words if word))
    return found


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = mapping(part) if isinstance(part, dict) else {}
    return "" if fields.get("thought") is True else text(fields, "text") or ""
