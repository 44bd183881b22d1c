"""The programs in a shell command, and the paths that a call acts on, read from the words of the call.

Commands are split into words by the rules of POSIX shells and bash. Nothing is expanded or looked up.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from enum import Enum, auto
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

from agentwatch.analysis.files import named
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind

_PLAIN = re.compile(r"[^\s'\"\\;|&<>()`$]+")
_PLAIN_IN_QUOTES = re.compile(r'[^"\\`$]+')
_REDIRECTION = re.compile(r"[0-9]{0,3}(?:(&>>?|>>|>\||<>)|(<<<)|(<<-?)|[<>]&[0-9-]+|([<>]&?))")
_SEPARATOR = re.compile(r"&&|\|\||;;|[;|&)]")
_MOST_NESTED = 20
SUBSTITUTED: Final = "$"
"""The placeholder in a word for the text that a substitution would insert."""


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    """A word without its quotes."""
    FILE = auto()
    """The target of a redirection."""
    DOCUMENT = auto()
    """The text of a here-document or a here-string."""
    SEPARATOR = auto()
    """`;`, `|`, `&`, `&&`, `||`, a line end, or `)` without `(`."""
    OPEN = auto()
    """The beginning of a group or a substitution: `(`, `$(`, `<(` or a backquote."""
    CLOSE = auto()


class ShellToken(NamedTuple):
    """A word or a sign."""

    kind: Kind
    text: str


def shell_tokens(text: str) -> list[ShellToken]:
    """Split a command. Comments and arithmetic are left out.

    Example:
        >>> [token.text for token in shell_tokens("grep 'a b' x | wc")]
        ['grep', 'a b', 'x', '|', 'wc']
    """
    scanner = _Scanner(text)
    scanner.read()
    return scanner.found


class _Scanner:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.found: list[ShellToken] = []
        self._text = text
        self._at = 0
        self._word: str | None = None
        self._kind = Kind.WORD
        self._depth = 0
        self._documents: list[str] = []
        """The last lines of the here-documents that begin after this line."""

    def read(self, until: str = "") -> None:
        """Read up to a sign, or to the end."""
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == until:
                self._at += 1
                break
            if char == "\n":
                self._end_line()
            elif char.isspace():
                self._end_word()
                self._at += 1
            elif char == "#" and self._word is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif not self._quote(char) and not self._group(char) and not self._sign():
                plain = _PLAIN.match(text, self._at)
                self._add(plain[0] if plain else char)
                self._at += len(plain[0]) if plain else 1
        self._end_word()

    def _quote(self, char: str) -> bool:
        """Read a quote or a character after `\\`, if one is next."""
        text, at = self._text, self._at
        if char == "'":
            end = text.find("'", at + 1)
            end = len(text) if end < 0 else end
            self._add(text[at + 1 : end])
            self._at = end + 1
        elif char == "\\":
            self._at += 2
            if text[at + 1 : at + 2] != "\n":
                self._add(text[at + 1 : at + 2])
        elif char == '"':
            self._at += 1
            self._add("")
            self._read_quoted()
        else:
            return False
        return True

    def _read_quoted(self) -> None:
        """Read up to the end of a double quote."""
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == '"':
                self._at += 1
                return
            if char == "\\":
                following = text[self._at + 1 : self._at + 2]
                kept = following if following in '"\\$`' else char + following
                self._add("" if following == "\n" else kept)
                self._at += 2
            elif not self._group(char):
                plain = _PLAIN_IN_QUOTES.match(text, self._at)
                self._add(plain[0] if plain else char)
                self._at += len(plain[0]) if plain else 1

    def _group(self, char: str) -> bool:
        """Read a substitution or a variable, if one is next; outside of quotes also `( )`."""
        text, at = self._text, self._at
        if char == "`":
            self._nested("`", "`")
        elif text.startswith("$((", at):
            self._skip_to("))")
            self._add(SUBSTITUTED)
        elif text.startswith("${", at):
            self._skip_to("}")
            self._add(text[at : self._at])
        elif text.startswith("$(", at):
            self._nested("$(", ")")
        elif char == "$":
            self._at += 1
            if text[at + 1 : at + 2] != "'":  # $'…' is a quote
                self._add(char)
        else:
            return False
        return True

    def _sign(self) -> bool:
        """Read a parenthesis, a redirection or a separator, if one is next."""
        text, at = self._text, self._at
        if text.startswith(("<(", ">("), at):
            self._nested(text[at : at + 2], ")")
        elif text[at] == "(":
            self._open()
        elif (self._word is None or text[at] in "<>&") and (found := _REDIRECTION.match(text, at)):
            self._end_word()
            self._at = found.end()
            if found[1] or found[4]:
                self._kind = Kind.FILE
            elif found[2]:
                self._kind = Kind.DOCUMENT
            elif found[3]:
                self._kind = Kind.SEPARATOR  # the word that ends a here-document
        elif found := _SEPARATOR.match(text, at):
            self._end_word()
            self.found.append(ShellToken(Kind.SEPARATOR, found[0]))
            self._at = found.end()
        else:
            return False
        return True

    def _open(self) -> None:
        """Read `(…)`: a subshell, arithmetic, the `()` of a function, or the words of an array."""
        if self._text.startswith("((", self._at):
            self._skip_to("))")
        elif self._word is not None and self._word.endswith("="):
            self._skip_to(")")
        else:
            self._end_word()
            self._nested("(", ")")

    def _nested(self, sign: str, until: str) -> None:
        """Read a group up to its end. A group that is nested too deeply is read without its parentheses."""
        self._at += len(sign)
        if self._depth >= _MOST_NESTED:
            self.found.append(ShellToken(Kind.SEPARATOR, sign))
            return
        before = self._word, self._kind
        self._word, self._kind = None, Kind.WORD
        self._depth += 1
        self.found.append(ShellToken(Kind.OPEN, sign))
        self.read(until)
        self.found.append(ShellToken(Kind.CLOSE, until))
        self._depth -= 1
        self._word, self._kind = before
        if sign != "(":
            self._add(SUBSTITUTED)
        else:  # `f() {` defines a function; a group is the end of a command anyway
            self.found.append(ShellToken(Kind.SEPARATOR, until))

    def _skip_to(self, end: str) -> None:
        found = self._text.find(end, self._at)
        self._at = len(self._text) if found < 0 else found + len(end)

    def _add(self, text: str) -> None:
        self._word = (self._word or "") + text

    def _end_word(self) -> None:
        word, kind = self._word, self._kind
        if word is None:
            return
        self._word, self._kind = None, Kind.WORD
        if kind is Kind.SEPARATOR:
            self._documents.append(word)
        else:
            self.found.append(ShellToken(kind, word))

    def _end_line(self) -> None:
        """Read the end of a line, and the here-documents that follow it."""
        self._end_word()
        self._at += 1
        for last in self._documents:
            lines = []
            while self._at < len(self._text):
                line, newline, _ = self._text[self._at :].partition("\n")
                self._at += len(line) + len(newline)
                if line.lstrip("\t") == last:
                    break
                lines.append(line)
            self.found.append(ShellToken(Kind.DOCUMENT, "\n".join(lines)))
        self._documents.clear()
        self.found.append(ShellToken(Kind.SEPARATOR, "\n"))


SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "su"})
"""Programs that run the text after `-c`."""
WRAPPERS: Final = frozenset(
    (
        *("sudo", "doas", "env", "command", "exec", "nice", "nohup", "timeout", "builtin", "time", "stdbuf"),
        *("xargs", "setsid", "ionice", "watch", "npx", "bunx", "uvx"),
    )
)
"""Programs that start the program in their arguments."""
_RUN = frozenset({"run"})
_EXEC = frozenset({"exec", "dlx"})
RUNNERS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "hatch", "pdm", "pipx", "rye"), _RUN),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bundle"), _EXEC),
    "bun": frozenset({"x"}),
}
"""Programs that start another program after a subcommand: `uv run pytest`."""
OPTIONS_WITH_VALUE: Final[Mapping[str, frozenset[str]]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-T", "-U", "-R", "-D", "--user", "--group"}),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "--unset", "--chdir"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "time": frozenset({"-f", "-o"}),
    "watch": frozenset({"-n", "--interval"}),
    "exec": frozenset({"-a"}),
    "xargs": frozenset({"-I", "-n", "-P", "-d", "-L", "-s", "-a", "-E"}),
    "npx": frozenset({"-p", "--package"}),
    "uvx": frozenset({"--from", "--with", "-p", "--python"}),
    "uv": frozenset({"--with", "--from", "-p", "--python", "--directory", "--project", "--extra", "--group"}),
    "poetry": frozenset({"-C", "-P", "--directory", "--project"}),
    "pnpm": frozenset({"-C", "--dir", "--filter", "-F"}),
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"}),
    "npm": frozenset({"--prefix", "-w", "--workspace"}),
    "yarn": frozenset({"--cwd"}),
    "cargo": frozenset({"-C", "--config"}),
}
"""Options whose next word is a value, not a program or a subcommand."""
_SUBCOMMANDS = frozenset({"git", "npm", "pnpm", "yarn", "cargo", "uv", "poetry"})
"""Programs whose options before the subcommand are left out of what a command runs."""
_DELETERS = frozenset({"rm", "rmdir", "unlink", "shred"})
RUNS_NEXT: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""Options of `find` before a program."""
HEADS: Final = frozenset({"for", "case", "select", "function"})
"""Keywords before words that are not programs."""
KEYWORDS: Final = HEADS | {
    *("then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "done", "fi", "esac", "in"),
}
"""Keywords in the place of a program."""


_RISKY = (
    *("rm", "rmdir", "unlink", "shred", "truncate", "dd", "mkfs", "fdisk", "mv", "chmod", "chown", "kill"),
    *("pkill", "killall", "crontab", "systemctl", "shutdown", "reboot", "curl", "wget", "nc", "ssh", "scp"),
    *("rsync", "eval", "exec", "source", "sudo", "doas", "base64", "printenv", "publish", "push", "reset"),
    *("clean", "rebase", "filter-branch", *sorted(SHELLS)),
)
"""Words of a command that a person should see before the command is allowed."""
_RISKS = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(_RISKY)})(?![\w-])"
    r"|(?<!\S)(?:--force\S*|--hard|--no-verify|--yes|--recursive|-[a-zA-Z]*[rRf][a-zA-Z]*)(?!\S)"
    r"|\.env\b|\.ssh\b|\.aws\b|\.netrc\b|\bid_(?:rsa|ed25519)|credentials?|(?<![\w/])/(?:etc|dev)/"
    r"|[|`;]|\$\(|&&|>{1,2}|<\("
    r"|[\u2400-\u2421\ufffd]|<[89][0-9A-F]>|<U\+[0-9A-F]{4,6}>"
)
"""Those words, the signs that join commands, and those that `safe_text` shows for control characters."""


