"""The texts of a run and of a step of the model, for `--content`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentwatch.exports.otlp.content import MOST_BYTES, message_list, relative
from agentwatch.exports.otlp.span import Value
from agentwatch.session import Entry, Kind


class RunTexts:
    """The prompts of a run and its last answer."""

    def __init__(self, cwd: str | None) -> None:
        """Begin without texts; paths inside the cwd become relative to it."""
        self._cwd = cwd
        self._prompts: list[str] = []
        self._room = MOST_BYTES
        self._answer: Entry | None = None

    def add(self, entry: Entry) -> None:
        """Add an entry of the main agent. Those that are neither a prompt nor an answer are ignored."""
        if entry.kind is Kind.ANSWER:
            self._answer = entry
        elif entry.kind is Kind.PROMPT and self._room > 0:
            text = relative(entry.content.part(0, MOST_BYTES), self._cwd)
            self._prompts.append(text)
            self._room -= len(text) + 1

    def attributes(self) -> dict[str, Value | None]:
        """Return the attributes with the texts."""
        answers = [] if self._answer is None else [self._answer]
        return {
            "gen_ai.input.messages": message_list("user", self._prompts) if self._prompts else None,
            "gen_ai.output.messages": output(answers, self._cwd),
        }


def output(entries: Sequence[Entry], cwd: str | None) -> str | None:
    """Return the answers among some entries as messages of the assistant; None without any."""
    texts = [*_answers(entries, cwd)]
    return message_list("assistant", texts) if texts else None


def _answers(entries: Sequence[Entry], cwd: str | None) -> Iterator[str]:
    for entry in entries:
        if entry.kind is Kind.ANSWER:
            yield relative(entry.content.part(0, MOST_BYTES), cwd)
