"""The program that a shell command runs first."""

from __future__ import annotations

import re
import shlex

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")
_MOST_CHARACTERS = 2000
_ENDS = frozenset({"&&", "||", ";", "|", "&"})
_FOLDER = "cd"


def first_program(command: str) -> str | None:
    """Return the name of the first program of a command; None if it is no plain name.

    Assignments before it are skipped. A `cd` is skipped if another program follows. The arguments of the
    program, which may contain anything, are never returned.

    Example:
        >>> first_program("cd web && CI=1 /usr/bin/npx tsc --noEmit | tail -3")
        'npx'
    """
    lexer = shlex.shlex(command[:_MOST_CHARACTERS].replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    found, is_argument = None, False
    try:
        for word in lexer:
            if word in _ENDS:
                is_argument = False
            elif not (is_argument or _is_assignment(word) or word in ("(", ")")):
                found, is_argument = word.rpartition("/")[2], True
                if found != _FOLDER:
                    break
    except ValueError:  # a quotation without its end
        pass
    return found if found is not None and _NAME.fullmatch(found) else None


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