def risks_in(text: str) -> list[tuple[int, int]]:
    """Return the beginning and the end of each dangerous word of a line, in linear time.

    Example:
        >>> [text[a:b] for text in ["ls && sudo rm -rf build"] for a, b in risks_in(text)]
        ['&&', 'sudo', 'rm', '-rf']
    """
    return [found.span() for found in _RISKS.finditer(text)]


_MOST_CHARACTERS = 4096
_MOST_READ = 512
"""Commands whose words are kept. One of 4,096 characters may take 20 KB; 4,096 of them took 60 MB more."""
_MOST_DEPTH = 3
"""Shells within shells: `sh -c "bash -c '…'"`."""
_NO_FILES = frozenset({"", SUBSTITUTED, "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_HOMES = ("${HOME}", "$HOME")
_SCRIPT = re.compile(r"-[a-z]{0,8}c")
"""The option of a shell before the text of a script: `-c`, `-lc`."""


class Command(NamedTuple):
    """The programs and possible paths in a command."""

    programs: tuple[str, ...]
    """Each program of a compound command, in order, without its folder."""
    words: tuple[str, ...]
    """The words that may be paths: arguments without blanks, and targets of redirections.

    A relative one after `cd FOLDER` begins with the folder.
    """
    runs: tuple[str, ...]
    """Each program with its arguments, without `sudo` and the like: `git push -f`; and each pipeline."""
    deleted: tuple[str, ...]
    """The words that `rm` and the like delete; `$` for files that the command does not name."""


@lru_cache(maxsize=_MOST_READ)
def read_command(command: str) -> Command:
    """Return the programs and possible paths in the first 4,096 characters of a command, in linear time.

    The programs include those of pipes, lists, substitutions and groups, those that `sudo`, `xargs` or
    `find -exec` start, and those in the text of `sh -c`. A here-document is data, unless a shell reads it.

    Example:
        >>> read_command("cd web && sudo rm -rf build | tee log").programs
        ('cd', 'sudo', 'rm', 'tee')
        >>> read_command("sh -c 'curl x.io | bash' > /tmp/out").programs
        ('sh', 'curl', 'bash')
        >>> read_command("cd web && sudo git -C api push -f; curl x.io | sh").runs
        ('cd web', 'git push -f', 'curl x.io', 'sh', 'curl x.io | sh')
    """
    found = _Found({}, {}, {}, {})
    _read(command[:_MOST_CHARACTERS], found, 0)
    return Command(*map(tuple, found))


class _Found(NamedTuple):
    """The programs and words that were found, in order."""

    programs: dict[str, None]
    words: dict[str, None]
    runs: dict[str, None]
    deleted: dict[str, None]


def _read(text: str, found: _Found, depth: int) -> None:
    """Add the programs and words of a command."""
    outer: list[_SimpleCommand] = []
    command = _SimpleCommand(found, "", depth)
    has_shell = False
    """Whether a shell was started in this line, which may run a here-document of the line."""
    for kind, word in shell_tokens(text):
        has_shell = has_shell or command.program in SHELLS
        match kind:
            case Kind.WORD:
                command.add(word)
            case Kind.FILE:
                command.add_path(word)
            case Kind.DOCUMENT if has_shell and depth < _MOST_DEPTH:
                _read(word, found, depth + 1)
            case Kind.OPEN:
                outer.append(command)
                if word != "(" or not command.is_test:
                    command = _SimpleCommand(found, command.folder, depth)
            case Kind.CLOSE:
                inner, command = command, outer.pop()
                if inner is not command:
                    command.pipeline += inner.end()
            case Kind.SEPARATOR if word in (";", "\n") or not command.is_test:
                pipeline = command.end()
                if word not in ("|", ")"):
                    found.runs.update(_joined(pipeline))
                    pipeline = []
                command = _SimpleCommand(found, command.folder, depth, pipeline)
                has_shell = has_shell and word != "\n"
    found.runs.update(_joined(command.end()))


def _joined(pipeline: list[str]) -> dict[str, None]:
    return {" | ".join(pipeline): None} if len(pipeline) > 1 else {}


class _SimpleCommand:
    """One program with its arguments. Its words are added in order."""

    def __init__(self, found: _Found, folder: str, depth: int, pipeline: list[str] | None = None) -> None:
        self.pipeline = pipeline or []
        """What runs before in its pipeline, and in the substitutions that are its arguments."""
        self._line: list[str] = []
        """The last program that was found, and its arguments."""
        self.folder = folder
        """The folder of the command, relative to that of the whole text."""
        self.program = ""
        """The last program that was found."""
        self._found = found
        self._depth = depth
        self._wants_program = True
        self._run_words: frozenset[str] = frozenset()
        """If not empty, one of these words must come before the program: `run` after `uv`."""
        self._before = ""

    @property
    def is_test(self) -> bool:
        """Whether the command is `[[ … ]]`, in which `&&` and `(` begin no command."""
        return self.program == "[[" and self._before != "]]"

    def add(self, word: str) -> None:
        """Add a word."""
        before, self._before = self._before, word
        is_value = before in OPTIONS_WITH_VALUE.get(self.program, ())
        is_left_out = self.program in _SUBCOMMANDS and (is_value or word.startswith("-"))
        if self._line and not (is_left_out and len(self._line) == 1):
            self._line.append(f"'{word}'" if not word or any(map(str.isspace, word)) else word)
        if self._wants_program:
            if not is_value and not self._is_no_program(word):
                self._begin(word.rpartition("/")[2], word)
        elif self._depth < _MOST_DEPTH and self._is_script(before):
            _read(word, self._found, self._depth + 1)
        elif before in RUNS_NEXT or (before == "-m" and self.program.startswith("python")):
            self._found.programs.setdefault(word.rpartition("/")[2])
            if before == "-m":
                self._line = [word]
        else:
            path = self.add_path(word)
            if path and self.program in _DELETERS:
                self._found.deleted.setdefault(path)
            if self.program == before == "cd":
                self.folder = posixpath.join(self.folder, word)

    def end(self) -> list[str]:
        """Add what the command runs and deletes, and return it with what runs before in its pipeline."""
        if not self._line:
            return self.pipeline
        text = " ".join(self._line)
        self._found.runs.setdefault(text)
        words = self._line[1:]
        if self.program == "find" and ("-delete" in words or not _DELETERS.isdisjoint(words)):
            for word in takewhile(lambda word: word[0] not in "-(!", words):
                self._found.deleted.setdefault(self.add_path(word) or SUBSTITUTED)
        elif self.program in _DELETERS and all(word[0] == "-" for word in words):  # after `xargs`
            self._found.deleted.setdefault(SUBSTITUTED)
        return [*self.pipeline, text]

    def add_path(self, word: str) -> str:
        """Add and return a word that may be a path: `x` of `--out=x` and of `of=x`; empty if it is not."""
        word = word.rpartition("=")[2]
        if word in _NO_FILES or word.startswith("-") or "://" in word or any(map(str.isspace, word)):
            return ""
        for home in _HOMES:
            if word.startswith(home) and word[len(home) : len(home) + 1] in ("", "/"):
                word = "~" + word[len(home) :]
        path = word if word[0] in "~$" else posixpath.join(self.folder, word)
        self._found.words.setdefault(path)
        return path

    def _begin(self, name: str, word: str) -> None:
        """Add the program, or a word before it."""
        if self._run_words:
            self._wants_program, self._run_words = name in self._run_words, frozenset()
            if not self._wants_program:
                self.add_path(word)
            return
        if name in KEYWORDS:
            self._wants_program = name not in HEADS
            return
        self._found.programs.setdefault(name)
        self.program, self._line = name, [name]
        self._run_words = RUNNERS.get(name, frozenset())
        self._wants_program = name in WRAPPERS or bool(self._run_words)

    def _is_no_program(self, word: str) -> bool:
        """Return whether a word before the program is an option, an assignment or a number of `timeout`."""
        if not word or word[0] == "-" or "=" in word.partition("/")[0]:
            return True
        return bool(self.program) and word[0].isdigit()

    def _is_script(self, before: str) -> bool:
        """Return whether the next word is the text of a script."""
        return self.program == "eval" or (self.program in SHELLS and bool(_SCRIPT.fullmatch(before)))


_FILES = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})


