"""`doctor` says what other machines need, without names and without connecting to any."""

from __future__ import annotations

from pathlib import Path

from agentwatch.cli.doctor import machines

SETTINGS = """
[machines]
list = [".", "zebulon", "ssh://zebulon-host"]
publish = "zebulon"
[engines.zebulon]
address = "nats://zebulon@zebulon.example"
credentials = "zebulon.txt"
ca = "gone.pem"
[engines.near]
address = "nats://127.0.0.1:4333"
[engines.far]
address = "nats://far.example"
plaintext = true
"""


def test_engines_are_numbered(tmp_path: Path) -> None:
    """Each engine of the settings has a line on its safety and files, without names of engines and hosts."""
    (tmp_path / "config.toml").write_text(SETTINGS)
    (tmp_path / "zebulon.txt").touch(0o640)
    (tmp_path / "zebulon.txt").chmod(0o640)
    found = machines(
        {"AGENTWATCH_CONFIG": str(tmp_path / "config.toml"), "AGENTWATCH_HOME": str(tmp_path), "PATH": ""}
        | {"AGENTWATCH_NATS_PASSWORD": "hunter2", "AGENTWATCH_NATS_USER": "zebulon"}
    )
    assert found == {
        "ssh": "not found",
        "credentials": "USER, PASSWORD",
        "copies": "0 recordings, 0 B",
        "settings": "3 machines listed, every run is published",
        "engine 1": "TLS, credentials 0640, authority no such file or directory",
        "engine 2": "this machine",
        "engine 3": "plain text allowed",
    }
    assert "zebulon" not in repr(found)
    assert "hunter2" not in repr(found)


def test_settings_that_are_invalid(tmp_path: Path) -> None:
    """Invalid settings are one word; the rest is reported."""
    (tmp_path / "config.toml").write_text("[machines]\nlist = 3\n")
    found = machines({"AGENTWATCH_CONFIG": str(tmp_path / "config.toml"), "AGENTWATCH_HOME": str(tmp_path)})
    assert found["settings"] == "invalid"
    assert found["copies"] == "0 recordings, 0 B"


def test_copies_are_counted(tmp_path: Path) -> None:
    """The recordings of other machines that are kept here are counted, with their size."""
    (tmp_path / "copies").mkdir()
    for name, size in (("a.ndjson", 1000), ("b.ndjson", 500), ("b.times", 99)):
        (tmp_path / "copies" / name).write_bytes(b"x" * size)
    found = machines({"AGENTWATCH_CONFIG": "/dev/null", "AGENTWATCH_HOME": str(tmp_path)})
    assert found["copies"] == "2 recordings, 1.5 kB"
    assert found["settings"] == "only this machine, runs are not published"
