"""A story of a session of Codex, made up or generated."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
CWD = "/home/ada/app"


@dataclass(frozen=True)
class Say:
    """The model writes a message."""

    text: str


@dataclass(frozen=True)
class Think:
    """The model writes the summary of its reasoning."""

    text: str


@dataclass(frozen=True)
class Cut:
    """The connection is lost: the stream reports a retry, and repeats the texts of the present answer."""


@dataclass(frozen=True)
class Command:
    """The model runs a command."""

    script: str
    shown: str
    """The script in one line."""
    output: str
    exit_code: int | None
    """None for one that was declined."""


@dataclass(frozen=True)
class Patch:
    """The model changes files."""

    files: tuple[tuple[str, str], ...]
    """The path of each file below the cwd, and the kind of its change."""
    succeeds: bool


@dataclass(frozen=True)
class Mcp:
    """The model calls a tool of an MCP server."""

    server: str
    tool: str
    error: str | None
    """None for a call that succeeds."""


@dataclass(frozen=True)
class Search:
    """The model searches the web."""

    query: str


@dataclass(frozen=True)
class Plan:
    """The model updates its to-do list."""

    entries: tuple[tuple[str, bool], ...]
    """The text of each entry, and whether it is done."""


Step = Say | Think | Cut | Command | Patch | Mcp | Search | Plan


@dataclass(frozen=True)
class Turn:
    """A turn: the prompt, what the model does, and the end."""

    prompt: str
    steps: tuple[Step, ...]
    end: str
    """`completed`, `failed`, or `cut` for a stream that ends inside the turn."""


@dataclass(frozen=True)
class Story:
    """A session."""

    turns: tuple[Turn, ...]

    @property
    def steps(self) -> Iterator[Step]:
        return (step for turn in self.turns for step in turn.steps)


def outcome_of(story: Story) -> str:
    """Return the outcome of the last turn."""
    return {"completed": "succeeded", "failed": "failed", "cut": "unfinished"}[story.turns[-1].end]


def text_of(story: Story) -> str:
    return "".join(step.text for step in story.steps if isinstance(step, Say))


def thoughts_of(story: Story) -> str:
    return "".join(step.text for step in story.steps if isinstance(step, Think))


def calls_of(story: Story, *, with_plans: bool, folder: str) -> list[tuple[Any, ...]]:
    """Return the kind, target, outcome, exit code and error of each call; a rollout has plans as calls."""
    found: list[tuple[Any, ...]] = []
    for step in story.steps:
        match step:
            case Command(exit_code=None):
                found.append(("execute", step.shown, "rejected", None))
            case Command():
                outcome = "failed" if step.exit_code else "succeeded"
                found.append(("execute", step.shown, outcome, step.exit_code))
            case Patch():
                kind = "delete" if {each for _, each in step.files} == {"delete"} else "edit"
                target = ", ".join(folder + path for path, _ in step.files)
                found.append((kind, target, "succeeded" if step.succeeds else "failed", None))
            case Mcp():
                outcome = "succeeded" if step.error is None else "failed"
                found.append(("mcp", f"{step.server} {step.tool}", outcome, None))
            case Search():
                found.append(("search", step.query, "succeeded", None))
            case Plan() if with_plans:
                found.append(("plan", None, "succeeded", None))
    return found


STORY = Story(
    (
        Turn(
            "Do it.",
            (
                *(Think("Hm."), Say("I do it."), Cut(), Command("ls", "ls", "a\n", 0)),
                *(Patch((("a.py", "add"), ("b.py", "update"), ("c.py", "delete")), succeeds=True),),
                *(Mcp("weather", "get", None), Mcp("weather", "get", "no"), Search("tides")),
                *(Plan((("one", True),)), Command("false", "false", "", 1), Command("rm", "rm", "", None)),
                Say("Done."),
            ),
            "completed",
        ),
        Turn("Again.", (Say("No."),), "failed"),
    )
)
"""A story with each kind of step."""


_TOKENS = ["a", " the", "**", "\n", "🌊", '"', "'", "\\", "{", "\u2028", "é", "$x", "`", "</x>"]
TEXTS = st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=6).map("".join)
_SCRIPTS = [
    ("ls -la", "ls -la"),
    ("echo 'it''s' \"$HOME\"", "echo 'it''s' \"$HOME\""),
    ("cat <<E\nx\nE", "cat <<E ⏎ +2 lines"),
    ("printf '%s\\n' \"a\\\\b\"", "printf '%s\\n' \"a\\\\b\""),
    ("x", "x"),
]
_COMMANDS = st.builds(
    lambda script, output, code: Command(script[0], script[1], output, code),
    st.sampled_from(_SCRIPTS),
    TEXTS,
    st.sampled_from([0, 0, 0, 1, 42, 127, None]),
)
_FILES = st.lists(
    st.tuples(
        st.sampled_from(["a.py", "src/b.py", "ebb 🌊.md"]), st.sampled_from(["add", "update", "delete"])
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda file: file[0],
).map(tuple)
_STEPS = st.one_of(
    st.builds(Say, TEXTS),
    st.builds(Think, TEXTS),
    st.just(Cut()),
    _COMMANDS,
    st.builds(Patch, _FILES, st.booleans()),
    st.builds(
        Mcp,
        st.sampled_from(["weather", "git hub"]),
        st.sampled_from(["forecast", "get_it"]),
        st.none() | TEXTS,
    ),
    st.builds(Search, st.sampled_from(["tides", "a b c"])),
    st.builds(Plan, st.lists(st.tuples(TEXTS, st.booleans()), max_size=3).map(tuple)),
)


def _turns(ends: list[str]) -> st.SearchStrategy[Turn]:
    steps = st.lists(_STEPS, max_size=7).map(tuple)
    return st.builds(Turn, TEXTS, steps, st.sampled_from(ends))


STORIES = st.builds(
    lambda first, last: Story((*first, last)),
    st.lists(_turns(["completed", "failed"]), max_size=2),
    _turns(["completed", "completed", "failed", "cut"]),
)
