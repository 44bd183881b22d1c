"""What `find` and the search in the list look for, in the language of rules: words, and fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from agentwatch.agents.fields import line_object
from agentwatch.agents.payloads import Payloads
from agentwatch.base.clock import now_ms
from agentwatch.recording.lines import MOST_LINE_BYTES
from agentwatch.rules.calls.fields import CALL_FIELDS, CALLS
from agentwatch.rules.language.conditions import Condition, Glob, Not, Readers, Several, Test, Value, Word
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse
from agentwatch.rules.language.vocabulary import Field, Measure, Vocabulary
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.times import time_ms

if TYPE_CHECKING:
    from agentwatch.feed.feed import Feed
    from agentwatch.rules.calls.facts import CallFacts
    from agentwatch.session.call import Call, Place

_TEXTS = tuple(kind.value for kind in Kind if kind not in (Kind.CALL, Kind.NOTICE))
_KIND = next(field for field in CALL_FIELDS if field.name == "kind")
_SESSION_FIELDS = (
    Field("agent", Measure.TEXT, "the agent, or a part of its name", example="agent:codex"),
    Field("repo", Measure.TEXT, "a part of the repository's name", example="repo:api"),
    Field("model", Measure.TEXT, "a part of the model's name", example="model:opus"),
    Field("since", Measure.TEXT, "an age or a date; nothing earlier is found", example="since:2d"),
)
_OWN = {field.name for field in _SESSION_FIELDS}
FIND_FIELDS: Final = (
    *_SESSION_FIELDS,
    _KIND._replace(about="the kind of the tool, or of a text", values=(*_KIND.values, *_TEXTS)),
    *(field for field in CALL_FIELDS if field.name not in {*_OWN, _KIND.name}),
)
FINDS: Final = Vocabulary.of(FIND_FIELDS, CALLS.alternatives, synonyms=CALLS.synonyms)._replace(
    quotes_text=True, word_cost=10
)
"""Words are compared last: the lines of a call are read again for them."""
_MOST_WORDS = 16
_MOST_WORD = 100
"""The most characters of a word; of a longer one, only this beginning is searched for."""


class Query:
    """Words that a call or a text must all contain, in any order, in capitals or not, and conditions."""

    def __init__(self, text: str, *, path: str = "", is_lenient: bool = False) -> None:
        """`path` is a glob for the files of a call. `is_lenient`: what is not a rule is words. Raise
        `RuleError` for a mistake, and if nothing is looked for."""
        of_path = Glob(FINDS.fields["path"], path)
        try:
            self.condition: Condition = of_path
            if text.strip() or not path:
                self.condition = parse(text, FINDS)
            for value in _values_of(self.condition, "since"):
                _since(value)
        except RuleError:
            words = text.split()[:_MOST_WORDS]
            if not is_lenient or not words:
                raise
            self.condition = Several(tuple(Word(word.lower()[:_MOST_WORD], True) for word in words), False)
        if path and self.condition is not of_path:
            self.condition = Several((self.condition, of_path), is_any=False)
        self.words = list(dict.fromkeys(_words(self.condition)))
        """What is marked in a text that is found."""
        self.has_texts = bool(self.words) or any(_values_of(self.condition, "kind"))
        """Whether texts are found too: `tool:edit` or `-tool:edit` alone find calls."""

    @cached_property
    def excludes(self) -> Callable[[str, int], bool]:
        """Whether nothing in a session can be found, by its agent, empty if unknown, and its last change."""
        if self.condition.fields.isdisjoint({"agent", "since"}):
            return lambda _agent, _changed_ms: False
        values = dict.fromkeys(FINDS.fields, lambda _session: None)
        values["agent"] = lambda session: session[0] or None
        own = {**dict.fromkeys(FINDS.fields.keys() - {"agent"}, _unknown), "since": _changed_since}
        test = self.condition.bind(Readers[tuple[str, int]](values, _unknown, own, quoted=_unknown))
        return lambda agent, changed_ms: test((agent, changed_ms)) is False


def _changed_since(value: str) -> Test[tuple[str, int]]:
    since_ms = _since(value)
    return lambda session: None if session[1] >= since_ms else False


def _unknown(_value: str) -> Test[tuple[str, int]]:
    return lambda _session: None


def _since(value: str) -> int:
    found = time_ms(value, now_ms())
    if found is None:
        raise RuleError(f'since: "{value}" is neither an age nor a date: 2d, 12h, 2026-11-20')
    return found


def _values_of(condition: Condition, name: str) -> Iterator[str]:
    match condition:
        case Glob(field, value) if field.name == name:
            yield value
        case Several(parts):
            for part in parts:
                yield from _values_of(part, name)
        case Not(part):
            yield from _values_of(part, name)


def _words(condition: Condition) -> Iterator[str]:
    match condition:
        case Word(text, is_quoted) if is_text(text, is_quoted=is_quoted) and text.strip():
            yield " ".join(text.split())
        case Several(parts):
            for part in parts:
                yield from _words(part)


def is_text(word: str, *, is_quoted: bool) -> bool:
    """Whether a word is searched for, and is not the name of an outcome."""
    return is_quoted or word not in FINDS.alternatives


class Part:
    """A call or a text of a session, which may be what is looked for."""

    def __init__(self, feed: Feed, entry: Entry, seen_ms: int | None, agent: str, repo: str) -> None:
        """`seen_ms` is when the line arrived with which it began."""
        self._feed = feed
        self._seen_ms = seen_ms
        self.entry = entry
        self.call: Call | None = entry.call
        self.agent = agent
        self.repo = repo

    @property
    def kind(self) -> str:
        return self.entry.kind.value if self.call is None else self.call.kind.value

    @property
    def model(self) -> str:
        runs = self._feed.session.runs
        run = self._feed.session.run if self.call is None else runs[self.call.run - 1]
        return run.model or ""

    @property
    def at_ms(self) -> int | None:
        """Return the time of the agent's clock, or else that at which its line arrived."""
        at_ms = self.entry.started_ms if self.call is None else self.call.started_ms
        return self._seen_ms if at_ms is None else at_ms

    @cached_property
    def texts(self) -> list[str]:
        """Return what is searched: of a call, its tool and target, its arguments and its result."""
        call = self.call
        if call is None:
            result = self.entry.result
            return [self.entry.text if result is None else "" if result.is_streamed else result.text or ""]
        from agentwatch.analysis.block_text import named_places, whole_text

        found = [call.tool, *filter(None, (call.target, call.path, *call.more_paths, call.error))]
        for _, place in named_places(call):
            found += map(whole_text, self._feed.blocks(place, call.call_id))
            found += self._payloads(place, call)  # a block may leave out what it does not know
        return [text for text in found if len(text) <= _LONGEST_WORD or " " in text or "\n" in text]

    def _payloads(self, place: Place, call: Call) -> Iterator[str]:
        if place.length > MOST_LINE_BYTES:
            return
        payloads = Payloads(line_object(*self._feed.line_at(place).split(b"\n")) or {})
        for found in (payloads.arguments, payloads.result):
            yield from _strings(found(call.call_id).value)

    @cached_property
    def lowered(self) -> str:
        """What words are compared with: each text with one blank for each run of them."""
        return "\0".join(" ".join(text.lower().split()) for text in self.texts)


