"""Turns the state of a feed into bytes and back. What is read back can only be data."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from agentwatch.feed.index.allowed import allowed
from agentwatch.session.storage.spill import Spill, SpillCopy
from agentwatch.wire import Agent
from agentwatch.wire.agents import known_agents
from agentwatch.wire.tool import Tool, ToolName, name_of_tool, tool_of_name

UNREADABLE = (
    pickle.PickleError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)
"""What reading bytes that are no pickle of this program may raise."""
_HERE = __name__


class NotKept(ValueError):
    """The state contains something that cannot be kept in a file, such as the decoder of a plugin."""


class Packer:
    """Turns objects into bytes, and collects the spills that they refer to."""

    def __init__(self) -> None:
        self._spills: list[Spill] = []
        self._numbers: dict[int, int] = {}

    def pack(self, value: object, known: Sequence[object] = ()) -> bytes:
        """Return an object as bytes.

        Args:
            value: The object.
            known: Objects of which only the number is written; whoever reads the bytes supplies them.

        Raises:
            NotKept: The object contains something that cannot be kept.
        """
        buffer = BytesIO()
        pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = {Spill: self._spill, Agent: _agent_name, Tool: _tool_name}
        for number, each in enumerate(known):
            pickler.dispatch_table[type(each)] = _Known(number, each)
        try:
            pickler.dump(value)
        except (pickle.PickleError, AttributeError, TypeError, RecursionError) as error:
            raise NotKept(str(error)) from None
        return buffer.getvalue()

    def copies(self) -> list[SpillCopy]:
        """Return the spills, with the bytes to which the objects refer.

        Packing a list of numbers writes its changed pages, so it must be over. What a packed object refers to
        is never overwritten.
        """
        return [spill.copy() for spill in self._spills]

    def _spill(self, spill: Spill) -> tuple[Any, ...]:
        number = self._numbers.get(id(spill))
        if number is None:
            number = self._numbers[id(spill)] = len(self._spills)
            self._spills.append(spill)
        return kept_spill, (number,)


class Unpacker:
    """Turns bytes into objects again."""

    def __init__(self, spills: Sequence[Spill]) -> None:
        """Create an unpacker; `spills` are those that the `Packer` collected, in the same order."""
        self._spills = spills

    def unpack(self, data: bytes, known: Sequence[object] = ()) -> Any:
        """Return the object that was packed; `known` are the objects of which it has only the numbers.

        Raises:
            UNREADABLE: The bytes are not those of such an object.
        """
        functions: dict[str, Callable[[Any], object]] = {
            "kept_spill": self._spills.__getitem__,
            "known_object": known.__getitem__,
            "kept_agent": _agent_named,
            "kept_tool": tool_of_name,
        }
        return _Unpickler(data, functions).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, functions: dict[str, Callable[[Any], object]]) -> None:
        super().__init__(BytesIO(data))
        self._functions = functions

    def find_class(self, module: str, name: str) -> Any:
        """Return the function for a stand-in of this module, or a class that holds data."""
        return self._functions[name] if module == _HERE else allowed(module, name)


class _Known:
    """Reduces an object to its number. No other object of its type may occur."""

    def __init__(self, number: int, value: object) -> None:
        self._number = number
        self._value = value

    def __call__(self, value: object) -> tuple[Any, ...]:
        if value is not self._value:
            raise NotKept(f"another {type(value).__name__}")
        return known_object, (self._number,)


def _agent_name(agent: Agent) -> tuple[Any, ...]:
    if not any(agent is each for each in known_agents()):
        raise NotKept(f"the format {agent.name} is a plugin's")
    return kept_agent, (agent.name,)


def _agent_named(name: str) -> Agent:
    return next(agent for agent in known_agents() if agent.name == name)


def _tool_name(tool: Tool) -> tuple[Any, ...]:
    name = name_of_tool(tool)
    if name is None:
        raise NotKept(f"the tool {tool.phrase}")
    return kept_tool, (name,)


def kept_spill(number: int) -> Spill:
    """Stand for a spill in a pickle. Never called."""
    raise NotImplementedError(number)


def known_object(number: int) -> object:
    """Stand for a known object in a pickle. Never called."""
    raise NotImplementedError(number)


def kept_agent(name: str) -> Agent:
    """Stand for an agent in a pickle. Never called."""
    raise NotImplementedError(name)


def kept_tool(name: ToolName) -> Tool:
    """Stand for a tool in a pickle. Never called."""
    raise NotImplementedError(name)
