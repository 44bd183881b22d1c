"""opencode's tools: the kind, phrase and target of each, and the facts in the state of an ended call.

The names, arguments and metadata come from captures of 1.18.33, and from the sources of the tools. The tools
of MCP servers are named `server_tool`, but so are the tools of plugins and of the user's own files. Nothing
in a line distinguishes them, so that all of them count as other tools.
"""

from __future__ import annotations

from agentwatch.events import PlanEntry, PlanStatus, ToolKind
from agentwatch.text.amounts import plural
from agentwatch.wire.fields import Fields, items, known_sum, mapping, number, text
from agentwatch.wire.plan import listed_entries
from agentwatch.wire.tool import NO_FACTS, Facts, Phrase, Tool, command_in, named, other_tool, path_in

QUESTION = "question"
"""The tool that asks the user."""
_MOST_FILES = 1000
_PATCH_FILES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_PHRASES = {"add": Phrase.CREATED, "delete": Phrase.DELETED}


def metadata_of(state: Fields) -> Fields:
    """Return the metadata that a tool has added to the state of its call."""
    return mapping(state.get("metadata"))


def plan_entries(state: Fields) -> tuple[PlanEntry, ...]:
    """Return the to-do list that a call of `todowrite` has written."""
    todos = metadata_of(state).get("todos")
    if not isinstance(todos, list):
        todos = items(mapping(state.get("input")).get("todos"))
    return tuple(entry for entry in listed_entries(todos, "content") if entry.text)


def file_changes(state: Fields) -> list[Fields]:
    """Return the description of each file that a call changed, from its metadata.

    Each has `additions` and `deletions`, and a `patch` or `diff`.
    """
    metadata = metadata_of(state)
    if single := mapping(metadata.get("filediff")):
        return [single]
    if files := items(metadata.get("files")):
        return [change for change in map(mapping, files[:_MOST_FILES]) if change]
    steps = (mapping(step) for step in items(metadata.get("results"))[:_MOST_FILES])
    return [change for step in steps if (change := mapping(step.get("filediff")))]


def _patched(arguments: Fields) -> list[str]:
    """Return the paths in the text of a patch, at most 1,000 of them."""
    lines = (text(arguments, "patchText") or "").splitlines()
    paths = (
        line.removeprefix(start).strip() for line in lines for start in _PATCH_FILES if line.startswith(start)
    )
    return list(dict.fromkeys(filter(None, paths)))[:_MOST_FILES]


def _read_facts(state: Fields) -> Facts:
    display = mapping(metadata_of(state).get("display"))
    total, first, last = (number(display, key) for key in ("totalLines", "lineStart", "lineEnd"))
    if total is None:
        return NO_FACTS
    if first is None or last is None or (first <= 1 and last >= total):
        return Facts(note=plural(total, "line"))
    return Facts(note=f"lines {first}-{last} of {total}")


def _counts(state: Fields) -> Facts:
    """Return the numbers of lines that a call added and removed, summed over its files."""
    changes = file_changes(state)
    return Facts(lines_added=_total(changes, "additions"), lines_removed=_total(changes, "deletions"))


def _total(changes: list[Fields], key: str) -> int | None:
    return known_sum(number(change, key) for change in changes)


def _edit_facts(state: Fields) -> Facts:
    """Return the facts of an edit. One that replaces an empty text writes a whole file, mostly a new one."""
    facts = _counts(state)
    is_whole = mapping(state.get("input")).get("oldString") == ""
    return _created(facts) if is_whole and not facts.lines_removed else facts


def _write_facts(state: Fields) -> Facts:
    facts = _counts(state)
    if metadata_of(state).get("exists") is True:
        return facts._replace(phrase=Phrase.EDITED)
    content = mapping(state.get("input")).get("content")
    if facts.lines_added is None and isinstance(content, str):
        facts = facts._replace(lines_added=len(content.splitlines()))
    return _created(facts)


def _created(facts: Facts) -> Facts:
    note = None if facts.lines_added is None else plural(facts.lines_added, "line")
    return facts._replace(note=note, phrase=Phrase.CREATED, is_new_file=True)


def _patch_facts(state: Fields) -> Facts:
    facts, kinds = _counts(state), {text(change, "type") for change in file_changes(state)}
    phrase = _PHRASES.get(kinds.pop() or "") if len(kinds) == 1 else None
    return _created(facts) if phrase == Phrase.CREATED else facts._replace(phrase=phrase)


def _counted(key: str, noun: str, state: Fields) -> Facts:
    found = number(metadata_of(state), key)
    return NO_FACTS if found is None else Facts(note=plural(found, noun))


def _todo_facts(state: Fields) -> Facts:
    entries = plan_entries(state)
    done = sum(entry.status is PlanStatus.COMPLETED for entry in entries)
    return Facts(note=f"{done} of {len(entries)} done") if entries else NO_FACTS


def _other(name: str, *keys: str) -> Tool:
    first = named(*keys)

    def target(arguments: Fields) -> str:
        return " ".join(filter(None, (name, first(arguments))))

    return Tool(ToolKind.OTHER, Phrase.USED, target)


def first_question(arguments: Fields) -> str | None:
    """Return the first question that a call asks the user."""
    return text(mapping(next(iter(items(arguments.get("questions"))), None)), "question")


def _question(arguments: Fields) -> str:
    return " ".join(filter(None, (QUESTION, first_question(arguments))))


_FILE = path_in("filePath", "path")
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_FILE, facts=_edit_facts)
_PATCH = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_patched, facts=_patch_facts)
_LIST = Tool(
    ToolKind.SEARCH,
    Phrase.LISTED,
    paths=path_in("path"),
    facts=lambda state: _counted("count", "file", state),
)
_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))

TOOLS = {
    "read": Tool(ToolKind.READ, Phrase.READ, paths=_FILE, facts=_read_facts),
    "write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_FILE, facts=_write_facts),
    "edit": _EDIT,
    "multiedit": _EDIT._replace(facts=_counts),
    "apply_patch": _PATCH,
    "patch": _PATCH,
    "bash": _SHELL,
    "shell": _SHELL,
    "grep": Tool(
        ToolKind.SEARCH,
        Phrase.SEARCHED,
        named("pattern"),
        facts=lambda state: _counted("matches", "match", state),
    ),
    "glob": Tool(
        ToolKind.SEARCH, Phrase.FOUND, named("pattern"), facts=lambda state: _counted("count", "file", state)
    ),
    "list": _LIST,
    "ls": _LIST,
    "codesearch": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "websearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "webfetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "todowrite": Tool(ToolKind.PLAN, Phrase.TODOS, facts=_todo_facts),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    QUESTION: Tool(ToolKind.OTHER, Phrase.USED, _question),
    "skill": _other("skill", "name"),
    "lsp": _other("lsp", "operation", "filePath"),
    "invalid": _other("invalid", "tool"),
}
"""The tools by their name."""


def tool_named(name: str) -> Tool:
    """Return the tool with a name."""
    return TOOLS.get(name) or other_tool(name)
