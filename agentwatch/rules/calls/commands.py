"""What a shell command runs, deletes and reads. A variable has the values that the command gives it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise, takewhile, zip_longest
from typing import Final, NamedTuple

from agentwatch.analysis.shell import MOST_NESTED, SUBSTITUTED, Kind, ShellToken, shell_tokens
from agentwatch.session.tool_kind import MOST_COMMAND

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "su"})
"""Programs that run the text after `-c`, and all but `su` the text on stdin."""
WRAPPERS: Final = frozenset(
    (
        *("sudo", "doas", "env", "command", "exec", "nice", "nohup", "timeout", "builtin", "time", "stdbuf"),
        *("xargs", "parallel", "setsid", "ionice", "watch", "npx", "bunx", "uvx", "gtimeout", "caffeinate"),
        *("strace", "systemd-run", "pkexec", "runuser", "unshare", "nsenter", "busybox", "coproc"),
        *("chroot", "flock", "taskset", "chrt", "script"),
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
_BEFORE_PROGRAM = frozenset({"chroot", "flock", "taskset", "chrt", "script"})
"""Wrappers with another word before the program."""
_OF_SCRIPT = frozenset({"-c", "--command", "-qc", "-S", "--split-string", "--call"})
"""Options of wrappers before a text that a shell runs."""
_WITH_SCRIPT = frozenset({"env", "script", "flock", "runuser", "npx"})
"""The wrappers that have such options."""
_OPTIONS_WITH_VALUE: Final[Mapping[str, frozenset[str]]] = {
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
    "python": frozenset({"-W", "-X"}),
    **dict.fromkeys(SHELLS, frozenset({"-O", "+O", "--rcfile", "--init-file"})),
}
"""Options whose next word is a value, not a program, a subcommand or a script."""
_SUBCOMMANDS = frozenset({"git", "npm", "pnpm", "yarn", "cargo", "uv", "poetry"})
"""Programs whose options before the subcommand are left out of what a command runs."""
_GIT_VALUES: Mapping[str, str] = {"commit": "mFCctSu", "push": "o"}
"""The letters of git's options after which a value follows, by the subcommand."""
_DELETERS = frozenset({"rm", "rmdir", "unlink", "shred", "rimraf"})
_RUNS_NEXT = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""Options of `find` before a program."""
_READERS = frozenset(
    (
        *("cat", "tac", "nl", "head", "tail", "less", "more", "bat", "batcat", "view", "vi", "vim"),
        *("nvim", "nano", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk"),
        *("perl", "cut", "sort", "uniq", "paste", "join", "comm", "diff", "cmp", "fold", "fmt", "rev"),
        *("xxd", "od", "hexdump", "hd", "strings", "base64", "base32", "openssl", "gzip", "jq", "yq"),
        *("split", "pr", "column", "expand", "iconv", "shuf", "look", "wc", "pbcopy", "xclip", "gpg"),
        *("age", "tar", "zip", "7z", "nc", "dd", "curl", "wget", "http", "https", "xh", "git", "cp"),
        *("scp", "rsync", "install", "mapfile", "readarray", "python", "python3", "node", "ruby", "php"),
    )
)
"""Programs that print, copy or send the files that their arguments name."""
_COPIERS = frozenset({"cp", "scp", "rsync", "install"})
"""The programs of `_READERS` that write to their last argument."""
_GIT_READS = frozenset({"diff", "show", "log", "blame", "grep", "cat-file", "annotate"})
_PRINTERS = frozenset({"echo", "printf"})
_FILTERS = frozenset({"grep", "egrep", "rg", "sort", "uniq", "head", "tail", "tac", "tee"})
"""Programs that print lines of what they read."""
_SENDERS = frozenset({"curl", "wget", "http", "https", "xh"})
_SENDS = ("--upload-file=", "-T=", "--post-file=", "--body-file=")
"""The options of these programs before a file, each with the sign between the two."""
_DOWNLOADERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https", "xh"})
_INTERPRETER = re.compile("(?:python|pypy)[0-9.]{0,6}|node|deno|bun|perl|ruby|php|lua|osascript|Rscript|pwsh")
"""Programs that run a file in another language than the shell's."""
_ASSIGNERS = frozenset({"export", "local", "declare", "typeset", "readonly"})
_OPENING = frozenset({"{", "if", "while", "until"})
_HEADS = frozenset({"for", "select", "case"})
"""Keywords before words that are not programs."""
_CLOSING = frozenset({"}", "done", "fi", "esac"})
_KEYWORDS = frozenset({"then", "do", "else", "elif", "!"})

