"""Home folders, user names and e-mail addresses are found; names of packages and roles are not."""

from __future__ import annotations

from agentwatch.output.redact.mask import E_MAIL, HOME, USER
from agentwatch.output.redact.personal import Personal
from tests.conftest import case

ADA = Personal(["/home/ada"], ["ada"])


def found_in(text: str, personal: Personal = ADA) -> list[tuple[str, str]]:
    """Return what is found with its kind."""
    return [(text[each.start : each.end], each.kind) for each in personal.find(text)]


def test_the_home_folder_is_found_whole() -> None:
    """The home folder is one place, whatever its user is called."""
    assert found_in("cd /home/ada/src && ls '/home/ada'") == [("/home/ada", HOME), ("/home/ada", HOME)]


def test_the_user_name_is_found_as_a_word() -> None:
    """A user name is found between other characters than letters and digits, and not within a word."""
    assert found_in("ada@box:~$ ls -home-ada-src ada_1 adapter nevada") == [("ada", USER)] * 3


HOMES: list[str] = [
    "/home/bob/x",
    "/Users/bob/Library",
    "C:\\Users\\bob\\x",
    '"C:\\\\Users\\\\bob"',
    "file:///home/bob",
]


def test_the_name_in_another_home_folder_is_found() -> None:
    """Of the home folder of somebody else the name is found."""
    for text in HOMES:
        with case(text):
            assert found_in(text) == [("bob", USER)]


ACCOUNTS: list[str] = ["/home/runner/work", "/Users/Shared", "/root/.cache", "/home/user", "/home/node"]


def test_accounts_of_nobody_stay() -> None:
    """The home folders of images and services say nothing about a person."""
    for text in ACCOUNTS:
        with case(text):
            assert found_in(text, Personal(["/root"], ["root", "runner", "node", "al"])) == []


ADDRESSES: list[str] = ["ada.l@lovelace.io", "a+b@mail.corp-1.co.uk", "12345+ada@users.noreply.github.com"]


def test_an_e_mail_address_is_found() -> None:
    """An e-mail address is found whole, in any punctuation."""
    for text in ADDRESSES:
        with case(text):
            for around in ("{}", "<{}>", "mailto:{}?subject=x", "Author: Ada <{}>\n", '"{}",'):
                assert (text, E_MAIL) in found_in(around.format(text), Personal())


NOT_ADDRESSES: list[str] = [
    *(
        "git@github.com:a/b.git",
        "noreply@anthropic.com",
        "lodash@4.17.21",
        "actions/checkout@v4",
        "@types/node",
    ),
    *(
        "icon@2x.png",
        "user@example.com",
        "x@localhost",
        "@decorator.name",
        "pkg@1.2.3-rc.next",
        "a@b",
        "me@x.test",
    ),
]


def test_what_looks_like_an_address_stays() -> None:
    """Packages, roles, pictures and examples are no addresses of a person."""
    for text in NOT_ADDRESSES:
        with case(text):
            assert found_in(text, Personal()) == []
