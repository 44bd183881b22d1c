"""Finds personal data in a text: home folders and user names of the owner, and e-mail addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agentwatch.output.redact.mask import E_MAIL, HOME, USER, Found, joined

_LEAST_NAME = 3
_ANYBODY_WORDS = """
admin administrator all app build builder circleci codespace coder default dev developer docker ec2-user
guest home jenkins linuxbrew me name node nobody nonroot public root runner sandbox shared test travis
ubuntu user username users vagrant vscode work worker workspace you your your-name yourname
"""
_ANYBODY = frozenset(_ANYBODY_WORDS.split())
"""Names of accounts that say nothing about a person."""
_FOLDER = re.compile("/(?:home|Users)/([A-Za-z0-9][A-Za-z0-9._-]{0,63})")
_WINDOWS_FOLDER = re.compile(r":(?<=\b[A-Za-z]:)\\{1,4}Users\\{1,4}([A-Za-z0-9][A-Za-z0-9._-]{0,63})")
"""A look behind the colon instead of before it: a search for one character takes a sixth of the time."""
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}")
_LOCAL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-"
_LONGEST_LOCAL = 64
_ROLES = frozenset({"donotreply", "git", "hg", "no-reply", "noreply", "postmaster", "root", "svn", "user"})
_EXAMPLE_DOMAINS = ("example", "test", "invalid", "localhost", "example.com", "example.net", "example.org")
_ENDING_WORDS = "css gif git go html jpeg jpg js json lock md mjs png py rb rs sh svg toml ts txt webp yml"
_ENDINGS = frozenset(_ENDING_WORDS.split())
"""Endings of names of files and packages after an at sign, such as `icon@2x.png`, which are not domains."""


class Personal:
    """Finds personal data. Each of the `homes`, such as `/home/ada`, is masked with `~`. Names in `users`
    that say nothing about a person, such as `root`, are not masked."""

    def __init__(self, homes: Iterable[str] = (), users: Iterable[str] = ()) -> None:
        self._homes = sorted({home.rstrip("/\\") for home in homes} - {"", "/root"}, key=len, reverse=True)
        self._users = sorted({user for user in users if _says_who(user)}, key=len, reverse=True)

    def find(self, text: str) -> list[Found]:
        found = [Found(at, at + len(home), HOME) for home in self._homes for at in _places(text, home)]
        found += _of_folders(text)
        if "@" in text:
            found += _e_mails(text)
        for user in self._users:  # the name before an at sign is a part of the address
            places = (at for at in _places(text, user) if not text[at - 1 : at].isalnum())
            found += (Found(at, at + len(user), USER) for at in places)
        return joined(found)


def _says_who(name: str) -> bool:
    return len(name) >= _LEAST_NAME and name.lower() not in _ANYBODY


def _places(text: str, word: str) -> Iterator[int]:
    """Yield where a word occurs that no letter or digit follows."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not text[end : end + 1].isalnum():
            yield at
        at = text.find(word, end)


def _of_folders(text: str) -> Iterator[Found]:
    """Yield the names in paths of home folders, whoever they belong to."""
    for pattern, literals in ((_FOLDER, ("/home/", "/Users/")), (_WINDOWS_FOLDER, ("\\Users\\",))):
        if any(literal in text for literal in literals):
            for match in pattern.finditer(text):
                if _says_who(match[1]):
                    yield Found(match.start(1), match.end(1), USER)


def _e_mails(text: str) -> Iterator[Found]:
    at = text.find("@")
    while at >= 0:
        before = text[max(0, at - _LONGEST_LOCAL) : at]
        local = before[len(before.rstrip(_LOCAL)) :].lstrip("._%+-")
        match = _DOMAIN.match(text, at + 1) if local else None
        if match is not None and _is_somebodys(local, match[0].lower()):
            yield Found(at - len(local), match.end(), E_MAIL)
        at = text.find("@", at + 1)


def _is_somebodys(local: str, domain: str) -> bool:
    return (
        local.lower() not in _ROLES
        and domain.rpartition(".")[2] not in _ENDINGS
        and not domain[0].isdigit()
        and not domain.endswith(_EXAMPLE_DOMAINS)
    )


_HOME = re.compile(r"/(?:home|Users)/(\w[\w.-]{0,63})")
_WINDOWS_HOME = re.compile(r":(?<=[A-Za-z]:)[\\/]{1,4}Users[\\/]{1,4}(\w[\w.-]{0,63})")
_CWD = re.compile(
    r'"(?:cwd|directory|worktree|working_?[dD]irectory|workspace)": ?'
    r'"([A-Za-z]:[\\/]{1,4}Users[\\/]{1,4}|/home/|/Users/)([^\\/"\n]{1,64})'
)
_MASKED = re.compile(r"user-[0-9a-f]{4}")
_MOST_NAMES = 10_000
_MOST_HOMES = 8
"""The home folders of a recording: a resumed session may have moved to another machine."""


class Homes:
    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._of_cwd: dict[tuple[str, str], None] = {}

    def read(self, text: str) -> None:
        if "/home/" in text or "Users" in text:
            for cwd in set(_CWD.findall(text)):
                if len(self._of_cwd) < _MOST_HOMES and not _MASKED.fullmatch(cwd[1]):
                    self._of_cwd[cwd] = None
            if len(self._counts) < _MOST_NAMES:
                self._counts.update(_folders(text))

    def personal(self) -> Personal:
        """Return what finds the data; the home is that of a working directory, else the most frequent."""
        homes = [*self._of_cwd] or [each for each, _ in self._counts.most_common(1)]
        return Personal((path for home in homes for path in _paths(*home)), (name for _, name in homes))


def _folders(text: str) -> Iterator[tuple[str, str]]:
    for pattern in (_HOME, _WINDOWS_HOME):
        for match in pattern.finditer(text):
            if not _MASKED.fullmatch(match[1]):
                start = match.start() - (pattern is _WINDOWS_HOME)
                yield text[start : match.start(1)], match[1]


def _paths(parent: str, name: str) -> Iterator[str]:
    """Yield the ways to write a home folder: as a path, and as a part of the name of a folder."""
    if parent.startswith("/"):
        yield f"{parent}{name}"
        yield f"{parent.replace('/', '-')}{name}"
        return
    for letter in {parent[0].lower(), parent[0].upper()}:
        yield f"{letter}:\\Users\\{name}"
        yield f"{letter}:/Users/{name}"
        yield f"/{letter}/Users/{name}"
        yield f"{letter}--Users-{name}"
