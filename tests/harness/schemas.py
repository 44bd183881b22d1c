"""Checks JSON by the schema that the program has for it."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

from agentwatch.cli.schema import NAMES, schema


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def check_json(name: str, data: bytes) -> None:
    """Check an object by its schema."""
    error = best_match(_validator(name).iter_errors(json.loads(data)))
    assert error is None, f"{name}: {error.json_path}: {error.message[:400]}"


def check_printed(words: Sequence[str], stdout: bytes) -> None:
    """Check each line that a command has printed on stdout, if it is JSON of ours."""
    names = {
        ("check", "--since"): "check-since",
        ("compare", "--with"): "compare-with",
        ("show", "--why"): "explain",
    }
    formats = {after for option, after in pairwise(words) if option == "--output-format"}
    name = "summary" if "summary" in formats else words[0] if words else ""
    if name != "summary" and "json" not in formats and "--json" not in words:
        return
    name = next(
        (other for (command, option), other in names.items() if command == name and option in words), name
    )
    for line in stdout.splitlines() if name in {*NAMES, "show"} else ():
        is_moment = name == "show" and "episodes" in json.loads(line)
        check_json(("show-moment" if is_moment else "show-call") if name == "show" else name, line)
