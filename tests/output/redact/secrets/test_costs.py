"""The search for secrets takes linear time, whatever it is given."""

import importlib
import pkgutil
import re
from collections.abc import Callable
from functools import partial

import pytest
import re2  # type: ignore[import-untyped]

from agentwatch.output.redact import secrets
from agentwatch.output.redact.personal import Personal
from agentwatch.output.redact.secrets.contexts import CONTEXTS
from agentwatch.output.redact.secrets.prefixed import RULES
from agentwatch.output.redact.secrets.scanner import find
from tests.builders.redaction.ordinary import material
from tests.conftest import case
from tests.harness.costs import takes_more

UNITS = (
    *("k", "k_", "key", "key=", "key: ", "=", " ", "\n", '"', "'", "eyJ", "eyJ.", "eyJa.eyJ", "aB3x"),
    *("aB3/", "token", "token=", 'token: "', "token\n", "token,", "token( ", "password", "password "),
    *("pass ", "auth: ", "-----BEGIN PRIVATE" + " KEY-----", "-----BEGIN ", "-----END", "Private-Lines: 1"),
    *("://", "://a:", "://a:b", "@", "a@", "@a.", "a@a.", "/home/", "/home/a", "a.a", "curl ", "curl -u "),
    *("mysql -p", "machine a login ", "Bearer ", "Authorization: ", "basic ", "$2a$", "$1$a$", "stripe "),
    *('datadog: "', "\\n", "\\", '\\"', "%20", "\x1b[", "\x1b[1m", "é", "\ud800", "sig=", "?code=a"),
    *("echo a", "net use ", "mongo ", "phrase (abc ", "aaa8Q~", "abcdefNRAL", "+ast", "1:AA", "sk-", "sk-a"),
    *("s.", "1/", "00D", "EAAa ", "|", "<token>", "AKIA", "<password>", "<password a='b'>", "password</b>"),
    *("password<b><i>", "</key>\n<string>", "password: |\n ", "<b>", "password:\n ", "password = <<E\n"),
    *("password='''", "ENV PASSWORD ", 'value="a1" name="password" ', "value: "),
    *('password": {"type": "x", "value": "', "password for a = ", "attach a key '", "pragma key ='"),
    *("crypt('a", "user a identified by ", "\\_"),
)
HIDING = (
    *("%2F", "a%20b ", "&amp;", "a\x1b[0mb", "\\x1b[0m", "a\u200bb", "a\U000e0101", "\U0001f1e6"),
    *("пароль: ", "密码：", "name,password\n", "password,x\n", "INSERT INTO a (password) VALUES ('a'),"),
    *('"-p","a",', "\n- -p", "cat ", "cat id_rsa\n", "cat a/", "token\naB3", 'form-data; name="password"\n'),
    *("QUJD\n", "password=a1,", "a   pw\n", "-----END RSA PRIVATE" + " KEY-----\n"),
)
SIZE = 1 << 13
QUICK_SECONDS = 0.02
"""Less time than this is never too much: a text of 32 KiB takes 4 ms, and quadratic time takes seconds."""
MOST_GROWTH = 10
"""A text that is 4 times as long takes 4 times as long, or 16 times in quadratic time."""


def check_linear(search: Callable[[str], object], name: str, size: int) -> None:
    """Check that a search takes less than ten times as long for four times as much of each unit."""
    for unit in (*UNITS, *HIDING):
        short = unit * (size // len(unit))
        with case(f"{name}: {unit!r}"):
            long = partial(search, short * 4)
            assert not takes_more(long, MOST_GROWTH, partial(search, short), QUICK_SECONDS)


@pytest.mark.costs
def test_a_search_takes_linear_time() -> None:
    """A text that is four times as long takes less than ten times as long."""
    check_linear(find, "secrets", SIZE * 4)
    check_linear(Personal(["/home/ada"], ["ada"]).find, "personal", SIZE * 4)


@pytest.mark.costs
def test_a_repeated_label_takes_no_longer_than_code() -> None:
    """A text of labels alone takes at most two and a half times as long as code of the same length."""
    code = partial(find, material("Python", SIZE * 16))
    for unit in ("password=", "token=", "password: ", "password=\n"):
        with case(unit):
            assert not takes_more(partial(find, unit * (SIZE * 16 // len(unit))), 2.5, code, 0)


@pytest.mark.costs
def test_a_pattern_takes_linear_time() -> None:
    """The pattern of a rule takes less than ten times as long for four times as much of each unit."""
    for source in sorted({rule.body for rule in RULES} | {each.pattern for each in CONTEXTS}):
        check_linear(re.compile(source).findall, source, SIZE // 4)


def sources() -> list[tuple[str, str]]:
    """Return the name and source of each pattern of the redaction."""
    found = [(f"rule of {rule.kind}", rule.body) for rule in RULES]
    found += [(f"context of {context.kind}", context.pattern) for context in CONTEXTS]
    for info in pkgutil.walk_packages(secrets.__path__, "agentwatch.output.redact.secrets."):
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, re.Pattern):
                found.append((f"{info.name}.{name}", value.pattern))
    assert len(found) > len(RULES) + len(CONTEXTS) > 0
    return found


@pytest.mark.system
def test_every_pattern_needs_no_backtracking() -> None:
    """RE2, which has neither look-around nor back-references, compiles each pattern."""
    options = re2.Options()
    options.log_errors = False
    for name, source in sources():
        assert re2.compile(source, options), name


def test_every_repeat_is_bounded() -> None:
    """No pattern has a repeat without an end outside a class of characters."""
    unbounded = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\})")
    for name, source in sources():
        outside = re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "C", re.sub(r"\\[^\[\]]", "E", source))
        assert not unbounded.search(outside), (name, outside)
