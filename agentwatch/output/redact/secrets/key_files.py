"""Finds the content of files that are secrets as a whole, by the path that a call or a command reads."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator

from agentwatch.output.redact.mask import Found, Heads
from agentwatch.output.redact.secrets.prefixed import SPLITTING, plain
from agentwatch.output.redact.secrets.values import is_code, is_name, is_password, is_placeholder, is_random

_NAME = (
    r"(?:[A-Za-z0-9_.-]{1,60}\.(?:key|pem|p8|pk8|ppk|keyfile)"
    r"|(?:master|secret|private|encryption|signing|api|deploy|service)[_.-]?key\.(?:txt|b64|base64)"
    r"|[A-Za-z0-9_-]{0,40}(?:passwords?|passwd|passphrase|secret|token|api[_-]?key)\.(?:txt|asc|dat|file)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk)"
    r"|\.(?:npmrc|yarnrc|pgpass|netrc|htpasswd|htdigest|git-credentials|vault-token|vault_pass|pypirc|my\.cnf"
    r"|mylogin\.cnf|dockercfg|s3cfg|boto|erlang\.cookie|rediscli_auth|smbcredentials|cifs|fetchmailrc|msmtprc"
    r"|muttrc|env(?:\.[a-z]{2,20})?)"
    r"|_netrc|pgpass\.conf|\.credentials\.json|secrets?\.(?:ya?ml|json|toml|env|ini|txt|properties)"
    r"|wp-config\.php)"
)
_IN_FOLDER = (
    r"(?:[A-Za-z0-9_.-]{0,60}(?:passwords?|passwd|passphrase|secret|token|api[_-]?key|_key|-key|keyfile)"
    r"|key|identity|htpasswd|g?shadow|credentials(?:\.[a-z]{2,12}){0,2}|kubeconfig"
    r"|(?:run/secrets|secrets|ssl/private|\.ssh|\.gnupg|\.password-store|\.kube|\.docker)/[A-Za-z0-9_.-]{1,60})"
)
"""Names of files that are other words, too, where they are not in a folder."""
_FILE = (
    rf"(?:[A-Za-z]:)?(?:(?:[^\"':\s]{{0,200}}(?:/|\\\\))?{_NAME}|[^\"':\s]{{0,200}}(?:/|\\\\){_IN_FOLDER}"
    r"|(?:run/secrets|secrets|\.ssh|\.kube|\.docker)/[A-Za-z0-9_.-]{1,60})"
)
_RARE = frozenset(
    b"pem p8 pk8 ppk keyfile rsa dsa ecdsa ed25519 npmrc yarnrc pgpass netrc htpasswd htdigest credentials"
    b" vault pypirc cnf dockercfg s3cfg boto erlang rediscli smbcredentials cifs fetchmailrc msmtprc muttrc"
    b" gshadow kubeconfig gnupg apikey wp".split()
)
_WORDS = _RARE.union(
    b"key env secret secrets shadow identity token password passwords passwd passphrase ssh ssl kube"
    b" docker".split()
)
"""Words of which each name has one. Those that are not rare count only beside some literals."""
_LITERALS = tuple(
    b".key _key -key /key key. .env /secret _secret secret. secrets/ /token _token -token token. /pass _pass"
    b" passwords. password. passwd. .pass .ssh/ ssl/ .kube/ .docker/ /identity /shadow /id_".split()
)
_NAMES_OF_READERS = "cat bat less head tail nl tac xxd od strings base64 sed awk grep"
_READERS = tuple(f"{name} " for name in _NAMES_OF_READERS.split())
_ARGUMENT = re.compile(rf'"{_FILE}\\{{0,7}}"')
_COMMAND = re.compile(rf"""(?:[ ][^"\n;|&]{{0,40}}?)??[ '<>]{_FILE}[ '"\\;|&<>)]""")
_SHOWN = re.compile(
    r"(?:cat|bat|less|head|tail|nl|tac|Get-Content|gc)(?:[ \t][^\n;|&]{0,120}?)??"
    rf"[ \t'\"<]{_FILE}['\"]?[ \t]{{0,4}}\n"
)
_SHOWING = ("cat ", "bat ", "less ", "head ", "tail ", "nl ", "tac ", "Get-Content ", "gc ")
_SHOWING_HEADS = {literal.lower().partition("-")[0].strip()[:4] for literal in _SHOWING}
_ID = re.compile(
    r'"(?:id|call_?[iI][dD]|tool_?[uU]se_?[iI]d|tool_?[cC]all_?[iI]d|tool_?[iI]d|item_?[iI]d)": ?'
    r'"([^"\\]{4,120})"'
)
_NUMBER = re.compile(r"\s{0,12}(?:[0-9]{1,6}(?:\?|\t|: ?|\| ?)\s?|[>+|] )")
_PROMPT = re.compile(r"\s{0,8}(?:[$#%>] |[A-Za-z0-9_.-]{1,40}@[^\n]{0,80}[$#] |PS )")
_OUTPUT = re.compile(r'\s{0,8}\{\s{0,8}"(?:output|stdout|content|text|result)": ?"')
_MOST_CALLS = 64
_MOST_LINES = 200
_NEAR = 2000
_MOST_CHARACTERS = 1 << 16
_SHORTEST = 6
_QUOTES = " \t\r\"',;"


class KeyFiles:
    """Follows the calls that read files of secrets to the lines that show their content."""

    def __init__(self) -> None:
        self._calls: OrderedDict[bytes, None] = OrderedDict()

    def may_show(self, line: bytes, *, is_new: bool) -> bool:
        """Return whether the texts of a line of JSON may show the content of a file of secrets. `is_new` says
        whether it has more than its texts that no line before had."""
        is_shown = any(call in line for call in self._calls)
        if not (is_new or b'rguments"' in line or b'nput"' in line):
            return is_shown
        words = line.translate(SPLITTING).split()
        if _WORDS.isdisjoint(words):  # a set of the words of the line would take an eighth more
            return is_shown
        if _RARE.isdisjoint(words) and not any(literal in line for literal in _LITERALS):
            return is_shown
        text = line.decode("latin-1")
        for match in _reads(text):
            is_shown = True
            for call in _calls_near(text, *match.span()):
                self._calls[call.encode("latin-1")] = None
                if len(self._calls) > _MOST_CALLS:
                    self._calls.popitem(last=False)
        return is_shown


def _reads(text: str) -> Iterator[re.Match[str]]:
    """Yield the arguments and commands of a text with the path of a file of secrets."""
    yield from _ARGUMENT.finditer(text)
    for reader in _READERS:
        at = text.find(reader)
        while at >= 0:
            match = None if text[at - 1 : at].isalnum() else _COMMAND.match(text, at + len(reader) - 1)
            if match is not None:
                yield match
            at = text.find(reader, at + 1)


def _calls_near(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the id before a place in a line, and the one after it."""
    before = [match[1] for match in _ID.finditer(text, max(0, start - _NEAR), start)]
    after = _ID.search(text, end, end + _NEAR)
    yield from before[-1:]
    if after is not None:
        yield after[1]


