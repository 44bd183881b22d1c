"""The examples in docstrings show what the code does, and each public name has one."""

import doctest
import importlib
import inspect
import typing

import pytest

import agentwatch
from tests.conftest import ROOT, case

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "agentwatch").rglob("*.py"))
    if ">>> " in path.read_text()
]
WITHOUT_DOCSTRING = {"Event": "agentwatch.Event", "__version__": "agentwatch.__version__"}
"""Public names that are values, and how the example in the docstring of the package uses them."""


def has_example(name: str) -> bool:
    """Return whether a public name of the package has an example that a test runs."""
    if name in WITHOUT_DOCSTRING:
        examples = doctest.DocTestParser().get_examples(agentwatch.__doc__ or "")
        return any(WITHOUT_DOCSTRING[name] in example.source for example in examples)
    value = getattr(agentwatch, name)
    module = value.__name__ if inspect.ismodule(value) else value.__module__
    return module in MODULES and ">>> " in (value.__doc__ or "")


@pytest.mark.system
def test_an_example_gives_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example in a docstring of the module prints what the docstring says."""
    assert MODULES
    monkeypatch.chdir(ROOT)  # examples read `recordings/`
    for name in MODULES:
        with case(name):
            results = doctest.testmod(importlib.import_module(name))
            assert results.attempted > 0
            assert results.failed == 0


def test_a_public_name_has_an_example() -> None:
    """Each name that the package exports, each type of event among them, shows how it is used."""
    for name in agentwatch.__all__:
        with case(name):
            assert has_example(name)
    assert {kind.__name__ for kind in typing.get_args(agentwatch.Event)} <= {*agentwatch.__all__}