def paths_of(call: Call, cwd: str | None) -> tuple[str, ...] | None:
    """Return the paths of a call, both relative to the cwd and absolute, with `..` resolved.

    The paths of a command are those of its words that may be paths. Links are not followed: the files are
    those of another time, and perhaps of another machine.

    Returns:
        None if the call is about a file and its path is unknown.
    """
    words = words_of(call)
    if not words and call.kind in _FILES:
        return None
    return tuple(dict.fromkeys(each for word in words for each in _named(word, cwd)[:2]))


def words_of(call: Call) -> tuple[str, ...]:
    """Return the paths of a call, as the agent or its command writes them."""
    if call.kind is ToolKind.EXECUTE:
        return read_command(call.target or "").words
    if not call.more_paths:
        return (call.path,) if call.path else ()
    return tuple(path for path in (call.path, *call.more_paths) if path)


def is_outside(call: Call, cwd: str | None) -> bool | None:
    """Return whether a call acts on a file outside the cwd; None if its path or the cwd is unknown.

    `~` counts as outside, unless the cwd is below it too, as in a redacted recording. A word of a command
    counts only if it is a path with `/` or `..`. A path that begins with a variable is unknown.
    """
    words = words_of(call)
    if call.kind is ToolKind.EXECUTE:
        words = tuple(word for word in words if "/" in word or word in ("~", ".."))
    if not words:
        return None if call.kind in _FILES else False
    if cwd is None:
        return None
    is_redacted = cwd.startswith("~")
    if any((word[0] == "~" and not is_redacted) or _named(word, cwd)[2] for word in words if word[0] != "$"):
        return True
    return None if any(word[0] == "$" for word in words) else False


