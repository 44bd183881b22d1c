"""Ordinary material without secrets: lock files, code, hashes, images in base64, logs, documents.

A template has the parts of a template of secrets. In a piece `<name>` is the name of a package, `<word>`,
`<Word>` and `<WORD>` the same name in code, `<version>` a version, and each `<any>` another name.
"""

import re
from functools import partial
from random import Random

from tests.builders.redaction.templates import filled

_NAMES = """
ansi-styles auth-header babel-core cloudinary-core css-tokenizer datadog-metrics debug escape-string
js-tokens jsonwebtoken keyv lru-cache mailgun-js node-fetch oauth-sign passport-local
password-prompt path-key react-dom secret-handshake sentry-core slack-web stripe-js token-types
twilio-video typescript undici-types url-parse yargs
"""
NAMES = tuple(_NAMES.split())
_WORD = re.compile("<(name|word|Word|WORD|version|any)>")
_PROSE = (
    "Each row of the list shows one call with its target, its outcome and how long it took. Select a row to "
    "read what the call printed; the list stays where it is. The window follows the newest row until you "
    "scroll up. Sizes are given in bytes, times in milliseconds, and both are rounded to three digits.\n\n"
)
_FILLING = (
    "    # <any>: width = max(len(row) for row in rows) at <num:3>\n"
    "    result.append(render(<any>, width=<num:2>, index=row + 1))\n"
    "    # <any>: if not path.exists(): continue, total += each.size\n"
) * 20
"""Code that has nothing to do with secrets, three times as much as the rest of a piece."""
MATERIALS = {
    "package-lock.json": (
        '    "node_modules/<name>": {\n      "version": "<version>",\n'
        '      "resolved": "https://registry.npmjs.org/<name>/-/<name>-<version>.tgz",\n'
        '      "integrity": "sha512-<b64:86>==",\n      "license": "MIT",\n'
        '      "engines": {\n        "node": ">=<num:2>"\n      }\n    },\n'
    ),
    "yarn.lock": (  # of the first version, and of a later one
        '<name>@^<version>:\n  version "<version>"\n'
        '  resolved "https://registry.yarnpkg.com/<name>/-/<name>-<version>.tgz#<hex:40>"\n'
        '  integrity sha1-<b64:27>=\n\n"@types/<name>@npm:^<version>":\n  version: <version>\n'
        '  resolution: "@types/<name>@npm:<version>"\n  checksum: 10c0/<hex:128>\n  languageName: node\n\n'
    ),
    "poetry.lock": (
        '[[package]]\nname = "<name>"\nversion = "<version>"\noptional = false\nfiles = [\n'
        '    {file = "<name>-<version>-py3-none-any.whl", hash = "sha256:<hex:64>"},\n'
        '    {file = "<name>-<version>.tar.gz", hash = "sha256:<hex:64>"},\n]\n\n'
    ),
    "uv.lock": (
        '[[package]]\nname = "<name>"\nversion = "<version>"\n'
        'source = { registry = "https://pypi.org/simple" }\nsdist = { url = "https://files.pythonhosted.org/'
        'packages/<hex:2>/<hex:2>/<hex:60>/<name>-<version>.tar.gz", hash = "sha256:<hex:64>", size = 8 }\n\n'
    ),
    "go.sum, Cargo.lock": (
        "github.com/<name>/<name>-go v<version> h1:<b64:43>=\n"
        '[[package]]\nname = "<name>"\nversion = "<version>"\nsource = "registry+https://github.com/rust-lang/'
        'crates.io-index"\nchecksum = "<hex:64>"\n\n'
    ),
    "git log": (
        "commit <hex:40>\nMerge: <hex:7> <hex:7>\nDate:   Sun Nov 22 10:11:07 2026 +0000\n\n"
        "    Use the token of <name> only when it is set (#<num:4>)\n\n"
        "diff --git a/src/<name>/auth.py b/src/<name>/auth.py\nindex <hex:7>..<hex:7> 100644\n"
        "--- a/src/<name>/auth.py\n+++ b/src/<name>/auth.py\n@@ -12,3 +12,4 @@ def headers(token):\n"
        "-    return {'X-Token': token}\n+    return {'X-Token': token or default_token()}\n\n"
    ),
    "UUIDs, checksums": (
        "<hex:64>  dist/<name>-<version>.tar.gz\nsha256:<hex:64> <name>:latest <num:3>MB\n"
        '{"id": "<uuid>", "parentId": "<uuid>", "etag": "<hex:32>"}\n'
        "HEAD is now at <hex:9> Bump <name>\nrequest_id=<uuid> trace_id=<hex:32>\n"
    ),
    "images in base64": (
        ".icon-key { background: url(data:image/png;base64,<b64:1200>); }\n"
        '{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "<b64:1200>"}}\n'
    ),
    "minified JavaScript": (
        'function <low:2>a(e,t){var n=e.token,r=e.key||t.key;return"password"===n.type?r.secret=n.value:n}'
        'var <word>={key:"<word>",auth:!0,token:void 0,password:function(e){return e.password}};'
        't.exports={TOKEN_<low:2>:1,apiKey:n(<num:4>),secretKey:null,tokenType:"<word>"};'
        + "function <low:2>b(e,t,n){for(var r=0,i=e.length;r<i;r++)t.push(e[r].width*n);return t}"
        * 8
    ),
    "Python": (
        'class <Word>:\n    """Sends the token with each request."""\n\n'
        "    def __init__(self, token: str | None = None, *, password: str = '') -> None:\n"
        "        self.token = token or os.environ['<WORD>_TOKEN']\n"
        "        self.password = password or getpass.getpass('Password: ')\n"
        "        self.api_key = settings.API_KEY\n        self._secret = config.get('client', 'secret')\n\n"
        "    def header(self) -> dict[str, str]:\n"
        '        return {"Authorization": f"Bearer {self.token}", "X-Api-Key": self.api_key}\n\n'
        "KEYS = sorted(cache_key(each) for each in <word>s)\nnext_token = response.get('NextToken')\n\n"
        + _FILLING
    ),
    "TypeScript": (
        "export interface <Word>Options {\n  apiKey: string;\n  accessToken?: string | null;\n"
        "  password: z.string().min(8);\n  tokenType: 'Bearer' | 'Basic';\n}\n"
        "const <word>Token = process.env.<WORD>_TOKEN ?? '';\n"
        "const secret = await getSecret({ name: 'database-password', version: 'latest' });\n"
        "headers.set('Authorization', `Bearer ${<word>Token}`);\n"
        "for (const [key, value] of Object.entries(tokens)) { cacheKey = `${key}:${value}`; }\n\n"
        + _FILLING.replace("#", "//")
    ),
    "Go": (
        'type <word>Config struct {\n\tAPIKey       string `json:"api_key" yaml:"apiKey"`\n'
        '\tClientSecret string `json:"client_secret,omitempty"`\n\tPassword     string `json:"-"`\n}\n\n'
        'func new<word>(token string) (*client, error) {\n\tif token == "" {\n'
        '\t\ttoken = os.Getenv("<WORD>_TOKEN")\n\t}\n\treq.Header.Set("Authorization", "Bearer "+token)\n'
        "\treturn &client{token: token, key: key}, nil\n}\n\n" + _FILLING.replace("#", "//")
    ),
    "documents": (
        "## Configure <name>\n\nSet your token:\n\n```sh\nexport <WORD>_TOKEN=<your-token>\n"
        "export <WORD>_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx\nexport DB_PASSWORD=changeme\n"
        "curl -H 'Authorization: Bearer YOUR_API_TOKEN' https://api.example.com\n"
        'docker run -e PASSWORD="${PASSWORD}" -e SECRET=$SECRET image\n```\n\n```yaml\n'
        "password: ${{ secrets.<WORD>_PASSWORD }}\napi_key: ENC[placeholder]\ntoken: {{ .Values.token }}\n"
        "secretKeyRef:\n  name: app-secrets\n  key: database-password\n```\n\n"
        "The password must have at least 12 characters. A token expires after an hour; the key of the cache "
        "is the path. Passwords are never logged, tokens neither.\n\n" + _PROSE * 3
    ),
    "texts of screens": (
        "{"
        + '  "<any>.title": "Ein Text, der <num:2> Zeilen erklärt",\n' * 12
        + '  "login": {"password": "Passwort", "forgotPassword": "Passwort vergessen?",\n'
        '  "token": "Zugangscode", "passwordPlaceholder": "Mindestens 8 Zeichen",\n'
        '  "apiKey": "API-Schlüssel", "secret": "Geheimnis"}}\n'
        "components:\n  securitySchemes:\n    <name>:\n      type: apiKey\n"
        "      name: X-API-Key\n      in: header\n"
        "properties:\n  password:\n    type: string\n    format: password\n    minLength: 8\n"
        "  access_token:\n    type: string\n    description: The token of the session\n"
    ),
}
"""The template of a piece of each material."""


def material(name: str, size: int, seed: int = 1) -> str:
    """Return material of at least a size in characters."""
    random, pieces, made = Random(seed), list[str](), 0
    while made < size:
        pieces.append(filled(_WORD.sub(partial(_named, _words(random), random), MATERIALS[name]), random))
        made += len(pieces[-1])
    return "".join(pieces)


def _words(random: Random) -> dict[str, str]:
    """Return what the words of a template are in a piece."""
    name = random.choice(NAMES)
    word, version = name.replace("-", "_"), ".".join(str(random.randrange(30)) for _ in range(3))
    forms = {"word": word, "Word": word.title().replace("_", ""), "WORD": word.upper()}
    return {"name": name, "version": version, **forms}


def _named(words: dict[str, str], random: Random, part: re.Match[str]) -> str:
    return words.get(part[1]) or random.choice(NAMES)
