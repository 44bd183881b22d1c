"""Home folders, user names and e-mail addresses are found; names of packages and roles are not."""

import json
from random import Random

import pytest

from agentwatch.output.redact.mask import E_MAIL, HOME, USER
from agentwatch.output.redact.personal import Personal
from tests.builders.redaction.kinds import secrets
from tests.conftest import case
from tests.output.redact.delta_lines import FORMS
from tests.output.redact.planted import occurs
from tests.output.redact.redacting import redacted_bytes

ADA = Personal(["/home/ada"], ["ada"])


def found_in(text: str, personal: Personal = ADA) -> list[tuple[str, str]]:
    """Return what is found with its kind."""
    return [(text[each.start : each.end], each.kind) for each in personal.find(text)]


def test_the_home_folder_and_the_user_name_are_found() -> None:
    """The home folder is one place, whatever its user is called. A user name is found between other
    characters than letters and digits, and not within a word.
    """
    assert found_in("cd /home/ada/src && ls '/home/ada'") == [("/home/ada", HOME), ("/home/ada", HOME)]
    assert found_in("ada@box:~$ ls -home-ada-src ada_1 adapter nevada") == [("ada", USER)] * 3
    # Of the home folder of somebody else the name is found.
    for text in HOMES:
        with case(text):
            assert found_in(text) == [("bob", USER)]
    # The home folders of images and services say nothing about a person.
    for text in ACCOUNTS:
        with case(text):
            assert found_in(text, Personal(["/root"], ["root", "runner", "node", "al"])) == []
    # An e-mail address is found whole, in any punctuation.
    for text in ADDRESSES:
        with case(text):
            for around in ("{}", "<{}>", "mailto:{}?subject=x", "Author: Ada <{}>\n", '"{}",'):
                assert (text, E_MAIL) in found_in(around.format(text), Personal())
    # Packages, roles, pictures and examples are not addresses of a person.
    for text in NOT_ADDRESSES:
        with case(text):
            assert found_in(text, Personal()) == []


HOMES: list[str] = [
    *("/home/bob/x", "/Users/bob/Library", "C:\\Users\\bob\\x", '"C:\\\\Users\\\\bob"', "file:///home/bob"),
]


ACCOUNTS: list[str] = ["/home/runner/work", "/Users/Shared", "/root/.cache", "/home/user", "/home/node"]


ADDRESSES: list[str] = ["ada.l@lovelace.io", "a+b@mail.corp-1.co.uk", "12345+ada@users.noreply.github.com"]


NOT_ADDRESSES: list[str] = [
    *("git@github.com:a/b.git", "noreply@anthropic.com", "lodash@4.17.21", "actions/checkout@v4"),
    *("@types/node", "icon@2x.png", "user@example.com", "x@localhost", "@decorator.name"),
    *("pkg@1.2.3-rc.next", "a@b", "me@x.test"),
]


LEAST = 0.98
FORM = FORMS["claude arguments"]


def in_a_text(text: str, _random: Random) -> bytes:
    """Return a result with a text."""
    return json.dumps({"type": "result", "result": text}).encode() + b"\n"


def in_a_pretty_text(text: str, _random: Random) -> bytes:
    """Return the output of a call as another program writes it."""
    content = [{"tool_use_id": "toolu_1", "type": "tool_result", "content": text}]
    return json.dumps({"message": {"content": content}}, ensure_ascii=False, separators=(",", ":")).encode()


def in_arguments(text: str, _random: Random) -> bytes:
    """Return a call whose arguments are JSON in a string, with a script in them."""
    arguments = json.dumps({"command": f"cat > x <<'EOF'\n{text}\nEOF", "timeout": 5})
    return json.dumps({"payload": {"type": "function_call", "arguments": arguments}}).encode() + b"\n"


def in_deltas(text: str, random: Random) -> bytes:
    """Return the deltas of a text, of a few characters each."""
    return _deltas(text, random)


def in_deltas_of_arguments(text: str, random: Random) -> bytes:
    """Return the deltas of the arguments of a call."""
    return _deltas(json.dumps({"file_path": "/a/b", "content": text}), random)


def _deltas(text: str, random: Random) -> bytes:
    lines, at = [], 0
    while at < len(text):
        size = random.randrange(1, 9)
        lines.append(FORM.line(text[at : at + size], 0, 0))
        at += size
    return b"".join(lines)


@pytest.mark.parametrize(
    "step", [10, pytest.param(3, marks=pytest.mark.system), pytest.param(1, marks=pytest.mark.long)]
)
def test_secrets_of_all_kinds_are_masked(step: int) -> None:
    """At least 98 of 100 planted secrets are masked whole, in each form."""
    planted = [*secrets(7)][::step]
    assert len(planted) == 450 / step
    for written in (in_a_text, in_a_pretty_text, in_arguments, in_deltas, in_deltas_of_arguments):
        random, missed = Random(3), []
        for kind, (text, start, end) in planted:
            data, _ = redacted_bytes(written(text, random))
            deltas = data.splitlines()
            shown = "".join(map(FORM.text, deltas)).encode() if b"partial_json" in data else data
            if occurs(text[start:end], shown):
                missed.append(f"{kind}: {text[:60]!r}")
        assert len(missed) <= len(planted) * (1 - LEAST), (written.__name__, missed)
