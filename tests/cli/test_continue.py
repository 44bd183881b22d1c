"""`continue` runs the vendor's command in the session's folder, or says in one line why not."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from agentwatch.base.faults import NOT_EXECUTABLE, NOT_FOUND, USAGE
from agentwatch.catalog.continuing import session_to_continue
from agentwatch.recording.acts import Act, read_acts
from agentwatch.recording.store import SessionFiles, saved_recordings
from tests.builders import claude_lines
from tests.builders.continued import ID, THREAD, Program, allow, claude_session, codex_session, stream, turn
from tests.catalog.started_agents import in_terminal, started
from tests.conftest import case
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, ran, watch
from tests.harness.terminal import Terminal

pytestmark = pytest.mark.slow
COMMAND = [
    *("-p", "--output-format", "stream-json", "--verbose"),
    *("--permission-mode=plan", "--resume", ID, "--"),
]
PLANS = "agentwatch: this run: plan: it plans, and changes nothing\n"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a session of each agent; continuing and queueing are switched on."""
    folder = tmp_path / "work"
    folder.mkdir()
    claude_session(str(folder))
    codex_session(str(folder))
    allow(tmp_path, monkeypatch, "continue", "queue")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return folder


def acts(home: Path, name: str = f"claude-{ID}") -> list[Act]:
    """Return the acts on a session that is not recorded."""
    return read_acts(home / "acts" / f"{name}.acts")


@pytest.mark.system
def test_the_screen_of_a_file_goes_to_the_run(tmp_path: Path, home: Path, work: Path) -> None:
    """After `P` in `agentwatch FILE`, the same command shows the run."""
    Program(tmp_path / "bin", "claude", stream(cwd=str(work)))
    path = claude_session(str(work))
    env = {name: os.environ[name] for name in ("PATH", "AGENTWATCH_CONFIG")}
    with Terminal([*AGENTWATCH, str(path)], env=env, size=(120, 30)) as terminal:
        terminal.press("P", "the prompt")
        terminal.press("Go on.\r", "enter run")
        terminal.press("\r", "│ done ")
        assert "Fix the tests." not in terminal.screen_text()


def test_a_session_is_continued_in_its_folder_and_recorded(tmp_path: Path, home: Path, work: Path) -> None:
    """The program gets the prompt byte for byte in the session's folder; its run is recorded as by `run`."""
    program = Program(tmp_path / "bin", "claude", stream())
    text = "--help\n\x1b[31m $HOME 'x' é {id}"
    done = watch("continue", "--output-format", "final", "--", ID, text)
    words = "'--help␊␛[31m $HOME '\"'\"'x'\"'\"' é {id}'"
    shown = f"agentwatch: in {work}: claude {' '.join(COMMAND)} {words}\n{PLANS}"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (0, b"done\n", shown)
    assert program.started == [str(work), str(work), *COMMAND, text]
    [recording] = saved_recordings()
    assert recording.read_text() == f"{stream()}\n"
    described = json.loads(SessionFiles(recording).process.read_bytes())
    assert (described["command"], described["cwd"]) == (["claude", *COMMAND, text], str(work))
    [begun, act] = acts(home)
    assert act == Act(act.at_ms, "continue", ID, "command", "claude --resume", "sent")
    assert begun == act._replace(at_ms=begun.at_ms, receipt="unknown")
    assert read_acts(SessionFiles(recording).acts) == [begun, act]