def of_content(text: str) -> list[Found]:
    """Return the secrets of a text that a call has read of a file of secrets; none if it names the file."""
    quoted = f'"{text[:_MOST_CHARACTERS]}"'
    if any(_reads(quoted)):
        return []
    output = _OUTPUT.match(text)
    if output is None:
        return [*_content(plain(text), 0, len(text), is_terminal=False)]
    end = text.find('"', output.end())
    while end > 0 and text[end - 1] == "\\":
        end = text.find('"', end + 1)
    return [*_content(plain(text), output.end(), max(end, output.end()), is_terminal=False)]


def shown(view: str, heads: Heads) -> Iterator[Found]:
    """Yield the secrets that a command prints in a plain text, such as that of a terminal."""
    for literal in () if heads.isdisjoint(_SHOWING_HEADS) else _SHOWING:
        at = view.find(literal)
        while at >= 0:
            match = _SHOWN.match(view, at)
            if match is not None:
                yield from _content(view, match.end(), len(view), is_terminal=True)
            at = view.find(literal, at + 1)


def _content(view: str, start: int, end: int, *, is_terminal: bool) -> Iterator[Found]:
    """Yield the secrets of a text that is the content of a file of secrets. `start` is where the content
    begins in it. `is_terminal` says whether the content ends at the next prompt."""
    lines: list[tuple[int, str]] = []
    at = start
    while at < min(end, start + _MOST_CHARACTERS) and len(lines) < _MOST_LINES:
        line_end = view.find("\n", at, end)
        line_end = end if line_end < 0 else line_end
        line = view[at:line_end]
        if is_terminal and (_PROMPT.match(line) or not line.strip()):
            break
        if line.strip():
            lines.append((at, line))
        at = line_end + 1
    for at, line in lines:
        number = _NUMBER.match(line)
        first = at if number is None else at + number.end()
        value = view[first : at + len(line)]
        first += len(value) - len(value.lstrip(_QUOTES))
        value = value.strip(_QUOTES)
        for separator in ("=", ":"):
            head, sign, tail = value.rpartition(separator) if separator == ":" else value.partition(separator)
            if sign and tail.strip("=") and " " not in head.strip():
                first += len(value) - len(tail.lstrip(_QUOTES))
                value = tail.strip(_QUOTES)
                break
        if _is_content(value, alone=len(lines) == 1):
            yield Found(first, first + len(value), "key file")


def _is_content(value: str, *, alone: bool) -> bool:
    """Return whether a line of a file of secrets is one, or what follows its label."""
    if (
        len(value) < _SHORTEST
        or " " in value
        or value[0] in "#[<-/"
        or is_placeholder(value)
        or is_code(value)
    ):
        return False
    if is_random(value, 12) or is_password(value):
        return True
    return alone or (any(map(str.isdigit, value)) and not is_name(value))
