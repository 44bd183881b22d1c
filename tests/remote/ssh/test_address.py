"""Tests of `agentwatch.remote.ssh.shared_connection`: every part of an address is one word, and no option."""

from __future__ import annotations

import shlex

import pytest

from agentwatch.base.faults import Fault
from agentwatch.remote.ssh.shared_connection import SshAddress, command, is_session, parse_ssh
from tests.conftest import case


def test_an_address_has_a_host_and_a_session() -> None:
    """Host, user, port and session are read, and the address is written the same way."""
    for words, address, session in (
        ("ssh://build1", SshAddress("build1"), ""),
        ("ssh://build1/", SshAddress("build1"), ""),
        ("ssh://ci@build1.example:2222/0f3a", SshAddress("build1.example", "ci", 2222), "0f3a"),
        ("ssh://[::1]:22/a", SshAddress("::1", "", 22), "a"),
        ("ssh://my_alias", SshAddress("my_alias"), ""),
    ):
        with case(words):
            assert parse_ssh(words) == (address, session)
            assert parse_ssh(str(address)) == (address, "")


def test_other_words_are_no_address() -> None:
    """What could be an option, a second word or an expansion is refused, and not repeated in full."""
    for words in [
        *("ssh://", "ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://a b", "ssh://host;x", "ssh://$(x)"),
        *("ssh://host:0", "ssh://host:65536", "ssh://host:-p", "ssh://host:", "ssh://user:secret@host"),
        *("ssh://u;x@host", "ssh://@host", "ssh://h\nx", "ssh://h`x`", "ssh://é", "ssh://" + "a" * 700),
        *("ssh://host/-rf", "ssh://host/..", "ssh://host/a..b", "ssh://host/a/b", "ssh://host/a b"),
        *("ssh://host/$(touch x)", "ssh://host/a;x", "ssh://host/a\nx", "ssh://host/`x`", "ssh://host/*"),
        *("ssh://host/a'b", 'ssh://host/a"b', "ssh://host/a\\b", "ssh://host/~", "ssh://host/" + "a" * 201),
        *("nats://host", "host", "SSH://host"),
    ]:
        with case(f"{words[:60]!r}"):
            with pytest.raises(Fault) as fault:
                parse_ssh(words)
            assert len(str(fault.value)) < 400
            assert "secret" not in str(fault.value)


def test_a_command_is_words_that_no_shell_changes() -> None:
    """Each word of the command for the login shell is the same with and without quotes."""
    for session in ("a", "20261122-101010-123abcdef", "ses_5f", "a.b-c_d", "0" * 200):
        with case(session):
            assert is_session(session)
            words = command("pieces", session, 5, "0" * 64, 7).split(" ")
            assert [shlex.quote(word) for word in words] == words
            assert words[4:] == ["pieces", session, "5", "0" * 64, "7"]
