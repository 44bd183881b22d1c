"""A JSON document is changed at one place, and all the rest keeps its form."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from agentwatch.catalog.hooks.plan import added, checked, removed
from tests.conftest import case

DOCUMENT = """{
    "b" :  [1.0e2,2 , "\\u00e4\\/"],
\t"a": { "x": [ {"k": 1} ], "empty": [ ], "none": {} },
    "last": [
        {"one": 1},
        {
            "two": 2
        }
    ]
}
"""


PLACES: list[tuple[list[str | int], str]] = [
    (["b", 3], 'e4\\/", {"v": 7}]'),
    (["a", "new"], '"none": {}, "new": {"v": 7} }'),
    (["a", "x", 1], '[ {"k": 1}, {"v": 7} ]'),
    (["a", "empty", 0], '"empty": [\n\t    {\n\t        "v": 7\n\t    }\n\t]'),
    (["a", "none", "k"], '"none": {\n\t    "k": {\n\t        "v": 7\n\t    }\n\t}'),
    (["last", 2], '        },\n        {\n            "v": 7\n        }\n    ]\n'),
    (["new"], '    ],\n    "new": {\n        "v": 7\n    }\n}\n'),
]


def test_a_value_is_added_in_the_form_of_its_neighbours() -> None:
    """Indentation, spaces and line ends are those that are there, and nothing else changes."""
    for newline in ("\n", "\r\n"):
        for path, piece in PLACES:
            with case(f"{newline!r}, {path}"):
                text = DOCUMENT.replace("\n", newline)
                new = added(text, path, {"v": 7})
                assert piece.replace("\n", newline) in new
                assert new.count("\r") == (new.count("\n") if newline == "\r\n" else 0)
                at: Any = json.loads(new)
                for key in path:
                    at = at[key]
                assert at == {"v": 7}
                assert json.loads(removed(new, path)) == json.loads(text)
                if piece.count("[\n") + piece.count("{\n\t") == 0:
                    assert removed(new, path) == text


def test_a_document_in_one_line_stays_in_one_line() -> None:
    """A document without indentation gets none, and what is not JSON is an error."""
    for text in ("{}", " { } ", '{"a":{}}', "{\n}"):
        with case(text):
            new = added(text, ["k"], [1])
            assert json.loads(new) == {**json.loads(text), "k": [1]}
            assert new.count("\n") <= text.count("\n")
    for text in ("", "{", "{} {}", '{"a":1,"a":2}', "{'a':1}", '{"a":NaN}', "[" * 100_000):
        with case(f"{text:.20}"), pytest.raises(ValueError, match=r"."):
            checked(text)


def some_value(source: random.Random, depth: int = 0) -> Any:
    """Return a random JSON value."""
    kind = source.randrange(5 if depth < 3 else 3)
    if kind < 3:
        return source.choice([None, True, 1, -2.5, "", 'a"]}[{,:', "ä\\ \n", "x"])
    size = source.randrange(4)
    if kind == 3:
        return [some_value(source, depth + 1) for _ in range(size)]
    return {f'k,"{number}': some_value(source, depth + 1) for number in range(size)}


def containers(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Return all arrays and objects in a value, with the path of each."""
    if not isinstance(value, dict | list):
        return []
    members = value.items() if isinstance(value, dict) else enumerate(value)
    inner = [found for key, each in members for found in containers(each, (*path, key))]
    return [(path, value), *inner]


def test_any_document_keeps_its_other_values() -> None:
    """Whatever is added anywhere is there, and is the only difference; removing it is the way back."""
    for seed in range(200):
        with case(f"seed {seed}"):
            source = random.Random(seed)
            value = {"r": some_value(source), "s": [some_value(source)]}
            indent = source.choice([None, 1, 2, "\t"])
            text = json.dumps(value, indent=indent, ensure_ascii=source.random() < 0.5)
            path, container = source.choice(containers(value))
            key: str | int = "new" if isinstance(container, dict) else len(container)
            new = added(text, [*path, key], {"v": [1]})
            if isinstance(container, dict):
                container["new"] = {"v": [1]}
            else:
                container.append({"v": [1]})
            assert json.loads(new) == value
            assert list(json.loads(new)) == list(value)
            assert removed(new, [*path, key]) == text
