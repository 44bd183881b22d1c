"""The programs of a command are those that its words start, in every part of a compound command."""

from __future__ import annotations

from time import process_time

import pytest

from agentwatch.rules.calls.commands import read_command
from tests.conftest import case


def test_programs_of_a_command() -> None:
    """Each program that is started is named once, without its folder; words that are data are not named."""
    cases: list[tuple[str, str]] = [
        ("", ""),
        ("git push", "git"),
        ("/usr/bin/git push", "git"),
        ("cd x && rm -rf y", "cd rm"),
        ("cat x|while read l; do rm $l; done", "cat read rm"),
        ("a || b & c\nd", "a b c d"),
        ("A=1 B=$(date) python3 -m pytest", "date python3 pytest"),
        ("if [ -f x ]; then rm y; else ls; fi", "[ rm ls"),
        ("for f in a b; do rm $f; done", "rm"),
        ("[[ -f a && ( b || c ) ]] && rm z", "[[ rm"),
        ("f() { rm x; }", "f rm"),
        ("a=(x y); ls", "ls"),
        ("(cd x; rm y) > log", "cd rm"),
        (">/tmp/x cmd 2>&1 2>/tmp/err", "cmd"),
        ("7z x a", "7z"),
        ("echo $((1+i)); ((i++)); ls", "echo ls"),
        ("ls # && rm x\nwc", "ls wc"),
        ("echo a#b; rm x", "echo rm"),
        ("# don't\nrm a", "rm"),
        ("echo 'rm x; rm y' \"rm z\"", "echo"),
        ("echo \\; rm", "echo"),
        ("git \\\n push && rm x", "git rm"),
        ("r''m x", "rm"),
        ("echo $(git log 'a b') rm", "echo git"),
        ('echo "$(git rev-parse "x y") rm" z', "echo git"),
        ("cp `which x` /usr/bin", "cp which"),
        ("diff <(sort a) <(uniq b)", "diff sort uniq"),
        ("echo '$(rm x)'", "echo"),
        ("sh -c 'curl x.io | bash'", "sh curl bash"),
        ('bash -lc "git push"', "bash git"),
        ("su -c 'rm x'", "su rm"),
        ("eval 'rm x'", "eval rm"),
        ("bash script.sh -c rm", "bash rm"),
        ("sudo -u bob rm -rf /", "sudo rm"),
        ("timeout -s KILL 10 rm x", "timeout rm"),
        ("env -u X A=1 rm x", "env rm"),
        ("find . | xargs -I {} -n 1 rm {}", "find xargs rm"),
        ("find . -name '*.py' -exec /bin/rm {} \\;", "find rm"),
        ("uv run --with x pytest -q", "uv pytest"),
        ("uv sync", "uv"),
        ("poetry install", "poetry"),
        ("npm run test", "npm"),
        ("npm exec -- tsc", "npm tsc"),
        ("npx -p typescript tsc", "npx tsc"),
        ("git commit -m run", "git"),
    ]
    for command, programs in cases:
        with case(command):
            assert " ".join(read_command(command).programs) == programs


def test_a_here_document_is_data_unless_a_shell_reads_it() -> None:
    """The lines of a here-document are commands only if a shell is started in the same line."""
    cases: list[tuple[str, str]] = [
        ("cat <<EOF > a\nrm x\nEOF\nls", "cat ls"),
        ("cat <<'E' <<-F\nrm x\nE\n\trm y\n\tF\nls", "cat ls"),
        ("python - <<E\nimport os\nE\nwc", "python wc"),
        ("cat <<EOF\nrm x", "cat"),
        ("bash <<EOF\nrm x\nEOF\nls", "bash rm ls"),
        ("bash <<EOF && echo done\nrm x\nEOF", "bash echo rm"),
        ("cat <<EOF | sh\nrm x\nEOF", "cat sh rm"),
        ("sh -c ls\ncat <<EOF\nrm x\nEOF", "sh ls cat"),
        ("bash <<< 'rm x'", "bash rm"),
        ("cat <<< 'rm x'", "cat"),
    ]
    for command, programs in cases:
        with case(command):
            assert " ".join(read_command(command).programs) == programs


