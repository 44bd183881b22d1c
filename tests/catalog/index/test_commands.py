"""A command is counted with the others that run the same program, whatever its arguments are."""

from __future__ import annotations

from agentwatch.catalog.index.rows import command_of
from tests.conftest import case


def test_the_words_that_say_what_a_command_does() -> None:
    """The program is named, with a script or a first argument that says what it does."""
    cases: list[tuple[str, str]] = [
        ("pytest -q tests/api 2>&1 | tail -5", "pytest"),
        ("uv run pytest tests", "pytest"),
        ("timeout 60 python -m pytest -x", "pytest"),
        ("cd web && npm run build", "npm run build"),
        ("npm test", "npm test"),
        ("CI=1 pnpm -r test", "pnpm test"),
        ("yarn exec tsc", "tsc"),
        ("npx tsc --noEmit", "tsc"),
        ("uv sync", "uv sync"),
        ("git --no-pager diff HEAD", "git diff"),
        ("cd git-repo && git push origin main", "git push"),
        ("git -C deep push", "git"),
        ("sudo apt-get install jq", "apt-get install"),
        ("make", "make"),
        ("make lint", "make lint"),
        ("for f in *.py; do ruff check $f; done", "ruff"),
        ("if cargo test --all; then echo ok; fi", "cargo test"),
        ("# first the tests\npytest", "pytest"),
        ("python -c 'import sys; print(sys.path)'", "python -c"),
        ("python manage.py migrate", "manage.py"),
        ("./scripts/run_20261122.sh", "run_N.sh"),
        ("/tmp/0f3a9bc1d2/test.sh", "test.sh"),
        ("./deploy-0f3a9bc1d2.sh", "deploy-N.sh"),
        ("grep -r foo . | wc -l", "grep"),
        ("cd a", "cd"),
        ("echo done && ls", "ls"),
        # Lines that a command gives to a program's stdin are not run by the shell.
        ("python3 - <<'EOF'\nimport os\nprint(os.sep)\nEOF\npytest -q", "pytest"),
        ("cat > run.sh <<EOF\nnpm run build\nEOF", "cat"),
        ("cat <<-END\n\tnpm test", "cat"),
        ("python3 - <<EOF\nimport os\nEOF", "python3"),
    ]
    for command, name in cases:
        with case(command):
            assert command_of(command) == name


def test_a_command_without_a_program_has_no_name() -> None:
    """Words that show no program are not counted as one."""
    for command in ["", "   ", "$TOOL --all", "A=1", "# only a comment"]:
        with case(command):
            assert command_of(command) is None


def test_a_hostile_command_has_a_short_name() -> None:
    """The name has at most 60 characters, and only the first 2,000 characters of the command are read."""
    cases: list[str] = [
        "do " * 50_000,
        "<<EOF\n" * 20_000,
        "cat <<A\n" * 9_000 + "A",
        "1" * 100_000,
        "if " * 90_000,
    ]
    for command in cases:
        with case(command):
            assert len(command_of(command) or "") <= 60