RISKY: Final = SHELLS | frozenset(
    (
        *("rm", "rmdir", "unlink", "shred", "truncate", "dd", "mkfs", "fdisk", "mv", "chmod", "chown"),
        *("kill", "pkill", "killall", "crontab", "systemctl", "launchctl", "shutdown", "reboot", "mount"),
        *("curl", "wget", "nc", "ssh", "scp", "rsync", "eval", "exec", "source", "sudo", "doas"),
        *("base64", "printenv", "tee", "xargs", "parallel", "osascript"),
    )
)
"""Programs that a person should see before a command is allowed."""
_CODE = re.compile(r"-[A-Za-z]{0,6}[ceErp]|--eval|--print|eval|-(?:Encoded)?Command")
"""The options of interpreters before a text that they run."""
_CONTAINER = re.compile("(?s)-v|--(?:volume|mount|privileged|pid|cap-add|network|device)(?:=.{0,1000})?")
_FOUND = re.compile("-delete|-exec|-execdir|-ok|-okdir")
_RISKY_OPTIONS: Mapping[str, re.Pattern[str]] = {
    "find": _FOUND,
    **dict.fromkeys(("docker", "podman", "nerdctl"), _CONTAINER),
}
_MOST_CACHED = 4096
_MOST_READ = 512
"""Commands of at most 4,096 characters whose words are kept. One may take 20 KB; 4,096 of them took 60 MB."""
_MOST_DEPTH = 3
"""Shells within shells: `sh -c "bash -c '…'"`."""
_MOST_SCRIPTS = 2 * MOST_COMMAND
"""Characters of the scripts in a command, and of the values of its variables. More are not read."""
_MOST_PATH = 4096
_MOST_VALUES = 20
"""Values of a variable."""
_MOST_FINDS = 3
"""Programs that start each other by `find -exec`."""
_NO_FILES = frozenset({"", SUBSTITUTED, "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_HOMES = ("${HOME}", "$HOME")
_SCRIPT = re.compile(r"-[a-z]{0,8}c[a-z]{0,8}")
"""The option of a shell before the text of a script: `-c`, `-lc`."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,200})\+?=")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z0-9_@*]{1,200})\}|([A-Za-z_][A-Za-z0-9_]{0,200}|[0-9@*]))")
_CLUSTER = re.compile(r"-[A-Za-z]{1,12}")
_REMOTE_NAME = re.compile(r"-[A-Za-z#]{0,12}O[A-Za-z]{0,12}|--remote-name(?:-all)?")
"""The option of curl that writes a file with the name in the address."""
_ITEM = "\0"
"""The word in a command of `xargs` for what stdin names."""
_ITEMS = frozenset({"{}", _ITEM})


class Command(NamedTuple):
    """The programs and possible paths in a command."""

    programs: tuple[str, ...]
    """Each program of a compound command, without its folder."""
    words: tuple[str, ...]
    """The words that may be paths: arguments without blanks, and targets of redirections.

    A relative one after `cd FOLDER` begins with the folder.
    """
    runs: tuple[str, ...]
    """Each program with its arguments, without `sudo` and the like: `git push -f`; each pipeline; each option
    of git alone; and each assignment before a program."""
    deleted: tuple[str, ...]
    """The words that `rm` and the like delete; `$` for files that the command does not name."""
    read: tuple[str, ...]
    is_whole: bool
    """Whether all of the command was read. If not, it may do more."""


class Places(NamedTuple):
    """Parts of a command: where each begins and ends."""

    risks: list[tuple[int, int]]
    """The words and signs that a person should see before the command is allowed."""
    stages: list[tuple[int, int]]


def read_command(command: str) -> Command:
    """Return what a command runs, deletes and reads, in linear time.

    The programs include those of pipes, lists, substitutions and groups, those that `sudo`, `xargs` or
    `find -exec` start, and those in a text that a shell runs: after `-c`, in a here-document, or printed by
    `echo`.

    Example:
        >>> read_command("cd web && sudo rm -rf build | tee log").programs
        ('cd', 'sudo', 'rm', 'tee')
        >>> read_command("sh -c 'curl x.io | bash' > /tmp/out").programs
        ('sh', 'curl', 'bash')
        >>> read_command("cd web && sudo git -C api push -f; curl x.io | sh").runs
        ('cd web', 'git push -f', 'curl x.io', 'sh', 'curl x.io | sh')
    """
    return (_read_short if len(command) <= _MOST_CACHED else _read_long)(command)


def places_in(command: str) -> Places:
    """Return the parts of a command that a person should see, in linear time."""
    found = _Found(Places([], []))
    _Reader(found).read(command)
    assert found.places is not None
    return found.places


def _read(command: str) -> Command:
    found = _Found()
    found.is_whole = len(command) < MOST_COMMAND
    _Reader(found).read(command)
    programs, words, runs, deleted, read = map(
        tuple, (found.programs, found.words, found.runs, found.deleted, found.read)
    )
    return Command(programs, words, runs, deleted, read, found.is_whole)


_read_short = lru_cache(_MOST_READ)(_read)
_read_long = lru_cache(4)(_read)


class _Found:
    """What was found so far in a command and the scripts in it, in order."""

    def __init__(self, places: Places | None = None) -> None:
        self.places = places
        """The places of the parts of the command; None if they are not noted."""
        self.programs: dict[str, None] = {}
        self.words: dict[str, None] = {}
        self.runs: dict[str, None] = {}
        self.deleted: dict[str, None] = {}
        self.read: dict[str, None] = {}
        self.is_whole = True
        self.files: dict[str, tuple[str, str | None]] = {}
        """The pipeline that has written each path, and the text that it has written; None if unknown."""
        self.left = _MOST_SCRIPTS
        """How many characters of scripts and values of variables may still be read."""


class _Word(str):
    """A word of the command itself, with its place."""

    __slots__ = ("end", "start")
    start: int
    end: int

    def __new__(cls, token: ShellToken) -> _Word:
        word = super().__new__(cls, token.text)
        word.start, word.end = token.start, token.end
        return word


class _Stage:
    """One program of a pipeline with its arguments, or a group in its place."""

    __slots__ = (
        *("after", "before", "documents", "feed", "given", "head", "inputs", "is_data", "items"),
        *("known", "outputs", "printed", "text", "words"),
    )

    def __init__(self, feed: _Stage | None = None) -> None:
        self.words: list[str] = []
        self.head = ""
        self.is_data = False
        """Whether the words are those of an array."""
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.documents: list[str] = []
        self.before: list[str] = []
        """The programs that run in the substitutions among the words."""
        self.after: list[str] = []
        """The programs that run in `>(…)`."""
        self.known: str | None = None
        """The text that the last substitution inserts; None if it is unknown."""
        self.given: tuple[str, ...] | None = None
        """The paths that it inserts, or that are above them, if that is known."""
        self.feed = feed
        """The stage before in the pipeline."""
        self.text = ""
        self.printed: str | None = None
        """The text that the stage prints; None if it is unknown."""
        self.items: tuple[str, ...] | None = None
        """The paths that the lines of the output name, or that are above them, if that is known."""


class _Group(NamedTuple):
    sign: str
    outer: _Stage
    pipeline: list[str]
    """The programs that ran before in the pipeline of the outer stage."""
    folder: str
    lines: list[str]

    @property
    def has_keyword(self) -> bool:
        """Whether a keyword has opened it: `{`, `if`, `for`."""
        return self.sign.isalpha() or self.sign == "{"


class _Reader:
    def __init__(self, found: _Found, folder: str = "", depth: int = 0) -> None:
        self._found = found
        self._folder = folder
        self._depth = depth
        self._places = found.places if not depth else None
        self._stage = _Stage()
        self._pipeline: list[str] = []
        self._groups: list[_Group] = []
        self._last = self._stage
        self.variables: dict[str, tuple[str, ...]] = {}
        self.items: tuple[str, ...] | None = None
        """The values of `{}`."""
        self._fetched: dict[str, str] = {}
        """The pipeline whose output a variable has, by the variable."""
        self._line_end: tuple[int, int] | None = None
        """The place of the line end before the present word."""
        self._has_ended = False
        self._tests = 0
        """Parentheses that are open in `[[ … ]]`."""
        self._finds = 0

    def read(self, text: str) -> None:
        tokens, is_whole = shell_tokens(text)
        for token in tokens:
            (kind, word, start, end), stage = token, self._stage
            match kind:
                case Kind.WORD:
                    self._add(word if self._places is None else self._placed(token), end - start == len(word))
                case Kind.OUTPUT:
                    stage.outputs.append(word)
                case Kind.INPUT:
                    stage.inputs.append(word)
                case Kind.DOCUMENT:
                    stage.documents.append(word)
                case Kind.OPEN:
                    self._open(word)
                    self._mark_sign(token)
                case Kind.CLOSE:
                    self._close()
                case Kind.SEPARATOR:
                    self._mark_sign(token)
                    self._separate(word)
        self._found.is_whole = self._found.is_whole and is_whole and not self._groups
        while self._groups:
            self._end_group()
        self._end_pipeline()

    def _mark_sign(self, token: ShellToken) -> None:
        """Note the place of a sign that joins commands; a line end does if a command is on both sides."""
        if self._places is None:
            return
        if token.text == "\n":
            self._line_end = (token.start, token.end) if self._has_ended or self._stage.words else None
        elif token.end > token.start and not _is_test(self._stage.words):
            self._places.risks.append((token.start, token.end))

    def _placed(self, token: ShellToken) -> _Word:
        """Return a word with its place; note the place of a line end before it."""
        if self._places is not None and self._line_end is not None:
            self._places.risks.append(self._line_end)
        self._line_end = None
        return _Word(token)

    def _mark(self, word: str, *, is_risk: bool = True) -> None:
        if is_risk and self._places is not None and isinstance(word, _Word):
            self._places.risks.append((word.start, word.end))

    def _add(self, word: str, is_plain: bool) -> None:
        stage, group = self._stage, self._groups[-1] if self._groups else None
        if stage.is_data and not (word == "esac" and group is not None and group.sign == "case"):
            return
        if is_plain and not stage.words and not stage.head:
            if word in _OPENING or word in _HEADS:
                self._begin_group(word)
                return
            if word in _CLOSING:
                if group is not None and group.has_keyword:
                    self._end_group()
                return
            if word in _KEYWORDS:
                return
            if word == "function":
                stage.head = word
                return
        if is_plain and word == "{" and stage.head == "function":
            self._stage = _Stage()
            self._begin_group(word)
            return
        stage.words.append(word)

    def _begin_group(self, sign: str) -> None:
        if len(self._groups) >= 2 * MOST_NESTED:
            self._found.is_whole = False
            return
        outer = self._stage
        self._groups.append(_Group(sign, outer, self._pipeline, self._folder, []))
        self._stage, self._pipeline = _Stage(outer.feed), []
        self._stage.head = sign if sign in _HEADS else ""

    def _end_group(self) -> None:
        self._end_pipeline()
        group = self._groups.pop()
        sign, outer, self._pipeline, folder, lines = group
        self._stage, inside, last = outer, "; ".join(lines), self._last
        self._folder = self._folder if group.has_keyword else folder
        if sign == ">(":
            outer.after.append(inside)
        elif sign in ("$(", "<(", "`"):
            outer.before += [inside] if inside else []
            outer.known, outer.given = last.printed, last.items
        elif sign == "(" and outer.words:  # `f() {` defines a function
            self._stage = _Stage(outer.feed)
        elif sign != "=(":
            outer.text, outer.printed, outer.items = inside, last.printed, last.items

    def _open(self, sign: str) -> None:
        stage = self._stage
        if sign == "(" and _is_test(stage.words):
            self._tests += 1
        else:
            self._begin_group(sign)
            self._stage.is_data = sign == "=("

    def _close(self) -> None:
        if self._tests:
            self._tests -= 1
            return
        while self._groups:
            has_keyword = self._groups[-1].has_keyword
            self._end_group()
            if not has_keyword:
                return

    def _separate(self, sign: str) -> None:
        stage, is_in_case = self._stage, bool(self._groups) and self._groups[-1].sign == "case"
        if (sign not in (";", "\n") and _is_test(stage.words)) or (stage.is_data and sign in ("|", "\n")):
            return
        if sign == ")" and is_in_case:
            self._stage = _Stage()
        elif is_in_case and (stage.head or sign[:2] in (";;", ";&")):
            self._end_pipeline()
            self._stage.is_data = True  # the words of a pattern
        elif sign == "|":
            self._end_stage()
            self._stage = _Stage(stage)
        elif sign == ")":
            if stage.words:
                self._end_pipeline()
        elif sign != "\n" or stage.words or stage.head or stage.text or not self._pipeline:
            self._end_pipeline()  # a line end after `|` is none

    def _end_pipeline(self) -> None:
        stage = self._end_stage()
        line = " | ".join(self._pipeline)
        if stage.text and len(self._pipeline) > 1:
            self._found.runs.setdefault(line)
        for path in stage.outputs:
            self._wrote(path, line, stage.printed)
        if line and self._groups:
            self._groups[-1].lines.append(line)
        self._stage, self._pipeline = _Stage(), []

    def _end_stage(self) -> _Stage:
        stage = self._last = self._stage
        for path in stage.inputs:
            self._add_path(path)
            self._add_read(path)
        for path in stage.outputs:
            self._add_path(path)
        if stage.head:
            self._loop(stage)
        elif not stage.text and (words := stage.words):
            first, last = words[0], words[-1]
            if self._places is not None and isinstance(first, _Word) and isinstance(last, _Word):
                self._places.stages.append((first.start, last.end))
            stage.text = self._run(self._expanded(stage.words), stage)
        self._pipeline += [*stage.before, *([stage.text] if stage.text else ()), *stage.after]
        return stage

    def _loop(self, stage: _Stage) -> None:
        """Read the words after `for`: the variable, and its values after `in`."""
        name, *values = self._expanded(stage.words) or [""]
        self.variables.pop(name, None)
        if values == ["in", SUBSTITUTED] and stage.given is not None:
            self.variables[name], self.items = ("{}",), stage.given
        elif values[:1] == ["in"] and not any(SUBSTITUTED in each for each in values):
            self.variables[name] = tuple(values[1 : _MOST_VALUES + 1])

    def _expanded(self, words: Sequence[str]) -> list[str]:
        if not self.variables:
            return [*words]
        found = [each for word in words for each in (self._values(word) if "$" in word else (word,))]
        if found and words[0][:1] == "$":  # a program with its arguments
            found[:1] = found[0].split()
        return found

    def _values(self, word: str) -> Sequence[str]:
        found = _VARIABLE.search(word)
        values = None if found is None else self.variables.get(found[1] or found[2])
        if found is None or values is None:
            return (word,)
        self._found.left -= sum(len(word) + len(value) for value in values)
        if self._found.left < 0:
            self._found.is_whole = False
            return (word,)
        return [f"{word[: found.start()]}{value}{word[found.end() :]}" for value in values]

    def _run(self, words: Sequence[str], stage: _Stage) -> str:
        """Add a program with its arguments; return it as it is written, without those that start it."""
        name = ""
        for _ in range(MOST_NESTED):
            assigned = [*takewhile(_ASSIGNMENT.match, words)]
            words = words[len(assigned) :]
            for each in assigned:
                self._assign(each, stage, is_kept=not (name or words))
            if not words:
                return name
            name = words[0].rpartition("/")[2]
            self._found.programs.setdefault(name)
            self._has_ended = True
            self._mark(words[0], is_risk=name in RISKY)
            inner = self._started(name, words[1:], stage)
            if not inner:
                return self._program(name, words[0], words[1:], stage)
            words = inner
        self._found.is_whole = False
        return name

    def _assign(self, word: str, stage: _Stage, *, is_kept: bool) -> None:
        """Read `NAME=VALUE`: a variable of the script if it is kept, otherwise one of a program."""
        name, _, value = word.partition("=")
        name = name.rstrip("+")
        if not is_kept:
            self._found.runs.setdefault(word)
        elif SUBSTITUTED not in value and not word.startswith(f"{name}+"):
            self.variables[name] = (value,)
        else:
            self.variables.pop(name, None)
            if value == SUBSTITUTED and stage.before:
                self._fetched[name] = stage.before[-1]

    def _started(self, name: str, words: Sequence[str], stage: _Stage) -> Sequence[str]:
        """Return the words of the program that a program starts; empty if it starts none that is known."""
        subcommands = RUNNERS.get(name)
        is_python = name.startswith("python")
        if subcommands is None and name not in WRAPPERS and not is_python:
            return ()
        if name == "command" and words[:1] and words[0] in ("-v", "-V"):
            return ()
        options = _OPTIONS_WITH_VALUE.get("python" if is_python else name, ())
        at, skipped = 0, name in _BEFORE_PROGRAM
        while at < len(words):
            word = words[at]
            if name in _WITH_SCRIPT and word in _OF_SCRIPT and at + 1 < len(words):
                self._script(words[at + 1])
                return ()
            if word[:1] == "-" or (word[:1] == "+" and name == "timeout"):
                if is_python and word == "-m":
                    return words[at + 1 :]
                at += 1 + (word in options)
            elif is_python:
                return ()
            elif subcommands is not None:
                if word not in subcommands:
                    return ()
                subcommands, at = None, at + 1
            elif skipped or not word or word[0].isdigit():
                skipped, at = skipped and word[:1].isdigit(), at + 1
            else:
                break
        if name in ("xargs", "parallel"):
            return self._with_items(words[:at], words[at:], stage)
        if name == "watch" and len(words) == at + 1:
            self._script(words[at])
            return ()
        return words[at:]

    def _with_items(self, options: Sequence[str], words: Sequence[str], stage: _Stage) -> Sequence[str]:
        """Return the words of a program with those that stdin names, as `{}`; keep what they stand for."""
        words = [*words]
        self.items = None if stage.feed is None else stage.feed.items
        if stage.documents:
            self.items = tuple("".join(stage.documents).split()[:_MOST_VALUES])
        if ":::" in words:
            self.items = tuple(words[words.index(":::") + 1 :][:_MOST_VALUES])
            words = words[: words.index(":::")]
        pairs = pairwise([*options, ""])
        if place := next((each[2:] or value for each, value in pairs if each[:2] == "-I"), ""):
            return [each.replace(place, "{}") for each in words]
        return [*words, *(() if not words or "{}" in words else (_ITEM,))]

    def _program(self, name: str, word: str, words: Sequence[str], stage: _Stage) -> str:
        """Add a program with its arguments, and return them as text."""
        shown = [each for each in words if each != _ITEM]
        if name in _SUBCOMMANDS:
            shown = self._subcommand(name, shown)
        text = " ".join([name, *map(_quoted, shown)])
        self._found.runs.setdefault(text)
        if self._fetched:
            names = (found[1] or found[2] for found in map(_VARIABLE.fullmatch, words) if found is not None)
            stage.before += [self._fetched[each] for each in names if each in self._fetched]
        is_script = False
        if self._places is not None:
            self._mark_options(name, words)
        if name in SHELLS:
            is_script = self._shell(name, words, stage)
        elif name == "eval" or (name == "trap" and words and words[0][:1] != "-"):
            is_script = True
            self._script(" ".join(words) if name == "eval" else words[0], stage)
        elif name in (".", "source") or _INTERPRETER.fullmatch(name):
            file = next((each for each in words if each[:1] != "-"), "")
            if file == SUBSTITUTED and stage.known is not None and name in (".", "source"):
                self._script(stage.known)
            self._run_file(file, name)
        elif name == "find":
            self._find(words, stage)
        elif name == "read":
            self._read_line(words)
        elif name in _ASSIGNERS:
            for each in filter(_ASSIGNMENT.match, words):
                self._assign(each, stage, is_kept=True)
                self._found.runs.setdefault(each)
        elif "/" in word:
            self._run_file(word, f"./{name}")
        if not is_script:
            self._arguments(name, words, stage)
        if name in ("cd", "pushd"):
            folder = next((each for each in words if each[:1] != "-"), "$" if words else "~")
            self._folder = self._path(folder)
        self._prints(name, words, stage)
        self._downloads(name, words, text)
        return text

    def _mark_options(self, name: str, words: Sequence[str]) -> None:
        """Note the places of options that run a text, skip a check or open the machine to a container."""
        if name == "git":
            is_commit = "commit" in words[:4]
            for word in words:
                is_short = is_commit and "-n" in _options([word], _GIT_VALUES["commit"])
                is_long = word.startswith(("--no-v", "--exec-path"))
                self._mark(word, is_risk=is_short or is_long or word == "-c")
            return
        pattern = _RISKY_OPTIONS.get(name) or (_CODE if _INTERPRETER.fullmatch(name) else None)
        if pattern is not None:
            for word in filter(pattern.fullmatch, words):
                self._mark(word)

    def _read_line(self, names: Sequence[str]) -> None:
        """Set the variables of `while read` to what the lines name that the loop reads."""
        feed = self._groups[-1].outer.feed if self._groups else None
        for name in names:
            self.variables.pop(name, None)
            if feed is not None and feed.items is not None:
                self.variables[name], self.items = ("{}",), feed.items

    def _subcommand(self, name: str, words: list[str]) -> list[str]:
        """Return the words from the subcommand on; add the options of git, each alone."""
        at, values = 0, _OPTIONS_WITH_VALUE[name]
        while at < len(words) and words[at][:1] == "-":
            if name == "git" and words[at] == "-c" and at + 1 < len(words):
                self._found.runs.setdefault(f"git -c {words[at + 1]}")
            at += 1 + (words[at] in values)
        words = words[at:]
        if name == "git" and words:
            for option in _options(words[1:], _GIT_VALUES.get(words[0], "mFxX")):
                self._found.runs.setdefault(f"git {words[0]} {option}")
        return words

    def _shell(self, name: str, words: Sequence[str], stage: _Stage) -> bool:
        """Read what a shell runs: a text, a file, or stdin. Return whether an argument is the text."""
        at, has_script, values = 0, False, _OPTIONS_WITH_VALUE[name]
        while at < len(words):
            word = words[at]
            if word[:1] in ("-", "+") and word != "-":
                has_script = has_script or _SCRIPT.fullmatch(word) is not None
                at += 1 + (word in values or (word[-1] == "o" and word[:2] != "--"))
            elif has_script:
                self._script(word, stage, words[at + 1 :])
                return True
            elif word != "-" and name != "su":
                if word == SUBSTITUTED and stage.known is not None:
                    self._script(stage.known)
                self._run_file(word, name)
                return False
            else:
                at += 1
        if name != "su":
            for document in stage.documents:
                self._script(document)
            if not stage.documents and stage.feed is not None and stage.feed.printed is not None:
                self._script(stage.feed.printed)
            for path in stage.inputs:
                self._run_file(path, name)
        return False

    def _script(self, text: str, stage: _Stage | None = None, arguments: Sequence[str] = ()) -> None:
        if text == SUBSTITUTED and stage is not None and stage.known is not None:
            text = stage.known
        self._found.left -= len(text)
        if self._depth >= _MOST_DEPTH or self._found.left < 0:
            self._found.is_whole = False
            return
        reader = _Reader(self._found, self._folder, self._depth + 1)
        given = ["{}" if each == _ITEM else each for each in arguments[: _MOST_VALUES + 1]]
        numbered = {str(number): (value,) for number, value in enumerate(given[:10])}
        reader.variables = {**self.variables, "@": tuple(given[1:]), "*": tuple(given[1:]), **numbered}
        reader.items = self.items
        reader.read(text)

    def _run_file(self, path: str, program: str) -> None:
        """Add what a file runs that the command itself has written, as a pipeline into the program."""
        line, written = self._found.files.get(self._key(path), ("", None))
        if line:
            self._found.runs.setdefault(f"{line} | {program}")
        if written is not None:
            self._script(written)

    def _find(self, words: Sequence[str], stage: _Stage) -> None:
        starts = [*takewhile(lambda each: each[:1] not in ("-", "(", "!"), [*_without_lead(words)])] or ["."]
        names = [name for option, name in pairwise(words) if option in ("-name", "-iname")] or [""]
        paths = (posixpath.join(start, name) if name else start for start in starts for name in names)
        stage.items = tuple(islice(paths, _MOST_VALUES))
        if "-delete" in words:
            for each in starts:
                self._found.deleted.setdefault(self._add_path(each) or SUBSTITUTED)
        if self._finds == _MOST_FINDS:
            self._found.is_whole = False
            return
        before, self.items = self.items, stage.items
        self._finds += 1
        started: list[str] | None = None
        for word in [*words, ";"]:
            if started is None:
                started = [] if word in _RUNS_NEXT else None
            elif word not in (";", "+"):
                started.append(word)
            else:
                self._run(started, _Stage())
                started = None
        self._finds -= 1
        self.items = before

    def _arguments(self, name: str, words: Sequence[str], stage: _Stage) -> None:
        deletes, reads = name in _DELETERS, name in _READERS
        if name == "git" and reads:
            reads = next((each for each in words if each[:1] != "-"), "") in _GIT_READS
        has_options = True
        last = words[-1] if words and name in _COPIERS else None
        for before, word in pairwise(["", *words]):
            is_option = has_options and word[:1] == "-"
            if reads and word is not last:
                for each in self._items_in(word, stage):
                    self._add_read(_read_in(name, each, before, is_option=is_option))
            if is_option and "=" not in word:
                has_options = word != "--"
                continue
            for each in self._items_in(word, stage):
                path = self._add_path(each, is_file=deletes)
                if deletes:
                    self._found.deleted.setdefault(path or SUBSTITUTED)

    def _items_in(self, word: str, stage: _Stage) -> Sequence[str]:
        """Return the paths that a word stands for: those of a substitution, `find` or `xargs`, or itself."""
        if word == SUBSTITUTED and stage.given is not None:
            return stage.given
        if word in _ITEMS:
            return (word,) if self.items is None and word == "{}" else self.items or (SUBSTITUTED,)
        return (word,)

    def _prints(self, name: str, words: Sequence[str], stage: _Stage) -> None:
        plain = [each for each in words if each[:1] != "-"]
        if name in _PRINTERS:
            stage.printed = _echoed(words) if name == "echo" else _formatted(words)
            stage.items = tuple(" ".join(plain).split()[:_MOST_VALUES])
        elif name in ("cat", "tee") and (name == "tee" or not plain):
            stage.printed = "".join(stage.documents) or (stage.feed.printed if stage.feed else None)
        elif name == "fd":
            stage.items = tuple(plain[1:][:_MOST_VALUES]) or (".",)
        elif name == "git" and plain[:1] == ["ls-files"]:
            stage.items = (".",)
        if name in _FILTERS and stage.feed is not None:
            stage.items = stage.feed.items
        if name == "tee":
            for path in plain:
                self._wrote(path, " | ".join(self._pipeline), stage.printed)

    def _downloads(self, name: str, words: Sequence[str], text: str) -> None:
        if name in ("mv", "cp") and len(words) > 1 and (known := self._found.files.get(self._key(words[-2]))):
            self._found.files[self._key(words[-1])] = known
        if name not in _DOWNLOADERS:
            return
        letter = "O" if name == "wget" else "o"
        is_named = name != "curl" or any(map(_REMOTE_NAME.fullmatch, words))
        for option, value in pairwise([*words, ""]):
            if option.startswith(("--output=", "--output-document=")):
                self._wrote(option.partition("=")[2], text, None)
            elif option[:1] == "-":
                is_given = option[-1:] == letter and option[:2] != "--"
                if is_given or option in ("--output", "--output-document"):
                    self._wrote(value, text, None)
                elif option[:2] == f"-{letter}" and "." in option:
                    self._wrote(option[2:], text, None)
            elif is_named:
                self._wrote(option.partition("?")[0].rpartition("/")[2], text, None)

    def _wrote(self, path: str, line: str, text: str | None) -> None:
        """Note what has written a file, also what was appended to it."""
        if path in _NO_FILES:
            return
        key = self._key(path)
        before = self._found.files.get(key, ("", None))[1]
        if text is not None and before is not None and len(before) + len(text) < MOST_COMMAND:
            text = f"{before}\n{text}"
        self._found.files[key] = line, text

    def _key(self, word: str) -> str:
        return posixpath.normpath(self._path(word))

    def _path(self, word: str) -> str:
        for home in _HOMES:
            if word.startswith(home) and word[len(home) : len(home) + 1] in ("", "/"):
                word = "~" + word[len(home) :]
        if len(word) > _MOST_PATH:
            return SUBSTITUTED
        return word if word[:1] in ("~", "$") else posixpath.join(self._folder, word)

    def _add_path(self, word: str, *, is_file: bool = False) -> str:
        """Add and return a word that may be a path: `x` of `--out=x` and of `of=x`; empty if it is not. With
        `is_file`, the program takes any word for a path."""
        word = word if is_file else word.rpartition("=")[2]
        if word in _NO_FILES or (not is_file and (word[0] == "-" or "://" in word or _has_blank(word))):
            return ""
        path = self._path(word)
        self._found.words.setdefault(path)
        return path

    def _add_read(self, word: str) -> None:
        if word not in _NO_FILES and word[0] != "-" and "://" not in word:
            self._found.read.setdefault(self._path(word))


def _is_test(words: Sequence[str]) -> bool:
    """Return whether words are the beginning of `[[ … ]]`, in which `&&` and `(` begin no command."""
    return words[:1] == ["[["] and words[-1] != "]]"


def _has_blank(word: str) -> bool:
    return any(map(str.isspace, word))


def _quoted(word: str) -> str:
    return f"'{word}'" if not word or _has_blank(word) else word


def _without_lead(words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of `find` after the options that precede its paths."""
    return iter(words[sum(1 for _ in takewhile(lambda each: each in ("-H", "-L", "-P"), words)) :])


def _options(words: Iterable[str], values: str) -> Iterator[str]:
    """Yield each option of a subcommand: `-a` and `-m` for `-am x`, `--force-with-lease` without its value.
    `values` has the letters that take a value."""
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word == "--":
            return
        elif _CLUSTER.fullmatch(word):
            for at, letter in enumerate(word[1:], 2):
                yield f"-{letter}"
                if letter in values:
                    is_value = at == len(word) and letter != "S" and letter != "u"
                    break
        elif word[:1] == "-":
            yield word.partition("=")[0]
            is_value = word in ("--message", "--file", "--author", "--date", "--template", "--trailer")


def _read_in(name: str, word: str, before: str, *, is_option: bool) -> str:
    """Return the file that an argument names: `.env` of `-d @.env`, `if=.env` and `HEAD:.env`; or nothing."""
    if name in _SENDERS:
        at = word.rpartition("@")[2].partition(";")[0] if "@" in word else ""
        return word.partition("=")[2] if word.startswith(_SENDS) else word if f"{before}=" in _SENDS else at
    if is_option:
        return ""
    if name == "dd":
        return word[3:] if word.startswith("if=") else ""
    if name == "git":
        return "" if word in _GIT_READS else word.rpartition(":")[2]
    return word


def _echoed(words: Sequence[str]) -> str:
    at = sum(1 for _ in takewhile(lambda each: each in ("-n", "-e", "-E", "-ne", "-en"), words))
    text = " ".join(words[at:])
    return text.replace("\\n", "\n") if "-e" in words[:at] or "-ne" in words[:at] else text


def _formatted(words: Sequence[str]) -> str:
    form, *values = [*words[words[:1] == ["--"] :]] or [""]
    form = form.replace("\\n", "\n")
    pieces = form.split("%s")
    if len(pieces) == 1:
        return form
    text, step = "", len(pieces) - 1
    for at in range(0, max(len(values), 1), step):
        text += "".join(chain.from_iterable(zip_longest(pieces, values[at : at + step], fillvalue="")))
        if len(text) > MOST_COMMAND:
            break
    return text