_LONGEST_WORD = 1000
"""A text that is longer and has no blank is data, such as an image, and is not searched."""


def _strings(value: object) -> Iterator[str]:
    stack = [value]
    while stack:
        match stack.pop():
            case str(text):
                yield text
            case dict() as members:
                stack.extend(reversed(members.values()))
            case list() as items:
                stack.extend(reversed(items))


def part_readers(facts: CallFacts) -> Readers[Part]:
    """What is read of a call has no value in a text."""
    from agentwatch.rules.calls.readers import call_readers

    calls = call_readers(facts)
    values: dict[str, Callable[[Part], Value]] = {
        name: partial(_of_call, read) for name, read in calls.values.items()
    }
    values |= {
        "agent": lambda part: part.agent,
        "repo": lambda part: part.repo,
        "model": lambda part: part.model,
        "kind": lambda part: part.kind,
    }
    own: dict[str, Callable[[str], Test[Part]]] = {
        name: partial(_test_of_call, test) for name, test in calls.own.items() if name not in _OWN
    }
    own["since"] = _since_test
    return Readers(values, _word_test, own, lambda part: part.at_ms, _text_test)


def _of_call(read: Callable[[Call], Value], part: Part) -> Value:
    return () if part.call is None else read(part.call)


def _test_of_call(test_of: Callable[[str], Test[Call]], value: str) -> Test[Part]:
    test = test_of(value)
    return lambda part: False if part.call is None else test(part.call)


def _since_test(value: str) -> Test[Part]:
    since_ms = _since(value)
    return lambda part: part.at_ms is not None and part.at_ms >= since_ms


def _word_test(word: str) -> Test[Part]:
    if is_text(word, is_quoted=False):
        return _text_test(word)
    outcome = Outcome(word)
    return lambda part: part.call is not None and part.call.outcome is outcome


def _text_test(word: str) -> Test[Part]:
    wanted = " ".join(word.split())
    return lambda part: wanted in part.lowered