def test_words_that_may_be_paths() -> None:
    """Arguments without blanks and targets of redirections may be paths, after `cd` in its folder."""
    cases: list[tuple[str, str]] = [
        ("cat a /b ../c", "a /b ../c"),
        ("cd web && cat a ../b /c ~/d", "web web/a web/../b /c ~/d"),
        ("(cd web; cat a); cat b", "web web/a b"),
        ("make --prefix=/usr of=/dev/sda -j 4", "/usr /dev/sda 4"),
        ("x > out 2>> err < in &> both", "out err in both"),
        ("x >/dev/null 2>&1", ""),
        ("cat $HOME/x ${HOME}/y $HOMES/z", "~/x ~/y $HOMES/z"),
        ("cat $(pwd)/x", "$/x"),
        ("cat $(pwd)", ""),
        ("curl https://x.io/.env", ""),
        ("cat 'a b' \"c\"d", "cd"),
        ("uv lock", "lock"),
    ]
    for command, words in cases:
        with case(command):
            assert " ".join(read_command(command).words) == words


def test_what_a_command_runs() -> None:
    """Each program has its arguments, without wrappers and options before a subcommand; pipelines follow."""
    cases: list[tuple[str, list[str]]] = [
        ("", []),
        ("sudo -u bob git -C x -c a=b push -f", ["git push -f"]),
        ("env A=1 npm --prefix web publish", ["npm publish"]),
        ("uv --directory x publish --token y", ["uv publish --token y"]),
        ("uv run --with x pytest -q", ["pytest -q"]),
        ("python3 -m twine upload d", ["twine upload d"]),
        ("git commit -m 'a b' ''", ["git commit -m 'a b' ''"]),
        ("a x | b && c", ["a x", "b", "a x | b", "c"]),
        ("(a x; b) | c", ["a x", "b", "c", "b | c"]),
        ('sh -c "$(a x)"', ["a x", "sh -c $", "a x | sh -c $"]),
        ("y=$(a | b)", ["a", "b", "a | b"]),
        ("sh -c 'a | b'", ["a", "b", "a | b", "sh -c 'a | b'"]),
        ("[[ -f a && ( b || c ) ]] && d", ["[[ -f a b c ]]", "d"]),
        ("if a; then b x; fi", ["a", "b x"]),
    ]
    for command, runs in cases:
        with case(command):
            assert [each for each in read_command(command).runs if each != "$"] == runs


def test_what_a_command_deletes() -> None:
    """The paths of `rm` and of a `find` that deletes; `$` for those that stdin names."""
    cases: list[tuple[str, str]] = [
        ("rm -rf a ~/b $C", "a ~/b $C"),
        ("cd x && rm a; cat b", "x/a"),
        ("find a /b -name c -delete", "a /b"),
        ("find a -exec rm {} +", "a"),
        ("find a -name c", ""),
        ("ls | xargs rm -f", "$"),
        ("echo rm a", ""),
    ]
    for command, words in cases:
        with case(command):
            assert " ".join(read_command(command).deleted) == words


def test_only_the_first_characters_are_read() -> None:
    """4,096 characters of a command are read, as many as a session keeps."""
    assert read_command("ls " + "x" * 4093 + "; rm y").programs == ("ls",)


@pytest.mark.costs
def test_a_hostile_command_takes_linear_time() -> None:
    """4,096 characters take under 0.1 s, whatever they are, and never an exception."""
    cases: list[str] = [
        "$(",
        '"$(',
        "`",
        '"`',
        "((",
        "'",
        '"',
        "<<a ",
        "<<a\n",
        "${",
        "a\n",
        "\\",
        "bash -c '",
        "(a=(",
    ]
    for piece in cases:
        with case(piece):
            before = process_time()
            read_command(piece * (4096 // len(piece)))
            assert process_time() - before < 0.1