@pytest.mark.system
def test_a_run_is_allowed_no_more_than_its_session(tmp_path: Path, home: Path, work: Path) -> None:
    """It runs where the session was started, in its mode; if it says a wider one, it is interrupted.

    Claude says its mode in its stream, Codex in its own file. Another name than those of the modes is wider.
    """
    evil, path = tmp_path / "evil", claude_session(str(work))
    evil.mkdir()
    moved = json.loads(path.read_text().splitlines()[0]) | {"cwd": str(evil), "permissionMode": "default"}
    path.write_text(f"{path.read_text()}{json.dumps(moved)}\n")
    options = " ".join(COMMAND).replace("=plan", "=default").split()
    first = claude_lines.init(cwd=str(work), session_id=ID)
    for mode, said in (("plan", b""), ("default", b""), (None, b"no line of this run says its permissions")):
        with case(mode):
            program = Program(tmp_path / "bin", "claude", stream(mode=mode))
            done = watch("continue", ID, "go")
            assert (done.returncode, said in done.stderr, b"no line" in done.stderr) == (0, True, said != b"")
    assert program.started == [str(work), str(work), *options, "go"]
    assert [act.act for act in acts(home)] == ["continue"] * 2
    # The first mode of each place counts.
    own = json.dumps({"type": "permission-mode", "permissionMode": "default"})
    Program(
        tmp_path / "bin",
        "claude",
        json.dumps(first | {"permissionMode": "auto"}),
        does=f"echo '{own}' >> '{path}'; sleep 1",
    )
    done = watch("continue", ID, "go")
    assert "interrupted: the run is in the mode auto, not in default" in done.stderr.decode()
    rollout = codex_session(str(work), sandbox="read-only")
    edits, other = (json.dumps({**first, "permissionMode": mode}) for mode in ("acceptEdits", "newMode"))
    for name, session_id, mode, asked, does in (
        ("claude", ID, "acceptEdits", "default", f"echo '{edits}'"),
        ("claude", ID, "newMode", "default", f"echo '{other}'"),
        ("codex", THREAD, "workspace-write", "read-only", f"echo '{json.dumps(turn('workspace-write'))}'"),
    ):
        with case((name, mode)):
            kept = f" >> '{rollout}'" if name == "codex" else ""
            Program(tmp_path / "bin", name, does=f"{does}{kept}; exec sleep 60")
            recording = tmp_path / f"{mode}.ndjson"
            done = watch("continue", session_id, "go", "--record", recording)
            why = f"the run is in the mode {mode}, not in {asked}"
            assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (
                *(130, f"agentwatch: interrupted: {why}"),
            )
            [begun, act] = read_acts(SessionFiles(recording).acts)
            assert begun.receipt == "unknown"
            assert act == Act(act.at_ms, "interrupt", mode, "agentwatch", "SIGINT", "sent", why)


@pytest.mark.system
def test_what_only_the_settings_decide_is_confirmed(tmp_path: Path, home: Path, work: Path) -> None:
    """A session that does not say its mode needs a confirmation, or the narrowest mode; none is widened."""
    claude_session(str(work), permissionMode=None)
    program = Program(tmp_path / "bin", "claude", stream())
    unsaid = "what needs a permission is refused; the session does not say its own mode"
    how = "confirm it with --permissions default, or less with --permissions plan"
    cases = {
        "": f"this run: default: {unsaid}: {how}",
        "acceptEdits": "the permissions of this run cannot be acceptEdits: only default, dontAsk, plan",
        "settings": "the permissions of this run cannot be settings: only default, dontAsk, plan",
    }
    for given, words in cases.items():
        with case(given):
            done = ran("continue", ID, "go", *([f"--permissions={given}"] if given else []))
            assert (done.returncode, done.stderr.decode()) == (USAGE, f"agentwatch: {words}\n")
    assert (program.started, acts(home)) == (None, [])
    for given in ("default", "plan"):
        with case(given):
            assert watch("continue", ID, "go", "--permissions", given).returncode == 0
            assert f"--permission-mode={given}" in (program.started or [])
    done = ran("continue", ID, "go", "--dry-run")
    assert done.stderr.decode().startswith(f"agentwatch: this run: default: {unsaid}\n")


@pytest.mark.system
def test_a_recording_is_continued_too(tmp_path: Path, work: Path) -> None:
    """A recording is an address: the act is beside it, and beside the recording of the new run.

    It decides no folder: the agent's own file does. Without one, the session is not one of this machine.
    """
    program = Program(tmp_path / "bin", "claude", stream())
    claude_session(str(work)).unlink()
    first, other = tmp_path / "first.ndjson", tmp_path / "other"
    other.mkdir()
    first.write_text(stream(cwd=str(other)))
    done = ran("continue", first, "go")
    assert (done.returncode, program.started, saved_recordings()) == (1, None, [])
    assert done.stderr.decode() == "agentwatch: refused: claude does not have this session on this machine\n"
    claude_session(str(work))
    assert watch("continue", "first.ndjson", "go", cwd=tmp_path).returncode == 0
    assert (program.started or [])[:2] == [str(work)] * 2
    [recording] = saved_recordings()
    for path, receipts in ((first, ["refused", "unknown", "sent"]), (recording, ["unknown", "sent"])):
        assert [act.receipt for act in read_acts(SessionFiles(path).acts)] == receipts


