"""What looks like a secret behind a label, in a cell or in the next line, and is not one."""

from __future__ import annotations

from agentwatch.output.redact.secrets.scanner import find
from tests.conftest import case

CODE: list[str] = [
    *("password=string", "password: required", '"password": "string"', "password: str", "token: required"),
    *(
        "password = None",
        "password: Optional[str]",
        "password=password",
        "PASSWORD=changeme",
        "pass: missing",
    ),
    *('<label for="password">Passwort</label>', "login(user=name, password=phrase)", "password: CharField"),
    *(
        "passwd = readline",
        '"password": "incorrect"',
        '"password": "Enter the password again"',
        "password = x;",
    ),
    *(
        'type="password" name="password" placeholder="Password"',
        "password=getpass.getpass('x')",
        "pw = value",
    ),
    *("password=$DB_PASSWORD", "password=$(cat x)", "PASSWORD=${PASSWORD:-x}", "password=/run/secrets/db1"),
    *("password: example-password-1", "token=your-api-key", "const password = (user)", "PASSWORD=[hidden]"),
    *(
        "пароль: неверный",
        "密码：请输入密码",
        "パスワード：必須",
        "mot de passe : obligatoire",
        "senha: string",
    ),
]
CELLS: list[str] = [
    *("name,password\nada,required\nbob,string\n", "user, token, key\nThe first, the second, a third\n"),
    *("| option | password |\n|---|---|\n| type | string |\n", "key,value\nwidth,100\nheight,200\n"),
    *(
        "INSERT INTO t (name, password) VALUES ('ada', NULL)",
        "INSERT INTO t (id, name) VALUES (1, 'a8Kd7fQ6a9')",
    ),
    *(
        'form-data; name="file"; filename="a.txt"\n\na8Kd7fQ6a9\n',
        '["ls", "-p", "src"]',
        '["cut", "-u", "a:b"]',
    ),
    *("- --verbose\n- --name\n- web\n", "USER   KEYBOARD\nada    qwerty104\n", '["key", "value"]'),
]
COMMANDS: list[str] = [
    *("zip -r a.zip b", "unzip -P $PW a.zip", "mkdir -p x2y9/z", "ssh-keygen -l -f k", "net use Z: /delete"),
    *("docker run -p 8080:80 x", "echo hello | sudo tee x", "smbclient -L //h -U ada", "keytool -list"),
    *("cat notes.txt\n0123a5b6789abcdef0c23456789abcde\n", "vault kv put x a=$B", "zip -P ${PW} a b"),
]
LINES: list[str] = [
    *(
        "commit 4f2a9c\nMerge: 1a2b3c4 5d6e7f8\n",
        "use ghp_\nand the rest of the words\n",
        "see AKIA\nfor keys",
    ),
    *(
        "API_VERSION=2025a\nPORT=8080\n",
        "a \x1b[31mred\x1b[0m word and \\x1b[0m",
        "100%25 of it, %20 and %2F",
    ),
    *(
        "Tom &amp; Jerry: &quot;token&quot; &lt;b&gt;",
        "-----END CERTIFICATE-----",
        "zero\u200bwidth key: value",
    ),
]


def test_words_code_and_other_cells_stay() -> None:
    """Words, types, variables, messages and cells without a secret are not masked."""
    for text in (*CODE, *CELLS, *COMMANDS, *LINES):
        with case(text):
            assert [text[each.start : each.end] for each in find(text)] == []