_TEMPORARY = ("/tmp/", "/var/tmp/", "/var/folders/")  # noqa: S108 - only compared


def deleted_places(call: Call, cwd: str | None) -> tuple[str, ...] | None:
    """Return where the files are that a call deletes: `inside` or `outside` of the cwd, or `temporary`.

    Returns:
        None if one of them is unknown, and none of the others is outside.
    """
    is_command = call.kind is ToolKind.EXECUTE
    words = words_of(call) if call.kind is ToolKind.DELETE else ()
    if is_command:
        words = read_command(call.target or "").deleted
    found: set[str | None] = set() if words or call.kind is not ToolKind.DELETE else {None}
    for word in words:
        if word[0] == "$":
            found.add(None)
        elif word[0] == "~":
            found.add("inside" if cwd is not None and cwd.startswith("~") else "outside")
        elif cwd is None and word[0] != "/":
            found.add(None)
        else:
            path, _, is_out = _named(word, cwd)
            is_temporary = path.removeprefix("/private").startswith(_TEMPORARY)
            found.add("inside" if not is_out and cwd else "temporary" if is_temporary else "outside")
    if None in found and "outside" not in found:
        return None
    return tuple(sorted(filter(None, found)))


@lru_cache(maxsize=4096)
def _named(path: str, cwd: str | None) -> tuple[str, str, bool]:
    """Return the absolute path, the path relative to the cwd, and whether it is outside the cwd."""
    key, shown, is_outside = named(path, cwd)
    return key, shown if is_outside else posixpath.normpath(shown), is_outside
