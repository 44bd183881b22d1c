"""Ordinary material without secrets: lock files, code, hashes, images in base64, logs, documents."""

from __future__ import annotations

import base64
from collections.abc import Callable
from random import Random

from tests.builders.redaction.templates import ALPHABETS

_NAMES = """
ansi-styles auth-header babel-core cloudinary-core css-tokenizer datadog-metrics debug escape-string
js-tokens jsonwebtoken keyv lru-cache mailgun-js node-fetch oauth-sign passport-local
password-prompt path-key react-dom secret-handshake sentry-core slack-web stripe-js token-types
twilio-video typescript undici-types url-parse yargs
"""
NAMES = tuple(_NAMES.split())


def _chars(random: Random, alphabet: str, size: int) -> str:
    """Return random characters."""
    return "".join(random.choices(ALPHABETS[alphabet], k=size))


def _hash(random: Random, size: int = 40) -> str:
    """Return hexadecimal digits."""
    return _chars(random, "hex", size)


def _uuid(random: Random) -> str:
    """Return a UUID."""
    return "-".join(_hash(random, size) for size in (8, 4, 4, 4, 12))


def _version(random: Random) -> str:
    """Return a version."""
    return ".".join(str(random.randrange(30)) for _ in range(3))


def package_lock(random: Random) -> str:
    """Return an entry of package-lock.json."""
    name, version = random.choice(NAMES), _version(random)
    return (
        f'    "node_modules/{name}": {{\n      "version": "{version}",\n'
        f'      "resolved": "https://registry.npmjs.org/{name}/-/{name}-{version}.tgz",\n'
        f'      "integrity": "sha512-{_chars(random, "b64", 86)}==",\n      "license": "MIT",\n'
        f'      "engines": {{\n        "node": ">={random.randrange(6, 22)}"\n      }}\n    }},\n'
    )


def yarn_lock(random: Random) -> str:
    """Return an entry of yarn.lock, of the first and of a later version."""
    name, version = random.choice(NAMES), _version(random)
    return (
        f'{name}@^{version}:\n  version "{version}"\n'
        f'  resolved "https://registry.yarnpkg.com/{name}/-/{name}-{version}.tgz#{_hash(random)}"\n'
        f"  integrity sha1-{_chars(random, 'b64', 27)}=\n\n"
        f'"@types/{name}@npm:^{version}":\n  version: {version}\n  resolution: '
        f'"@types/{name}@npm:{version}"\n'
        f"  checksum: 10c0/{_hash(random, 128)}\n  languageName: node\n\n"
    )