@pytest.mark.system
def test_an_id_continues_the_session_that_has_it(tmp_path: Path, home: Path, work: Path) -> None:
    """Neither a file that an agent writes under the id, nor a recording that ends with another session."""
    other = str(uuid4())
    claude_session(str(work), other, permissionMode="bypassPermissions")
    there = tmp_path / "there"
    there.mkdir()
    for name in (ID, ID[:8], f"claude:{ID}"):
        with case(name):
            (there / name).write_text(stream(other))
            done = ran("continue", "--dry-run", name, "go", cwd=there)
            words = f"there are a file and a session {name}: the file is ./{name} here"
            assert (done.returncode, done.stderr.decode()) == (USAGE, f"agentwatch: {words}\n")
    done = ran("continue", "--dry-run", f"./{ID}", "go", cwd=there)
    assert other in done.stdout.decode()
    recording = home / "sessions" / "20261129.ndjson"
    recording.parent.mkdir(parents=True, exist_ok=True)
    recording.write_text(f"{stream()}\n{stream(other)}\n")
    done = ran("continue", "--dry-run", ID, "go")
    words = f"the recording {recording} of this session ends with another one: {other}"
    assert (done.returncode, done.stderr.decode()) == (USAGE, f"agentwatch: {words}\n")
    for name in ("20261129", other):
        with case(name):
            assert other in ran("continue", "--dry-run", name, "go").stdout.decode()


