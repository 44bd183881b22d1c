"""Globs and regular expressions, each as a test of a text. Upper and lower case are equal.

In a glob, `*` stands for any characters, `?` for one, `[ab]` for one of these. Both take time in proportion
to the text. A glob searches each part between two `*` from the left, and never again. A regular expression
runs in RE2, because `re` may need exponential time for a pattern such as `(a+)+$`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agentwatch.rules.language.errors import RuleError, quoted
from agentwatch.session.tool_kind import MOST_COMMAND

WILDCARDS = frozenset("*?[")
_MOST_TEXT = MOST_COMMAND
"""Characters of a value that are compared. The session keeps no longer ones either."""
_MOST_MEMORY = 1 << 18
"""Bytes that RE2 may use for a pattern. The worst one found then takes 0.4 s for 4,096 characters; with the
8 MiB of RE2's default, 2 s."""
_NO_LITERAL = re.compile(r"\[!?.[^]]*(?:\]|\Z)|[*?/]", re.DOTALL)
_ANY, _ANY_IN_FOLDER = ".", "[^/]"

Matcher = Callable[[str], bool]


def has_wildcard(glob: str) -> bool:
    """Return whether a value is a glob, and not just a word."""
    return not WILDCARDS.isdisjoint(glob)


def name_matcher(glob: str) -> Matcher:
    """Return whether a glob matches a whole name.

    Example:
        >>> matches = name_matcher("python*")
        >>> matches("Python3.12"), matches("ipython")
        (True, False)
    """
    lowered = glob.lower()
    if not has_wildcard(glob):
        return lambda name: name.lower() == lowered
    pattern = re.compile(_translated(lowered, _ANY), re.DOTALL)
    return lambda name: pattern.fullmatch(name[:_MOST_TEXT].lower()) is not None


def text_matcher(glob: str) -> Matcher:
    """Return whether a text contains a word, or matches a glob as a whole.

    Example:
        >>> text_matcher("push")("git push origin"), text_matcher("*push")("git push origin")
        (True, False)
    """
    return name_matcher(glob) if has_wildcard(glob) else _containing(glob)


def word_matcher(word: str) -> Matcher:
    """Return whether a text contains a word. Only `*` makes the word a glob: `x[0]` and `why?` are words."""
    if "*" not in word:
        return _containing(word)
    return name_matcher(word.replace("[", "[[]").replace("?", "[?]"))


def _containing(word: str) -> Matcher:
    lowered = word.lower()
    return lambda text: lowered in text.lower()


def path_matcher(glob: str) -> Matcher:
    """Return whether a glob matches a path.

    `*` does not match `/`. `**` as a whole part matches any number of folders, also none; at the end it
    matches everything in a folder, and so does `/`. A glob without `/` matches the last part of a path.

    Example:
        >>> path_matcher("**/.env*")("deploy/.env.local"), path_matcher("src/*")("src/web/app.py")
        (True, False)
        >>> path_matcher("*.py")("src/web/app.py")
        True
    """
    pattern = re.compile(_translated_path(_path_glob(glob)), re.DOTALL)
    return lambda path: pattern.fullmatch(path[:_MOST_TEXT].lower().replace("\\", "/")) is not None


def pattern_matcher(pattern: str, at: int = 0) -> Matcher:
    """Return whether a text contains a match of a regular expression in the syntax of RE2.

    `at` is an offset in the rule, in characters. Raise `RuleError` if RE2 is not installed or refuses the
    pattern, such as one with a back reference.

    Example:
        >>> matches = pattern_matcher(r"rm\\s+-[a-z]*r")
        >>> matches("sudo RM -fr /"), matches("rm file")
        (True, False)
    """
    try:
        import re2  # type: ignore[import-untyped]  # an extra, and 8 ms that few rules need
    except ImportError:
        from agentwatch.base.extras import EXTRAS, install_command

        raise RuleError(f"re:/…/ needs RE2: {install_command(EXTRAS['regex'])}") from None
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    options.never_capture = True
    try:
        # As bytes, because a foreign text may contain half a surrogate pair, which has no UTF-8.
        search = re2.compile(_encoded(pattern), options).search
    except re2.error as error:
        raise _refused(pattern, error.args[0].decode("utf-8", "replace"), at) from None
    return lambda text: search(_encoded(text[:_MOST_TEXT])) is not None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _refused(pattern: str, reason: str, at: int) -> RuleError:
    """Return the error for a pattern, at the part that RE2 names: `invalid escape sequence: \\1`."""
    reason, _, part = reason.partition(": ")
    if part and pattern.count(part) == 1:
        at += pattern.index(part)
    named = f" {quoted(part)}" if part and part != pattern else ""
    return RuleError(f"{quoted(f're:/{pattern}/')}: {reason}{named}", at)


def literal_of(glob: str) -> str:
    """Return the longest text without `/`, in lower case, that each match of a glob contains.

    Example:
        >>> literal_of("**/.env*")
        '.env'
    """
    return max(_NO_LITERAL.split(glob.lower().replace("\\", "/")), key=len)


def _path_glob(glob: str) -> str:
    lowered = glob.lower().replace("\\", "/").removeprefix("./")
    if "/" not in lowered and lowered != "**":
        return f"**/{lowered}"
    return f"{lowered}**" if lowered.endswith("/") else lowered


def _translated_path(glob: str) -> str:
    """Return the glob of a path as a regular expression without backtracking."""
    groups: list[list[str]] = [[]]
    for part in glob.split("/"):
        if part != "**":
            groups[-1].append(_translated(part, _ANY_IN_FOLDER))
        elif len(groups) == 1 or groups[-1]:
            groups.append([])
    if len(groups) == 1:
        return "/".join(groups[0])
    first, *middle, last = groups
    found = "".join(f"{part}/" for part in first)
    for group in middle:
        found += "(?>(?:[^/]*+/)*?" + "".join(f"{part}/" for part in group) + ")"
    return found + ("(?:[^/]*+/)*" + "/".join(last) if last else ".*")


def _translated(glob: str, any_char: str) -> str:
    """Return a glob as a regular expression without backtracking: each `*` takes as little as possible."""
    pieces: list[str] = [""]
    at = 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif char == "?":
            pieces[-1] += any_char
        elif char == "[" and (end := glob.find("]", at + 1 + glob.startswith("!", at))) > 0:
            pieces[-1] += _one_of(glob[at:end], any_char)
            at = end + 1
        else:
            pieces[-1] += re.escape(char)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    found = "".join(f"(?>{any_char}*?{piece})" for piece in middle if piece)
    return first + found + any_char + "*" + last


def _one_of(chars: str, any_char: str) -> str:
    """Return the class of the characters between `[` and `]`; `!` as the first excludes them."""
    is_other = chars.startswith("!")
    pieces: list[str] = []
    at = int(is_other)
    while at < len(chars):
        low, high = chars[at], chars[at + 2 : at + 3]
        if chars[at + 1 : at + 2] == "-" and low <= high:
            pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            pieces.append(re.escape(low))
            at += 1
    return f"(?={any_char})[{'^' if is_other else ''}{''.join(pieces)}]"
