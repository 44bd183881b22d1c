"""The examples of the pages about rules, checks in CI and notifications work as they stand."""

import json
import os
import re
import sys
import threading
import tomllib
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # it comes with what builds the documentation
from junitparser import JUnitXml

from agentwatch.catalog.row_filter import ROWS
from agentwatch.cli.config_file import rules_of, session_rules_of
from agentwatch.feed.feed import Feed
from agentwatch.output.commands import Commands
from agentwatch.rules.alarms.events import Event
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import CALLS, LIVE
from agentwatch.rules.calls.filter import call_filter
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.check.kinds import read_rules
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse
from tests.builders.lines import feed_of
from tests.conftest import ROOT, case
from tests.project.documents.user import run

PAGE = (ROOT / "docs" / "rules.md").read_text()
BLOCK = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
assert BLOCK is not None
WHENS = [entry["when"] for entry in tomllib.loads(BLOCK[1])["forbid"]]
FILTERS = [
    rule
    for row in re.findall(r"^\| [A-Z][^|]*\? \| (.*) \|$", PAGE, re.MULTILINE)
    for rule in re.findall(r"`([^`]+)`", row)
]


@pytest.fixture(scope="module")
def feed() -> Feed:
    return feed_of(ROOT / "recordings" / "demo.ndjson")


def test_the_rules_of_the_page_can_be_read(tmp_path: Path) -> None:
    """The block is a file of rules for `check`: 19 forbidden calls, and limits."""
    assert BLOCK is not None
    path = tmp_path / "rules.toml"
    path.write_text(BLOCK[1])
    assert len(WHENS) == 19
    assert len(read_rules(path)) == 19 + 3
    # Each rule in the table of the language and after `--on` can be read.
    table = PAGE.split("| rule | selects |")[1].split("\n\n")[0]
    rules = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    given = re.findall(r"--on '([^']+)' [a-z]+ ", PAGE)
    assert (len(rules), len(given)) == (13, 2)
    for rule in rules:
        parse(rule, LIVE, allows_patterns=True)
    for rule in given:
        parse(rule, LIVE)
    # The tables name each field. `docs/reference.py` writes them, and its check finds an old one.
    fields = {*CALLS.fields, *LIVE.fields, *ROWS.fields}
    assert len(fields) > 20
    assert [name for name in sorted(fields) if f"\n| `{name}` | " not in PAGE] == []


def test_a_rule_and_a_question_are_filters(feed: Feed) -> None:
    """Each rule selects calls in a filter too, without the one with a regular expression."""
    for when in WHENS:
        with case(when):
            condition = parse(when, LIVE, allows_patterns=True)
            test = condition.bind(call_readers(CallFacts(feed)))
            selected = [call.number for call in feed.session.calls if test(call) is True]
            if "re:/" in when:
                with pytest.raises(RuleError, match="only in rule files"):
                    call_filter(when, CallFacts(feed))
                continue
            matches = call_filter(when, CallFacts(feed))
            assert matches is not None
            assert [call.number for call in feed.session.calls if matches(call)] == selected
    # Each question about a session has a filter, and most select calls of the demo session.
    assert len(FILTERS) == 9
    found = 0
    for words in FILTERS:
        answers = call_filter(words, CallFacts(feed))
        assert answers is not None
        found += any(map(answers, feed.session.calls))
    assert found >= 3


