"""A value is a secret after a label of one, unless it is a word, a placeholder or code."""

from agentwatch.output.redact.secrets.scanner import find
from tests.conftest import case

PASSWORD, TOKEN = "hunter" + "2x9", "a8Kd7fQ6a9s8Zf7as9L8"


def found_in(text: str) -> list[str]:
    return [text[each.start : each.end] for each in find(text)]


PASSWORDS: list[str] = [
    *("DB_PASSWORD={}", "export PASSWORD='{}'", "password: {}", '"password": "{}"', "dbPassword = '{}';"),
    *("password: str = '{}'", 'var password string = "{}"', "PASSWORD := {}", "<password>{}</password>"),
    *('<add key="Password" value="{}" />', 'setPassword("{}")', "define('DB_PASS', '{}');", "--password {}"),
    *("  - name: DB_PASSWORD\n    value: {}", "Server=db;Password={};Encrypt=yes", "**Password:** {}"),
    *('{{\\"password\\": \\"{}\\"}}', "password\x1b[0m: \x1b[33m{}\x1b[0m", "sslpassword={}", "pwd={}"),
    *("url?user=a&password={}&x=1", "login ada\nmachine h login ada password {}", 'String password = "{}";'),
]


def test_a_value_is_a_secret_after_its_label() -> None:
    """A value is found in the syntax of shells, languages and formats, without its quotes."""
    for text in PASSWORDS:
        with case(text):
            assert found_in(text.format(PASSWORD)) == [PASSWORD]
    # A generated value is found after the label of a token, or after the name of a vendor.
    for text in TOKENS:
        with case(text):
            assert found_in(text.format(TOKEN)) == [TOKEN]
    # What stands for a password, or names one, is not a password.
    for value in WORDS:
        with case(value):
            for text in (
                f"password={value}",
                f"password: {value}\n",
                f'password = "{value}"',
                f"--password {value}",
            ):
                if '"' not in value or '"' not in text.replace(value, ""):
                    assert found_in(text) == []
    # Hashes and ids after labels that only look like those of secrets are not secrets.
    for text in OTHER_LABELS:
        with case(text):
            assert found_in(text.format(TOKEN)) == []


TOKENS: list[str] = [
    *("API_TOKEN={}", '"accessToken": "{}"', "client_secret: {}", "--api-key {}", "x-api-key: {}"),
    *("?token={}&page=2", 'config.token "{}"', 'put("apiKey", "{}")', 'os.environ["TOKEN"] = "{}"'),
    *('token || "{}"', "secretKey => '{}'", "<apiKey>{}</apiKey>", "| token | `{}` |", "Token:\n\n    {}\n"),
    *("<key>apiKey</key>\n<string>{}</string>", "cloudflare: {}", 'Deepgram("{}")', "my token is {}"),
]


WORDS: list[str] = [
    *("required", "changeme", "<your-password>", "${PASSWORD}", "$PASSWORD", "{{ password }}", "********"),
    *("process.env.PASSWORD", 'os.environ["PASSWORD"]', "getpass.getpass()", "self.password", "xxxxxxxx"),
    *("string", "None", "user.password2", "./secrets/db1.txt", "ENC[placeholder]", "[secret:password 3f9a]"),
    *("%PASSWORD%", "%(password)s", "#{password}", "YOUR_PASSWORD_1", "example-password-1", "sha256"),
]


OTHER_LABELS: list[str] = [
    *("cache_key: {}", "token_type = '{}'", "primaryKey={}", "key_id: {}", "publicKeyToken={}"),
    *("password_hash: {}", "sha512-{}", "monkey = '{}'", "tokenizer: {}", "author: {}", "token_count={}"),
    *("passed: {}", "git log {}"),
]
