"""The command `find`: prints calls and texts that are found in the sessions of all agents on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agentwatch.cli.default_command import HelpfulCommand, show_help
from agentwatch.cli.messages import say
from agentwatch.cli.parameters import printed_colour
from agentwatch.cli.stdout import print_json, print_lines, terminal_width
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, fitted, marked, safe_line, styled
from agentwatch.text.times import date_and_minute

if TYPE_CHECKING:
    from agentwatch.catalog.hits import Found, Hit

MOST = 100
_WIDTH = 100
"""The width of a terminal that does not say it."""
_UNKNOWN = SafeText("-")
_TITLE, _LEAST_TEXT = 60, 24
_WIDTHS = (16, 8, 14, 24, 60)
"""The greatest widths on a terminal of the columns when, agent, project, title and address."""


def _completed(_ctx: click.Context, _argument: click.Parameter, incomplete: str) -> list[str]:
    """Complete the last word with a field, or with a value that is known without reading a session."""
    from agentwatch.catalog.find_query import FINDS
    from agentwatch.rules.language.completion import offers

    return [offer.text for offer in offers(incomplete, FINDS)]


@click.command(
    cls=HelpfulCommand,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[WORDS]...", shell_complete=_completed)
@click.option("--path", "file", metavar="FILE", help="Print only calls that touched FILE.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    default=MOST,
    help=f"Print at most this number of hits, the newest (default: {MOST}).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@printed_colour
def find(words: tuple[str, ...], file: str | None, limit: int, *, as_json: bool) -> int:
    """Find calls and texts in the sessions of all agents.

    The newest are first. `show` opens the address of a hit.

    WORDS: a call or a text must contain all of them, in any order. They are a filter: '"a phrase"',
    -word, failed, tool:edit, program:git, path:src/*.py, agent:codex, repo:api, model:opus, since:2d.
    """
    if words == ("-h",):
        context = click.get_current_context()
        show_help(context, context.command.params[0], is_given=True)
    text = " ".join(words)
    if (option := next((word for word in words if word.startswith("--")), None)) is not None:
        raise click.UsageError(f"no such option: {option} (to find it, write '\"{option}\"')")
    if not text.strip() and not file:
        raise click.UsageError("WORDS are missing, or --path FILE")
    from agentwatch.rules.language.errors import RuleError

    try:
        found = find_here(text, limit, path=file or "")
    except RuleError as error:
        raise click.UsageError(error.reason) from None
    if as_json:
        lines = [hit_json(hit) for hit in found.hits]
        code = print_json([b"\n".join(lines)]) if lines else 0
    else:
        code = print_lines(_lines(found, text, terminal_width(_WIDTH)))
    for note in _notes(found, limit):
        say(note)
    return code


def find_here(words: str, most: int, skip: int = 0, path: str = "") -> Found:
    """Return what is found in sessions of this machine; with `path`, by the index, which is brought up to
    date. Raise `RuleError` if the words are not a rule."""
    from agentwatch.catalog.hits import searched_entry, touched
    from agentwatch.cli.sessions import every_session, with_index

    if path:
        return with_index("--path", lambda index, _done: touched(index.connection, path, words, most, skip))
    from agentwatch.catalog.contents import find

    return find(words, [*map(searched_entry, every_session())], most, skip)


def hit_json(hit: Hit) -> bytes:
    """Return a hit as one line of JSON with the same keys for every hit, null for what is unknown."""
    import orjson

    from agentwatch.base.json_fields import Field, values_of

    texts = ("address", "session_id", "agent", "kind", "tool", "outcome", "title", "repo", "text")
    numbers = (Field(name, int, 1 << 63, least=-(1 << 63)) for name in ("at_ms", "call"))
    values = values_of((*(Field(name, str) for name in texts), *numbers), hit)
    path = os.fspath(hit.path).encode("utf-8", "replace").decode()
    return orjson.dumps({"version": 1, **values, "path": path})


def _lines(found: Found, text: str, width: int | None) -> Iterator[SafeText]:
    """Yield a line for each hit: when, agent, project, title, address, and the text with the searched words
    marked. On a terminal the lines have columns and short ids."""
    from agentwatch.cli.sessions import shortest

    words = list[str]()
    if text.strip():
        from agentwatch.catalog.contents import marked_words

        words = marked_words(text)
    hits, lengths = found.hits, {} if width is None else shortest(set(found.ids))
    rows = [
        (
            SafeText(date_and_minute(hit.at_ms)),
            *(cut(safe_line(name), _TITLE) or _UNKNOWN for name in (hit.agent, hit.repo, hit.title)),
            safe_line(hit._replace(id=hit.id[: lengths.get(hit.id)]).address),
        )
        for hit in hits
    ]
    widths = [
        min(max(map(columns, column)), most)
        for column, most in zip(zip(*rows, strict=True), _WIDTHS, strict=bool(rows))
    ]
    for hit, row in zip(hits, rows, strict=True):
        *cells, address = row if width is None else map(fitted, row, widths)
        about, shown = SafeText("  ".join(cells) + "  "), safe_line(hit.text)
        if width is not None:
            room = max(width - columns(about) - columns(address) - 2, _LEAST_TEXT)
            at = min((at for word in words if (at := shown.lower().find(word)) >= 0), default=0)
            shown = cut(SafeText(f"…{shown[at - room // 3 :]}" if at > room // 2 else shown), room)
        yield styled((about, "muted"), (SafeText(f"{address}  "), "strong"), *marked(shown, words))


def _notes(found: Found, limit: int) -> Iterator[str]:
    """Yield what the output does not show: older hits, and sessions that were not searched."""
    from agentwatch.base.config import HERE
    from agentwatch.catalog.hits import not_searched_words
    from agentwatch.cli.config_file import read_machines

    if found.is_more:
        yield f"there may be older hits: --limit {10 * limit}"
    elif not found.hits:
        yield f"nothing found in {plural(len(found.ids), 'session')}"
    if found.not_searched:
        yield not_searched_words(found.not_searched)
    if others := [each for each in read_machines().listed if each != HERE]:
        yield f"not searched: other machines ({', '.join(others)})"
