"""Sessions of the Agent Client Protocol with a known truth, generated from a seed."""

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.builders.formats.acp import (
    called,
    changed,
    chose,
    chunk,
    opening,
    permission,
    prompt,
    refused,
    stopped,
    update,
    words,
)

WORDS = ("Tide ", "gauge\n", "**at** ", "漢字", "🚀 ", "é", "0.4 m", '"x"', "")
KINDS = ("read", "edit", "delete", "move", "search", "execute", "fetch", "think", "other")
STOPS = {
    "end_turn": "succeeded",
    "max_tokens": "failed",
    "max_turn_requests": "failed",
    "refusal": "failed",
    "cancelled": "cancelled",
}


@dataclass
class AcpStory:
    """The lines of a session, and what happened in it."""

    lines: list[bytes] = field(default_factory=list)
    text: str = ""
    thoughts: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    turns: int = 0
    outcome: str = "unfinished"
    permissions: int = 0


class Author:
    """Writes one session."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.story = AcpStory()
        self.has_client = self.chance.random() < 0.8
        """Whether the log has the lines of the client too."""
        self.has_message_ids = self.chance.random() < 0.5
        self.asked = 0
        self.refused: list[dict[str, Any]] = []
        """The calls that a person refused and that have no end. The next response of a prompt ends them."""
        self.open: list[tuple[dict[str, Any], list[bytes]]] = []
        """The calls that are open, each with the lines that are still to be written."""

    def write(self) -> AcpStory:
        """Return a session of up to three turns."""
        lines = opening().splitlines(keepends=True)
        self.story.lines += lines if self.has_client else [lines[1], lines[3]]
        for number in range(2, 2 + self.chance.randrange(4)):
            self.turn(number)
        return self.story

    def turn(self, number: int) -> None:
        story, said = self.story, self.words()
        if self.has_client:
            story.lines.append(prompt(said, number))
            if self.chance.random() < 0.3:
                story.lines += [chunk(piece, "user_message") for piece in self.pieces(said)]
        else:
            story.lines += [chunk(piece, "user_message") for piece in self.pieces(said or "Go.")]
        story.turns += 1
        for _ in range(self.chance.randrange(8)):
            self.step()
        while self.open and self.chance.random() < 0.9:
            self.continue_call()
        story.outcome = "unfinished"
        if self.chance.random() < 0.1:
            story.lines.append(refused(number, "Internal error", data={"details": "no quota"}))
            story.outcome = "failed"
        elif self.chance.random() < 0.9 or not self.has_client:
            reason = self.chance.choice(list(STOPS))
            story.lines.append(stopped(reason, number))
            story.outcome = STOPS[reason]
        for call, later in self.open:
            if call.get("option") == "no" and len(later) == 1:
                self.refused.append(call)
        if story.outcome != "unfinished":
            for call in self.refused:
                call["outcome"] = "rejected"
        self.open.clear()

    def step(self) -> None:
        """Write a message, a thought, a line of a call or another update."""
        match self.chance.randrange(6):
            case 0:
                self.message("agent_message")
            case 1:
                self.message("agent_thought")
            case 2 | 3:
                self.call()
            case 4 if self.open:
                self.continue_call()
            case _:
                self.story.lines.append(update("available_commands_update", availableCommands=[]))

    def message(self, kind: str) -> None:
        """Write a message in pieces."""
        said = self.words()
        more = {"messageId": f"m-{self.chance.randrange(99)}"} if self.has_message_ids else {}
        self.story.lines += [chunk(piece, kind, **more) for piece in self.pieces(said)]
        if kind == "agent_message":
            self.story.text += said
        else:
            self.story.thoughts += said

    def call(self) -> None:
        """Begin a call: announced, announced without its arguments, or first seen in a permission."""
        story, kind = self.story, self.chance.choice(KINDS)
        number = len(story.calls) + 1
        call_id = f"c-{number}"
        call: dict[str, Any] = {
            "call_id": call_id,
            "kind": kind if kind != "switch_mode" else "other",
            "tool": kind,
            "outcome": "unfinished",
            "exit_code": None,
        }
        story.calls.append(call)
        fields = {
            "kind": kind,
            "title": f"call {number}",
            "rawInput": {"path": f"f{number}", "command": "make"},
        }
        later: list[bytes] = []
        how = self.chance.randrange(4)
        if how == 0 and self.has_client:
            later = self.permission(call, fields)
        elif how == 1:
            story.lines.append(called(call_id, kind=kind, title="soon", status="pending"))
            later.append(changed(call_id, status="in_progress", **fields))
        else:
            story.lines.append(called(call_id, status="in_progress", **fields))
        later += self.ending(call)
        self.open.append((call, later))

    def permission(self, call: dict[str, Any], fields: dict[str, Any]) -> list[bytes]:
        """Ask for permission in the line that is the first of a call."""
        number = self.asked
        self.asked += 1
        self.story.permissions += 1
        self.story.lines.append(permission(call["call_id"], number, status="pending", **fields))
        option = self.chance.choice(("yes", "always", "no", None))
        call["option"] = option
        return [chose(option, number)]

    def ending(self, call: dict[str, Any]) -> list[bytes]:
        """Return the lines that end a call."""
        option = call.get("option", "yes")
        call_id, code = call["call_id"], self.chance.choice((None, 0, 3))
        more: dict[str, Any] = {"content": words("output")}
        if code is not None and call["kind"] == "execute":
            more["rawOutput"] = self.chance.choice(
                ({"exitCode": code}, {"exit_code": code}, {"metadata": {"exit": code}})
            )
        else:
            code = None
        if option in ("yes", "always"):
            is_failure = self.chance.random() < 0.3
            status = "failed" if is_failure else "completed"
            outcome = "failed" if is_failure or code else "succeeded"
        else:
            status, outcome = "failed", "rejected" if option == "no" else "cancelled"
        call["ends"] = {"outcome": outcome, "exit_code": code}
        return [changed(call_id, status=status, **more)]

    def continue_call(self) -> None:
        """Write the next line of one of the open calls."""
        at = self.chance.randrange(len(self.open))
        call, later = self.open[at]
        self.story.lines.append(later.pop(0))
        if not later:
            call |= call.pop("ends")
            del self.open[at]

    def words(self) -> str:
        """Return a text of a few words."""
        return "".join(self.chance.choice(WORDS) for _ in range(self.chance.randrange(6)))

    def pieces(self, said: str) -> list[str]:
        """Return a text in pieces, which may be cut inside an emoji."""
        units = said.encode("utf-16-le")
        cuts = sorted(2 * self.chance.randrange(len(units) // 2 + 1) for _ in range(self.chance.randrange(4)))
        ends = [0, *cuts, len(units)]
        return [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(ends)]


def acp_story(seed: int) -> AcpStory:
    return Author(seed).write()
