"""Secrets are found by the syntax around them, and blocks of keys to their end."""

from random import Random

from agentwatch.output.redact.secrets.scanner import find
from tests.builders.redaction.templates import key_block, planted
from tests.conftest import case


def found_in(text: str) -> list[str]:
    return [text[each.start : each.end] for each in find(text)]


SYNTAX: list[str] = [
    *("postgres://app:«<an:9>»@db/x", "https://«<an:32>»@host/repo.git", "app:«<an:9>»@tcp(db:3306)/shop"),
    *("Authorization: Basic «dXNlcjpwYXNzd29yZDE=»", "Authorization: Bearer «<url:30>»", "token «<hex:40>»"),
    *("curl -s -u ada:«<pw:9>» https://x", "curl \\\n  --user 'ada:«<pw:9>»' x"),
    *("mysql -uroot -p«<pw:9>» db", "sshpass -p «<pw:9>» ssh h", "docker login -u a -p «<pw:9>» r.io"),
    *("redis-cli -h h -a «<an:12>» ping", "echo '«<pw:9>»' | sudo -S ls", "echo 'ada:«<pw:9>»' | chpasswd"),
    *("openssl x -passin pass:«<an:9>»", "CREATE USER a IDENTIFIED BY '«<pw:9>»'"),
    *("db:5432:app:ada:«<an:9>»", "root:«$6$<an:8>$<an:86>»:19000:0"),
    *("https://hooks.slack.com/services/«T<up:8>/B<up:8>/<an:24>»", "https://a.io/f?sv=1&sig=«<an:43>%3D»"),
    *("AKIA<b32:16>:«<b64:40>»", "ada:«$2y$10$<an:53>»"),
    "mnemonic: «one two three four five six seven eight nine ten eleven twelve»",
]


def test_syntax_shows_a_secret() -> None:
    """The secret is found whole in each syntax."""
    for template in SYNTAX:
        with case(template):
            made = planted(template, Random(4))
            assert made.text[made.start : made.end] in found_in(made.text)
    # Variables, words and other options are not secrets.
    for text in HARMLESS:
        with case(text):
            assert found_in(text) == []
    # A block is found from its first line to its last, however its lines end.
    for line_end in ["\n", "\r\n", "\\n", "\n    ", "\\r\\n", '\\n"\n  "']:
        for kind in ["RSA ", "", "OPENSSH ", "EC ", "ENCRYPTED "]:
            with case(f"{kind}{line_end!r}"):
                block = key_block(Random(1), line_end, kind)
                assert found_in(f"before\n{block}\nafter") == [block]
    # A block that is longer than a piece of the text is found whole. Of a block that was cut the lines of the
    # key are found, and not the text after them. Code between the first and the last line of a block is no
    # key. A JSON web token is found whole, with three parts or five, also when it has thousands of
    # characters.
    block = "\n".join([*key_block(Random(1), "\n").splitlines()[:-1] * 1, *["QUJD" * 16] * 900])
    block += "\n" + key_block(Random(1), "\n").splitlines()[-1]
    assert found_in(f"x {block} y") == [block]
    lines = key_block(Random(1), "\n").splitlines()[:-1]
    block = "\n".join(lines)
    assert found_in(f"{block}\n\nThis is what comes after it.") == [block]
    first, last = key_block(Random(1), "\n").splitlines()[0], key_block(Random(1), "\n").splitlines()[-1]
    assert found_in(f'if text.startswith("{first}"):\n    end = text.index("{last}")\n    print(end)') == []
    for template in (
        "eyJ<url:30>.eyJ<url:3000>.<url:43>",
        "eyJ<url:40>.<url:60>.<url:16>.<url:900>.<url:22>",
    ):
        token = planted(f"«{template}»", Random(2)).text
        assert found_in(f"x {token}, y") == [token]


HARMLESS: list[str] = [
    *("curl -u $USER:$PASS https://x", "docker run -u 1000:1000 image", "postgres://user:${PASS}@db"),
    *("Bearer authentication is required", "Basic usage", "://user:password@host", "https://a.io/@scope/x"),
    *("git@github.com:a/b.git", "mkdir -p build/x", "ssh -p 2222 h", "identified by the token"),
    "std::basic_string",
]