def poetry_lock(random: Random) -> str:
    """Return an entry of poetry.lock."""
    name, version = random.choice(NAMES), _version(random)
    return (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\noptional = false\nfiles = [\n'
        f'    {{file = "{name}-{version}-py3-none-any.whl", hash = "sha256:{_hash(random, 64)}"}},\n'
        f'    {{file = "{name}-{version}.tar.gz", hash = "sha256:{_hash(random, 64)}"}},\n]\n\n'
    )


def uv_lock(random: Random) -> str:
    """Return an entry of uv.lock."""
    name, version = random.choice(NAMES), _version(random)
    path = f"{_hash(random, 2)}/{_hash(random, 2)}/{_hash(random, 60)}"
    return (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        f'source = {{ registry = "https://pypi.org/simple" }}\nsdist = '
        f'{{ url = "https://files.pythonhosted.org/'
        f'packages/{path}/{name}-{version}.tar.gz", hash = "sha256:{_hash(random, 64)}", size = 84213 }}\n\n'
    )


def go_sum(random: Random) -> str:
    """Return a line of go.sum and an entry of Cargo.lock."""
    name, version = random.choice(NAMES), _version(random)
    return (
        f"github.com/{name}/{name}-go v{version} h1:{_chars(random, 'b64', 43)}=\n"
        f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = '
        f'"registry+https://github.com/rust-lang/'
        f'crates.io-index"\nchecksum = "{_hash(random, 64)}"\n\n'
    )


def git_log(random: Random) -> str:
    """Return a commit as `git log -p` prints it."""
    name = random.choice(NAMES)
    return (
        f"commit {_hash(random)}\nMerge: {_hash(random, 7)} {_hash(random, 7)}\n"
        f"Date:   Sun Nov 22 10:11:{random.randrange(60):02} 2026 +0000\n\n"
        f"    Use the token of {name} only when it is set (#{random.randrange(9999)})\n\n"
        f"diff --git a/src/{name}/auth.py b/src/{name}/auth.py\n"
        f"index {_hash(random, 7)}..{_hash(random, 7)} 100644\n"
        f"--- a/src/{name}/auth.py\n+++ b/src/{name}/auth.py\n@@ -12,3 +12,4 @@ def headers(token):\n"
        "-    return {'X-Token': token}\n+    return {'X-Token': token or default_token()}\n\n"
    )


def hashes(random: Random) -> str:
    """Return lines with UUIDs and checksums, as tools print them."""
    name = random.choice(NAMES)
    return (
        f"{_hash(random, 64)}  dist/{name}-{_version(random)}.tar.gz\n"
        f"sha256:{_hash(random, 64)} {name}:latest {random.randrange(900)}MB\n"
        f'{{"id": "{_uuid(random)}", "parentId": "{_uuid(random)}", "etag": "{_hash(random, 32)}"}}\n'
        f"HEAD is now at {_hash(random, 9)} Bump {name}\nrequest_id={_uuid(random)} "
        f"trace_id={_hash(random, 32)}\n"
    )


def image(random: Random) -> str:
    """Return a small picture in base64, in a stylesheet and in JSON."""
    data = base64.b64encode(random.randbytes(900)).decode()
    return (
        f".icon-key {{ background: url(data:image/png;base64,{data}); }}\n"
        f'{{"type": "image", "source": {{"type": "base64", "media_type": "image/png", "data": "{data}"}}}}\n'
    )


def minified(random: Random) -> str:
    """Return JavaScript as bundlers write it."""
    one, two = random.choice(NAMES).replace("-", "_"), _chars(random, "low", 2)
    return (
        f'function {two}a(e,t){{var n=e.token,r=e.key||t.key;return"password"===n.type?r.secret=n.value:n}}'
        f'var {one}={{key:"{one}",auth:!0,token:void 0,password:function(e){{return e.password}}}};'
        f't.exports={{TOKEN_{two}:1,apiKey:n({random.randrange(9999)}),secretKey:null,tokenType:"{one}"}};'
        + "".join(
            f"function {_chars(random, 'low', 2)}b(e,t,n)"
            "{for(var r=0,i=e.length;r<i;r++)t.push(e[r].width*n);return t}"
            for _ in range(8)
        )
    )


_PROSE = (
    "Each row of the list shows one call with its target, its outcome and how long it took. Select a row to "
    "read what the call printed; the list stays where it is. The window follows the newest row until you "
    "scroll up. Sizes are given in bytes, times in milliseconds, and both are rounded to three digits.\n\n"
)
_SCREEN_LINES = (
    "width = max(len(row) for row in rows)",
    "if not path.exists(): continue",
    "total += each.size",
)


def _filling(random: Random, comment: str) -> str:
    """Return code that has nothing to do with secrets, three times as much as the rest of a piece."""
    lines = []
    for _ in range(30):
        name = random.choice(NAMES).replace("-", "_")
        lines.append(f"    {comment} {name}: {random.choice(_SCREEN_LINES)} at {random.randrange(999)}")
        lines.append(f"    result.append(render({name}, width={random.randrange(200)}, index=row + 1))")
    return "\n".join(lines) + "\n"


def python(random: Random) -> str:
    """Return code in Python that handles secrets, and has none."""
    name = random.choice(NAMES).replace("-", "_")
    return (
        f'class {name.title().replace("_", "")}:\n    """Sends the token with each request."""\n\n'
        "    def __init__(self, token: str | None = None, *, password: str = '') -> None:\n"
        f"        self.token = token or os.environ['{name.upper()}_TOKEN']\n"
        "        self.password = password or getpass.getpass('Password: ')\n"
        "        self.api_key = settings.API_KEY\n        self._secret = config.get('client', 'secret')\n\n"
        "    def header(self) -> dict[str, str]:\n"
        '        return {"Authorization": f"Bearer {self.token}", "X-Api-Key": self.api_key}\n\n'
        f"KEYS = sorted(cache_key(each) for each in {name}s)\nnext_token = response.get('NextToken')\n\n"
        + _filling(random, "#")
    )


def typescript(random: Random) -> str:
    """Return code in TypeScript that handles secrets, and has none."""
    name = random.choice(NAMES).replace("-", "")
    return (
        f"export interface {name.title()}Options {{\n  apiKey: string;\n  accessToken?: string | null;\n"
        "  password: z.string().min(8);\n  tokenType: 'Bearer' | 'Basic';\n}\n"
        f"const {name}Token = process.env.{name.upper()}_TOKEN ?? '';\n"
        "const secret = await getSecret({ name: 'database-password', version: 'latest' });\n"
        f"headers.set('Authorization', `Bearer ${{{name}Token}}`);\n"
        "for (const [key, value] of Object.entries(tokens)) { cacheKey = `${key}:${value}`; }\n\n"
        + _filling(random, "//")
    )


def go(random: Random) -> str:
    """Return code in Go that handles secrets, and has none."""
    name = random.choice(NAMES).replace("-", "")
    return (
        f'type {name}Config struct {{\n\tAPIKey       string `json:"api_key" yaml:"apiKey"`\n'
        '\tClientSecret string `json:"client_secret,omitempty"`\n\tPassword     string `json:"-"`\n}\n\n'
        f'func new{name}(token string) (*client, error) {{\n\tif token == "" {{\n'
        f'\t\ttoken = os.Getenv("{name.upper()}_TOKEN")\n\t}}\n'
        '\treq.Header.Set("Authorization", "Bearer "+token)\n\treturn '
        "&client{token: token, key: key}, nil\n}\n\n" + _filling(random, "//")
    )


def documents(random: Random) -> str:
    """Return documentation with placeholders where secrets go."""
    name = random.choice(NAMES)
    upper = name.upper().replace("-", "_")
    return (
        f"## Configure {name}\n\nSet your token:\n\n```sh\nexport {upper}_TOKEN=<your-token>\n"
        f"export {upper}_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx\nexport DB_PASSWORD=changeme\n"
        "curl -H 'Authorization: Bearer YOUR_API_TOKEN' https://api.example.com\n"
        'docker run -e PASSWORD="${PASSWORD}" -e SECRET=$SECRET image\n```\n\n```yaml\n'
        f"password: ${{{{ secrets.{upper}_PASSWORD }}}}\napi_key: ENC[placeholder]\ntoken: "
        f"{{{{ .Values.token }}}}\n"
        "secretKeyRef:\n  name: app-secrets\n  key: database-password\n```\n\n"
        "The password must have at least 12 characters. A token expires after 3600 seconds; the "
        "key of the cache "
        "is the path. Passwords are never logged, tokens neither.\n\n" + _PROSE * 3
    )


def words(random: Random) -> str:
    """Return texts of a screen in JSON, and a description of an interface."""
    name = random.choice(NAMES)
    rows = "".join(
        f'  "{random.choice(NAMES)}.title": "Ein Text, der {random.randrange(99)} Zeilen erklärt",\n'
        for _ in range(12)
    )
    return (
        f'{{{rows}  "login": {{"password": "Passwort", "forgotPassword": "Passwort vergessen?",\n'
        '  "token": "Zugangscode", "passwordPlaceholder": "Mindestens 8 Zeichen",\n'
        '  "apiKey": "API-Schlüssel", "secret": "Geheimnis"}}\n'
        f"components:\n  securitySchemes:\n    {name}:\n      type: apiKey\n"
        "      name: X-API-Key\n      in: header\n"
        "properties:\n  password:\n    type: string\n    format: password\n    minLength: 8\n"
        "  access_token:\n    type: string\n    description: The token of the session\n"
    )


MATERIALS: dict[str, Callable[[Random], str]] = {
    "package-lock.json": package_lock,
    "yarn.lock": yarn_lock,
    "poetry.lock": poetry_lock,
    "uv.lock": uv_lock,
    "go.sum, Cargo.lock": go_sum,
    "git log": git_log,
    "UUIDs, checksums": hashes,
    "images in base64": image,
    "minified JavaScript": minified,
    "Python": python,
    "TypeScript": typescript,
    "Go": go,
    "documents": documents,
    "texts of screens": words,
}
"""Makers of a piece of each material."""


def material(name: str, size: int, seed: int = 1) -> str:
    """Return material of at least a size in characters."""
    random, pieces, made = Random(seed), list[str](), 0
    while made < size:
        pieces.append(MATERIALS[name](random))
        made += len(pieces[-1])
    return "".join(pieces)
