"""Planted secrets are found, and ordinary material has none."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from agentwatch.output.redact.mask import Found
from agentwatch.output.redact.secrets.prefixed import least_run
from agentwatch.output.redact.secrets.scanner import find
from tests.builders.redaction.kinds import KINDS, WITH_PREFIX, secrets
from tests.builders.redaction.ordinary import MATERIALS, material
from tests.builders.redaction.rare import fourth, rare, second, third
from tests.builders.redaction.templates import Planted
from tests.conftest import case

WANTED, WANTED_RARE, MOST_FALSE = 0.98, 0.95, 3
SIZE = 200_000


def covered(planted: Planted, found: list[Found]) -> bool:
    """Return whether what was found covers the whole secret."""
    at = planted.start
    for each in found:
        if each.start <= at < each.end:
            at = each.end
    return at >= planted.end


def test_planted_secrets_of_45_kinds_are_found() -> None:
    """The corpus has 45 kinds of secrets, of which 14 have no prefix. At least 98 % of 450 planted secrets
    are found whole, and of each kind at least 8 of 10.
    """
    assert len(KINDS) == 45
    assert len(KINDS) - len(WITH_PREFIX) == 14
    missed = Counter(kind for kind, planted in secrets() if not covered(planted, find(planted.text)))
    assert missed.total() <= len(KINDS) * 10 * (1 - WANTED)
    assert max(missed.values(), default=0) <= 2, missed
    # At least 98 % are found in the strings of JSON in JSON, which have their line ends as escapes.
    count = 0
    for _kind, planted in secrets(2):
        before, secret = planted.text[: planted.start], planted.text[planted.start : planted.end]
        shown = [
            part.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
            for part in (before, secret, planted.text[planted.end :])
        ]
        escaped = Planted("".join(shown), len(shown[0]), len(shown[0]) + len(shown[1]))
        count += not covered(escaped, find(escaped.text))
    assert count <= len(KINDS) * 10 * (1 - WANTED)
    # A secret is found wherever it begins in a long text, also where two pieces of it meet.
    token = "ghp_" + "aB3dE6gH9" * 4
    filler = material("git log", 24_000)
    for at in (*range(16_300, 16_400, 11), *range(20_440, 20_500, 9)):
        place = filler.rindex("\n", 0, at) + 1
        text = f"{filler[:place]}use {token}\n{filler[place:]}"
        assert [text[each.start : each.end] for each in find(text)] == [token]


@pytest.mark.parametrize(
    ("make", "wanted"), [(rare, WANTED_RARE), (second, WANTED_RARE), (third, WANTED), (fourth, WANTED)]
)
def test_rarer_secrets_are_found(make: Callable[[int], Iterator[tuple[str, Planted]]], wanted: float) -> None:
    """At least 95 % of the tokens of rarer vendors, and of secrets in rarer syntax, are found whole.

    Of what hid secrets once, such as colours, cells and elements, at least 98 % are found whole.
    """
    corpus = list(make(3))
    assert len(corpus) >= 120
    missed = [
        f"{vendor}: {planted.text!r}"
        for vendor, planted in corpus
        if not covered(planted, find(planted.text))
    ]
    assert len(missed) <= len(corpus) * (1 - wanted), missed


@pytest.mark.system
@pytest.mark.slow
def test_ordinary_material_has_no_secrets() -> None:
    """At most three places for each megabyte of ordinary material are taken for secrets."""
    for name in MATERIALS:
        with case(name):
            text = material(name, SIZE)
            found = [text[each.start - 20 : each.end] for each in find(text)]
            assert len(found) <= MOST_FALSE * SIZE / 1_000_000, found[:5]


CODE: list[str] = [
    *("password=string", "password: required", '"password": "string"', "password: str", "token: required"),
    *("password = None", "password: Optional[str]", "password=password", "PASSWORD=changeme"),
    *("pass: missing", '<label for="password">Passwort</label>', "login(user=name, password=phrase)"),
    *("password: CharField", "passwd = readline", '"password": "incorrect"'),
    *('"password": "Enter the password again"', "password = x;"),
    *('type="password" name="password" placeholder="Password"', "password=getpass.getpass('x')"),
    *("pw = value", "password=$DB_PASSWORD", "password=$(cat x)", "PASSWORD=${PASSWORD:-x}"),
    *("password=/run/secrets/db1", "password: example-password-1", "token=your-api-key"),
    *(
        "const password = (user)",
        "PASSWORD=[hidden]",
        "пароль: неверный",
        "密码：请输入密码",
        "パスワード：必須",
    ),
    *("mot de passe : obligatoire", "senha: string"),
]
CELLS: list[str] = [
    *("name,password\nada,required\nbob,string\n", "user, token, key\nThe first, the second, a third\n"),
    *("| option | password |\n|---|---|\n| type | string |\n", "key,value\nwidth,100\nheight,200\n"),
    "INSERT INTO t (name, password) VALUES ('ada', NULL)",
    "INSERT INTO t (id, name) VALUES (1, 'a8Kd7fQ6a9')",
    *('form-data; name="file"; filename="a.txt"\n\na8Kd7fQ6a9\n', '["ls", "-p", "src"]'),
    *('["cut", "-u", "a:b"]', "- --verbose\n- --name\n- web\n", "USER   KEYBOARD\nada    qwerty104\n"),
    *('["key", "value"]', "<td>password</td><td>string</td>", "<dt>token</dt>\n<dd>The token of it</dd>"),
    "password:\n  type: x\n",
    "<artifactId>credentials</artifactId>\n<version>1511.v2e3cb_0008ef0</version>",
    *('variable "password" {\n  type = string\n}', "password: |\n  Enter it again\n"),
    *("password: >\n  required\n", '{"name": "password", "type": "string", "default": "required"}'),
    *("It is identified by password2 or by a name", '<input type="password" value="" name="password">'),
    '{"SigningKeyCertificateChain":\n  "NIICiTCCAfICCQD6m7oRw0uXOjANBgkqhkiG"}',
    "<b>pass</b> <i>2&#160;of&#160;5</i>",
]
COMMANDS: list[str] = [
    *("zip -r a.zip b", "unzip -P $PW a.zip", "mkdir -p x2y9/z", "ssh-keygen -l -f k", "net use Z: /delete"),
    *("docker run -p 8080:80 x", "echo hello | sudo tee x", "smbclient -L //h -U ada", "keytool -list"),
    *("cat notes.txt\n0123a5b6789abcdef0c23456789abcde\n", "vault kv put x a=$B", "zip -P ${PW} a b"),
]
LINES: list[str] = [
    *("commit 4f2a9c\nMerge: 1a2b3c4 5d6e7f8\n", "use ghp_\nand the rest of the words\n"),
    *("see AKIA\nfor keys", "API_VERSION=2025a\nPORT=8080\n", "a \x1b[31mred\x1b[0m word and \\x1b[0m"),
    *("100%25 of it, %20 and %2F", "Tom &amp; Jerry: &quot;token&quot; &lt;b&gt;"),
    *("-----END CERTIFICATE-----", "zero\u200bwidth key: value"),
]


def test_words_code_and_other_cells_stay() -> None:
    """Words, types, variables, messages and cells without a secret are not masked."""
    for text in (*CODE, *CELLS, *COMMANDS, *LINES):
        with case(text):
            assert [text[each.start : each.end] for each in find(text)] == []
    # It counts letters and digits that every match has in a row; a pattern that may have fewer has none.
    for pattern, run in PATTERNS:
        with case(pattern):
            assert least_run(pattern) == run


PATTERNS: list[tuple[str, int]] = [
    ("[A-Za-z0-9]{25}", 25),
    ("[0-9a-f]{36,40}(?:FFFF)?", 36),
    ("(?:pub_)?[0-9a-f]{31,35}", 31),
    ("[a-z-]{20}", 0),
    ("[A-Za-z0-9_-]{20,60}", 0),
    ("(?:[0-9a-f]{32}|x)", 0),
    ("x[0-9]{20}", 0),
]