@pytest.mark.system
def test_a_dry_run_prints_exactly_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs no switch, program or folder, starts nothing, and leaves no trace."""
    monkeypatch.setenv("PATH", "/nowhere")
    path = claude_session("/no/such/folder")
    before = sorted(tmp_path.rglob("*"))
    for address in (ID, ID[:8], path):
        with case(address):
            done = ran("continue", "--dry-run", "--", address, "-x 'y'")
            assert done.returncode == 0
            assert done.stdout.decode() == f"claude {' '.join(COMMAND)} '-x '\"'\"'y'\"'\"''\n"
            assert done.stderr.decode() == f"{PLANS}agentwatch: in /no/such/folder:\n"
    codex_session("/w")
    done = ran("continue", "--dry-run", "--queue", THREAD, "go on")
    assert (done.stdout.decode(), done.stderr) == (f"codex queue --thread={THREAD} '--message=go on'\n", b"")
    assert [each for each in sorted(tmp_path.rglob("*")) if ".codex" not in str(each)] == before
    # `continue --help` and `--dry-run` import no Textual
    claude_session("/w")
    for arguments in (["--help"], ["--dry-run", ID, "go"]):
        with case(arguments):
            code = (
                "import sys; from agentwatch.cli import app; sys.argv.insert(1, 'continue')\n"
                "try: app.main()\nexcept SystemExit as end: code = end.code\n"
                "sys.exit(code or ('textual' in sys.modules and 9))"
            )
            done = subprocess.run(
                [sys.executable, "-c", code, *arguments], env=environment(), capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr


@pytest.mark.system
def test_each_refusal_has_its_exit_code(tmp_path: Path, home: Path, work: Path) -> None:
    """While a process has the session open, nothing is started, and the line names the process."""
    program = Program(tmp_path / "bin", "claude", stream())
    with started(["claude", "--resume", ID], work) as holder:
        done = ran("continue", ID, "go")
        assert done.stderr.decode() == (
            f"agentwatch: refused: process {holder.pid} (claude) holds this session\n"
        )
    assert (done.returncode, program.started, saved_recordings()) == (1, None, [])
    assert [act.receipt for act in acts(home)] == ["refused"]
    # A switch that is off and a folder that is gone end with 2, a missing program with 127, in one line
    off = {"AGENTWATCH_CONFIG": os.devnull}
    with started(["codex", "resume", THREAD], work) as holder:
        done = ran("continue", THREAD, "go", AGENTWATCH_CONFIG=os.devnull)
        held = f"refused: process {holder.pid} (codex) holds this session: --queue hands it the prompt"
        assert (done.returncode, done.stderr.decode()) == (1, f"agentwatch: {held}\n")
        done = ran("continue", THREAD, "go", "--queue", AGENTWATCH_CONFIG=os.devnull)
        switch = f"switched off: add `queue = true` under [act] in {os.devnull}"
        assert (done.returncode, done.stderr.decode()) == (USAGE, f"agentwatch: {switch}\n")
    cases: list[tuple[int, str, list[str], dict[str, str]]] = [
        (USAGE, "switched off: add `continue = true` under [act] in /dev/null", [ID, "go"], off),
        (USAGE, "claude has no queue for sessions that are open", [ID, "go", "--queue"], {}),
        (USAGE, "the prompt is empty", [ID, ""], {}),
        (USAGE, "continue needs a session, not a stream or a moment of it", [f"{ID}#1", "go"], {}),
        (USAGE, "continue needs a session, not a stream or a moment of it", ["-", "go"], {}),
        (USAGE, "ssh://host/x is on another machine: continue it there", ["ssh://host/x", "go"], {}),
        (USAGE, "cannot open /no/such: no such file or directory", ["/no/such", "go"], {}),
        (NOT_FOUND, "cannot start claude: not found", [ID, "go"], {"PATH": "/nowhere"}),
        (NOT_EXECUTABLE, "cannot start claude: ", [ID, "go"], {"PATH": str(tmp_path / "plain")}),
        (1, "refused: no process has this session open: continue it", [THREAD, "go", "--queue"], {}),
        (1, "refused: the session or its folder has changed", [ID, "go", "--mark", "0"], {}),
    ]
    Program(tmp_path / "plain", "claude").path.chmod(0o644)
    for code, words, arguments, variables in cases:
        with case(words):
            done = ran("continue", *arguments, **variables)  # type: ignore[arg-type]
            assert (done.returncode, done.stdout) == (code, b"")
            shown, _, said = done.stderr.decode().rpartition(f"agentwatch: {words}")
            assert said.count("\n") == 1
            assert shown.endswith(PLANS) == words.startswith("cannot start")
            assert shown.startswith(f"agentwatch: in {work}: claude -p") == words.startswith("cannot start")
    work.rmdir()
    done = ran("continue", ID, "go")
    assert (done.returncode, saved_recordings()) == (USAGE, [])
    assert done.stderr.decode() == (
        f"agentwatch: the folder of this session cannot be used: {work}: no such file or directory\n"
    )
    assert [(act.act, act.receipt) for act in acts(home)] == [("continue", "refused")] * 4
    refusals = [(act.act, act.receipt) for act in acts(home, f"codex-{THREAD}")]
    assert refusals == [("continue", "refused"), ("queue", "refused")]


@pytest.mark.system
def test_a_process_that_may_hold_it_is_enough(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of the agent that may have written one of several sessions of a folder holds each of them."""
    ids = [str(uuid4()) for _ in range(2)]
    for each in ids:
        path = Path.home() / ".pi" / "agent" / "sessions" / "--work--" / f"2026_{each}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"type": "session", "version": 3, "id": each, "cwd": str(work)}) + "\n")
    program = Program(tmp_path / "bin", "pi")
    with in_terminal(["pi"], work) as holder:
        for path in (Path.home() / ".pi").rglob("*.jsonl"):
            os.utime(path)
        found = [
            session_to_continue(path, os.environ, Path.home()).holder
            for path in (Path.home() / ".pi").rglob("*.jsonl")
        ]
        done = ran("continue", ids[0], "go")
    named = {each.process.pid for each in found if each is not None and each.process is not None}
    assert (named, {each is not None and each.is_sure for each in found}) == ({holder.pid}, {False})
    assert (done.returncode, program.started) == (1, None), done.stderr
    assert b"may hold" in done.stderr
    # Where only `ps` shows the processes, a session that is held is refused as well
    monkeypatch.setattr("agentwatch.sources.proc.Proc.exists", lambda _: False)
    program = Program(work.parent / "other", "claude", does="echo; sleep 100")
    with started(["claude", "--resume", ID], work, executable=str(program.path)) as holder:
        done = ran("continue", ID, "go")
    assert (done.returncode, f"process {holder.pid} (claude)".encode() in done.stderr) == (1, True), (
        done.stderr
    )


