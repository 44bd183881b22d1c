"""Objects that are named as `module:name`, and imported when they are first used."""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any


def imported(place: object) -> Any:
    """Import the object that a `module:name` names: `agentwatch.agents.pi.stream:PiDecoder`. Any other object
    stands for itself."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def on_first_use(place: str) -> Callable[..., Any]:
    """Return a function that imports another one when it is first called, and calls it.

    The agents of all formats are imported to recognise a line. A decoder takes 3 ms, which the others would
    not need.

    Args:
        place: The module and the name in it: `agentwatch.agents.pi.stream:PiDecoder`.
    """
    load = cache(partial(imported, place))

    def called(*arguments: object) -> Any:
        return load()(*arguments)

    return called