CHECK_PAGE = (ROOT / "docs" / "howto" / "check-in-ci.md").read_text(encoding="utf-8")
[CHECK_RULES] = re.findall(r"^```toml\n(.*?)^```$", CHECK_PAGE, re.MULTILINE | re.DOTALL)
GITHUB, GITLAB = (
    yaml.safe_load(block)
    for block in re.findall(r"^```yaml\n(.*?)^```$", CHECK_PAGE, re.MULTILINE | re.DOTALL)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.toml").write_text(CHECK_RULES)
    return tmp_path


@pytest.mark.system
def test_the_jobs_of_github_and_gitlab(folder: Path) -> None:
    """The rules can be read; the steps record the agent and report broken ones as annotations of GitHub."""
    assert len(read_rules(folder / "rules.toml")) == 12
    steps = [step["run"] for step in GITHUB["jobs"]["agent"]["steps"] if "run" in step]
    *before, check = steps
    for step in before:
        assert run(step, folder, agent="failures").returncode == 0
    done = run(check, folder, agent="failures", GITHUB_ACTIONS="true")
    assert (done.returncode, done.stderr) == (1, "")
    *commands, result = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::warning"]
    assert "%0Asession.ndjson#1 " in commands[0]
    assert result.endswith("session.ndjson (6 calls)")
    # The script of GitLab records the agent, fails, and leaves a report of the tests that it reads.
    job = GITLAB["agent"]
    done = run("\n".join(job["script"]), folder, agent="failures", GITLAB_CI="true")
    assert (done.returncode, done.stderr) == (1, "")
    [suite] = JUnitXml.fromfile(str(folder / job["artifacts"]["reports"]["junit"]))
    assert (suite.name, suite.tests, suite.failures, suite.skipped) == ("session.ndjson", 12, 1, 1)
    assert all((folder / path).exists() for path in job["artifacts"]["paths"])


NOTIFY_PAGE = (ROOT / "docs" / "howto" / "notify.md").read_text()
SCRIPTS = re.findall(r"```py\n(.*?)```", NOTIFY_PAGE, re.DOTALL)
HOSTILE = Event(
    "needs-you", "x", 1_790_000_000_000, "asks", "claude", "s", "-i <!channel> é", None, "--x\n$(id) & <b>"
)


@pytest.fixture
def received() -> Iterator[tuple[int, list[tuple[str, str, bytes]]]]:
    """The port of a server on this machine, and the path, the title and the body of what it receives."""
    requests: list[tuple[str, str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, self.headers.get("Title", ""), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port, requests
        server.shutdown()


def send(script: str, folder: Path, port: int = 0) -> None:
    """Run a script with the hostile event; its https addresses are on this machine."""
    path = folder / "tell"
    path.write_text(re.sub(r"https://[a-z.]*\.(?:sh|com|org)/", f"http://127.0.0.1:{port}/", script))
    commands = Commands()
    commands.tell((sys.executable, str(path)), HOSTILE)
    commands.finish()
    assert commands.faults == {}


@pytest.mark.slow
def test_each_script_has_ten_lines_and_the_settings_are_valid() -> None:
    """At most ten lines that are not blank; both tables of the settings can be read."""
    assert len(SCRIPTS) == 4
    assert all(len([line for line in each.splitlines() if line]) <= 10 for each in SCRIPTS)
    block = re.search(r"```toml\n(.*?)```", NOTIFY_PAGE, re.DOTALL)
    assert block is not None
    found = tomllib.loads(block[1])
    assert len(rules_of(found["on"])) == len(session_rules_of(found["sessions"]["on"])) == 1


@pytest.mark.slow
def test_what_is_sent_to_a_service_and_a_desktop(
    received: tuple[int, list[tuple[str, str, bytes]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ntfy the text is the body; in Slack a session cannot mention a channel; Telegram gets no markup."""
    port, requests = received
    for script in SCRIPTS[:3]:
        send(script, tmp_path, port)
    ntfy, (hook, _, message), (bot, _, form) = requests
    text = "claude: -i <!channel> é\n--x␊$(id) & <b>"
    assert ntfy == ("/MY-SECRET-TOPIC", "agentwatch: needs-you", text.encode())
    assert hook == "/services/T000/B000/XXXX"
    assert json.loads(message) == {"text": "needs-you: -i &lt;!channel&gt; é\n--x␊$(id) &amp; &lt;b&gt;"}
    assert bot == "/bot123:TOKEN/sendMessage"
    sent = {"chat_id": ["123456"], "text": ["needs-you: -i <!channel> é\n--x␊$(id) & <b>"]}
    assert urllib.parse.parse_qs(form.decode()) == sent
    # On a desktop, the text is two arguments after `--`, so that it is neither an option nor markup.
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    send(SCRIPTS[3], tmp_path)
    assert (tmp_path / "arguments").read_text().splitlines() == [
        "--",
        "agentwatch: needs-you",
        "-i &lt;!channel&gt; é",
        "--x␊$(id) &amp; &lt;b&gt;",
    ]
