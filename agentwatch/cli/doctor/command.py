"""The command `doctor`: prints facts for a bug report."""

from __future__ import annotations

from collections.abc import Iterator

import click

from agentwatch.cli.default_command import HelpfulCommand


@click.command(cls=HelpfulCommand)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def doctor(*, as_json: bool) -> int:
    """Print versions, folders and agents for a bug report.

    The terminal and the settings are in it too, secrets and names are not.
    """
    from agentwatch.cli.doctor.facts import facts
    from agentwatch.cli.stdout import print_json, print_lines

    found = facts()
    if not as_json:
        return print_lines(_lines(found))
    import orjson

    return print_json([orjson.dumps(found)])


def _lines(facts: dict[str, dict[str, object]]) -> Iterator[str]:
    """Yield the facts of each section, one in a line."""
    for number, (section, values) in enumerate(facts.items()):
        if number:
            yield ""
        yield section
        width = max(map(len, values), default=0)
        if not values:
            yield "  none"
        for name, value in values.items():
            yield f"  {name:{width}}  {_word(value)}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if value is None else str(value)