@pytest.mark.system
def test_of_two_commands_at_once_one_is_refused(tmp_path: Path, home: Path, work: Path) -> None:
    """Two commands that continue a session at the same time start one agent."""
    count, go = tmp_path / "count", tmp_path / "go"
    waits = f"while [ ! -e '{go}' ]; do sleep 0.01; done"
    Program(tmp_path / "bin", "claude", stream(), does=f"echo >> '{count}'; {waits}")
    both = [
        subprocess.Popen(
            [*AGENTWATCH, "continue", ID, "go"],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in range(2)
    ]
    until(lambda: any(each.poll() is not None for each in both), what="the end of the second command")
    go.touch()
    said = [each.communicate(timeout=60)[1] for each in both]
    assert sorted(each.returncode for each in both) == [0, 1], said
    assert count.read_text() == "\n"
    assert any(b"holds this session" in each for each in said)


@pytest.mark.system
def test_relative_names_are_those_of_the_user(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder in PATH that is relative is that of the user, not that of the session."""
    hostile, here = Program(work, "claude"), tmp_path / "here"
    program = Program(here, "claude", stream(cwd=str(work)))
    for path in (".", "", "bin:.:"):
        with case(path):
            monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
            assert watch("continue", ID, "go", cwd=here).returncode == 0
            assert hostile.started is None
            assert program.started == [str(work), str(work), *COMMAND, "go"]
            program.noted.unlink()
    # Files that the command line and the environment name are not in the folder of the session
    Program(tmp_path / "bin", "claude", stream(cwd=str(work)))
    (work / "config.toml").write_text("no settings")
    monkeypatch.setenv("AGENTWATCH_HOME", "own")
    monkeypatch.setenv("AGENTWATCH_CONFIG", "config.toml")
    done = watch("continue", ID, "go", "--record", "r.ndjson", "--log", "r.log", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "r.ndjson").read_text() == f"{stream(cwd=str(work))}\n"
    assert (tmp_path / "r.log").exists()
    assert [act.receipt for act in read_acts(tmp_path / "own" / "acts" / f"claude-{ID}.acts")][1:] == ["sent"]
    assert {path.name for path in work.iterdir()} == {"config.toml", "claude"}


def test_a_prompt_is_sent_once_the_model_answers(tmp_path: Path, home: Path, work: Path) -> None:
    """An agent may start, and hang before its first request: until its stream shows a text, a thought or a
    call, nobody knows whether it took the prompt. A run that ends without one says so."""
    init, *rest = stream().split("\n")
    os.mkfifo(tmp_path / "go")
    does = f"echo '{init}'; read -r _ < '{tmp_path / 'go'}'"
    Program(tmp_path / "bin", "claude", "\n".join(rest), does=does)
    command = [*AGENTWATCH, "continue", ID, "go"]
    run = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        until(lambda: any(path.stat().st_size for path in saved_recordings()), what="the first line")
        time.sleep(0.3)  # it is read
        begun = [act.receipt for act in acts(home)]
    finally:
        (tmp_path / "go").write_text("\n")
    assert (run.wait(30), begun) == (0, ["unknown"])
    assert [act.receipt for act in acts(home)] == ["unknown", "sent"]
    Program(tmp_path / "bin", "claude", f"{init}\n{json.dumps(claude_lines.result(session_id=ID))}")
    done = watch("continue", ID, "go", "--record", tmp_path / "r.ndjson")
    assert b"no line of this run shows that the agent has taken the prompt" in done.stderr
    assert [act.receipt for act in read_acts(tmp_path / "r.acts")] == ["unknown"]


@pytest.mark.system
def test_what_the_agent_answers_is_told(tmp_path: Path, home: Path, work: Path) -> None:
    """An agent that ends before it has a session has refused; one with another session is named."""
    Program(tmp_path / "bin", "claude", "not logged in", code=3)
    assert watch("continue", ID, "go").returncode == 3
    assert [act.receipt for act in acts(home)] == ["unknown", "refused"]
    Program(tmp_path / "bin", "claude", stream("another-one"))
    done = watch("continue", ID, "go")
    assert (done.returncode, [act.receipt for act in acts(home)][3:]) == (0, ["sent"])
    assert b"the agent has continued it as another session: another-one" in done.stderr
    # A file of acts that is a link is reported, and the session is continued
    program = Program(tmp_path / "bin", "claude", stream())
    (home / "acts" / f"claude-{ID}.acts").unlink()
    (home / "acts" / f"claude-{ID}.acts").symlink_to(tmp_path / "target")
    done = watch("continue", ID, "go")
    assert (done.returncode, program.started is not None) == (0, True)
    assert b"cannot record the act in" in done.stderr
    assert not (tmp_path / "target").exists()


QUEUED = f"Queued message 01-ab for thread {THREAD}."


@pytest.mark.system
def test_a_receipt_of_the_queue_is_shown(tmp_path: Path, home: Path, work: Path) -> None:
    """The prompt goes to the vendor's command once, for the thread that a terminal has open."""
    wrong = "WARNING: x\nError: no\x1b[2J thread\n at y"
    cases = [
        (QUEUED, 0, "", 0, "held", QUEUED[:-1], ""),
        (QUEUED.replace(THREAD, "another"), 0, "", 1, "unknown", "", "not queued: Queued message"),
        ("", 0, "", 1, "unknown", "", "not queued: exit code 0"),
        ("", 1, f"echo '{wrong}' >&2", 1, "refused", "", "not queued: Error: no␛"),
    ]
    with started(["codex", "resume", THREAD], work):
        for printed, code, does, expected, receipt, said, error in cases:
            with case((printed, does)):
                program = Program(tmp_path / "bin", "codex", printed, code, does)
                done = ran("continue", THREAD, "--queue", "--", "--go\nx")
                assert (done.returncode, done.stdout.decode().strip()) == (expected, said)
                assert error in done.stderr.decode()
                assert acts(home, f"codex-{THREAD}")[-1].receipt == receipt
                assert (program.started or [])[2:] == ["queue", f"--thread={THREAD}", "--message=--go\nx"]
        (tmp_path / "bin" / "codex").unlink()
        assert ran("continue", THREAD, "--queue", "go", PATH="/nowhere").returncode == NOT_FOUND
    assert acts(home, f"codex-{THREAD}")[-1][1:6] == ("queue", THREAD, "command", "codex queue", "refused")
    assert saved_recordings() == []


def arguments_of_all() -> list[bytes]:
    """Return the arguments of all processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            found.append(path.read_bytes())
    return found


def test_a_queue_that_hangs_is_given_up(
    tmp_path: Path, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a receipt in time it is unknown whether the prompt is queued; the command is ended."""
    monkeypatch.setattr("agentwatch.cli.continuing._QUEUE_SECONDS", 0.3)
    program = Program(tmp_path / "bin", "codex", does="sleep 100")
    with started(["codex", "resume", THREAD], work):
        done = ran("continue", THREAD, "--queue", "go")
    assert (done.returncode, b"no receipt within" in done.stderr) == (1, True)
    assert acts(home, f"codex-{THREAD}")[-1].receipt == "unknown"
    assert not any(os.fsencode(program.path) in words for words in arguments_of_all())


@pytest.mark.system
def test_only_a_receipt_of_the_queue_counts(
    tmp_path: Path, work: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt for a thread that `codex exec` has started would be lost, so it is refused."""
    codex_session(str(work), originator="codex_exec")
    program = Program(tmp_path / "bin", "codex", QUEUED)
    for command in (["codex", "resume", THREAD], ["codex", "exec", "resume", THREAD]):
        with case(command), started(command, work):
            done = ran("continue", THREAD, "--queue", "go")
            assert (done.returncode, b"was started for one prompt" in done.stderr) == (1, True)
    codex_session(str(work), originator="codex-tui")
    with started(["codex", "exec", "resume", THREAD], work):
        assert ran("continue", THREAD, "--queue", "go").returncode == 1
    assert program.started is None
    # A server that the command leaves behind delays no receipt, and gets no credentials of an engine
    monkeypatch.setattr("agentwatch.cli.continuing._QUEUE_SECONDS", 15)
    monkeypatch.setenv("AGENTWATCH_NATS_TOKEN", "secret")
    token = tmp_path / "token"
    does = f"sleep 30 & printenv AGENTWATCH_NATS_TOKEN > '{token}'"
    Program(tmp_path / "bin", "codex", QUEUED, does=does)
    with started(["codex", "resume", THREAD], work):
        done = ran("continue", THREAD, "--queue", "go")
    assert (done.returncode, done.stdout.decode().strip()) == (0, QUEUED[:-1])
    assert token.read_text() == ""
    assert [act.receipt for act in acts(home, f"codex-{THREAD}")] == [*["refused"] * 3, "held"]
    # After ctrl+c it is not known whether the vendor's command has queued the prompt
    program = Program(tmp_path / "bin", "codex", QUEUED, does="sleep 5")
    program.noted.unlink()
    with started(["codex", "resume", THREAD], work):
        command = [*AGENTWATCH, "continue", THREAD, "--queue", "go"]
        asked = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, start_new_session=True)
        until(lambda: program.started)
        asked.send_signal(signal.SIGINT)
        asked.wait(30)
    assert [act.receipt for act in acts(home, f"codex-{THREAD}")][3:] == ["held", "unknown"]
