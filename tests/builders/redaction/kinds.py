"""Secrets of 45 kinds, each in several contexts; a third of the kinds have no prefix of their own."""

from collections.abc import Iterator
from random import Random

from tests.builders.redaction.templates import Planted, planted

_ENV = "# settings\nDEBUG=1\n{NAME}={value}\nPORT=8080\n"
_EXPORT = "$ export {NAME}={value} && make deploy\n"
_YAML = "service:\n  name: web\n  {name}: {value}\n  replicas: 2\n"
_JSON = '{{"name": "web", "{name}": "{value}", "replicas": 2}}'
_CODE = 'import client\n\nc = client.Client({name}="{value}", timeout=30)\n'
_CONST = "const {camel} = '{value}';\nexport default make({camel});\n"
_LOG = "2026-11-22T10:11:12Z INFO starting with {name}={value} in 3 ms\n"
_PLAIN_LOG = "2026-11-22T10:11:12Z INFO using {value} for the request\n"
_HEADER = "> GET /v1/items HTTP/1.1\n> Host: api.service.io\n> Authorization: Bearer {value}\n> Accept: */*\n"
_CURL = "curl -sS -H 'Authorization: Bearer {value}' https://api.service.io/v1/items"
_QUERY = "GET https://api.service.io/v1/items?page=2&{name}={value} 200 12ms"
_OPTION = "deployctl push --{dashed} {value} --verbose"
_TOML = '[service]\nurl = "https://service.io"\n{name} = "{value}"\n'

WITH_PREFIX = {
    "aws id": "AKIA<b32:16>",
    "github": "ghp_<an:36>",
    "github fine": "github_pat_<an:22>_<an:59>",
    "gitlab": "glpat-<url:20>",
    "slack bot": "xoxb-<num:12>-<num:13>-<an:24>",
    "slack app": "xapp-1-A<up:10>-<num:13>-<hex:64>",
    "stripe": "sk_live_<an:24>",
    "stripe webhook": "whsec_<an:32>",
    "openai": "sk-proj-<url:74>",
    "anthropic": "sk-ant-api03-<url:93>AA",
    "openrouter": "sk-or-v1-<hex:64>",
    "groq": "gsk_<an:52>",
    "hugging face": "hf_<an:34>",
    "replicate": "r8_<an:37>",
    "google": "AIza<url:35>",
    "google oauth": "ya29.<url:90>",
    "google secret": "GOCSPX-<url:28>",
    "npm": "npm_<an:36>",
    "pypi": "pypi-AgEIcHlwaS5vcmc<url:120>",
    "sendgrid": "SG.<url:22>.<url:43>",
    "telegram": "<num:10>:AA<url:33>",
    "shopify": "shpat_<hex:32>",
    "digitalocean": "dop_v1_<hex:64>",
    "vault": "hvs.<url:90>",
    "age": "AGE-SECRET-KEY-1<up:58>",
    "docker": "dckr_pat_<url:27>",
    "figma": "figd_<url:40>",
    "linear": "lin_api_<an:40>",
    "grafana": "glsa_<an:32>_<hex:8>",
    "databricks": "dapi<hex:32>",
    "jwt": "eyJ<url:33>.eyJ<url:80>.<url:43>",
}
"""Values by kind."""
_ANYWHERE = (_ENV, _YAML, _JSON, _CODE, _HEADER, _QUERY, _PLAIN_LOG, _CURL, _OPTION, _CONST)
WITHOUT_PREFIX = {
    "password": ("db password", "<pw:12>", (_ENV, _EXPORT, _YAML, _JSON, _CODE, _CONST, _LOG, _TOML)),
    "short password": ("password", "<pw:8>", (_ENV, _YAML, _JSON, _CODE, _TOML)),
    "aws secret": ("aws secret access key", "<b64:40>", (_ENV, _EXPORT, _YAML, _JSON, _CODE, _TOML, _LOG)),
    "api key": ("api key", "<an:32>", (_ENV, _YAML, _JSON, _CODE, _CONST, _QUERY, _OPTION, _LOG, _TOML)),
    "hex key": ("datadog api key", "<hex:32>", (_ENV, _YAML, _JSON, _CODE, _CONST, _QUERY, _LOG, _TOML)),
    "access token": (
        "access token",
        "<url:40>",
        (_ENV, _YAML, _JSON, _CODE, _HEADER, _QUERY, _CURL, _OPTION),
    ),
    "client secret": ("client secret", "<url:30>", (_ENV, _YAML, _JSON, _CODE, _CONST, _QUERY, _TOML)),
    "auth token": ("twilio auth token", "<hex:32>", (_ENV, _YAML, _JSON, _CODE, _CONST, _LOG)),
    "uuid key": ("heroku api key", "<uuid>", (_ENV, _EXPORT, _YAML, _JSON, _CODE, _CONST, _TOML)),
}
"""The words of the label, the value and its contexts by kind."""
WHOLE = {
    "database address": (
        "DATABASE_URL=postgres://app:«<an:14>»@db.internal:5432/app?sslmode=require",
        "engine = create_engine('mysql+pymysql://root:«<an:10>»@127.0.0.1/shop')",
        '{"uri": "mongodb+srv://svc:«<an:18>»@cluster0.mongodb.net/prod"}',
        "redis://:«<an:20>»@cache:6379/0",
    ),
    "basic credentials": (
        "curl -u admin:«<pw:10>» https://registry.internal/v2/_catalog",
        "curl --user 'deploy:«<pw:12>»' -X POST https://ci.internal/build",
        "git clone https://ada:«<an:24>»@git.internal/team/app.git",
    ),
    "private key": (
        "$ cat server.key\n«<pem>»\n$ ls\n",
        'key = """«<pem>»"""\n',
        "data:\n  tls: |\n«<pem>»\nkind: Secret\n",
    ),
    "azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=«<b64:86>==»;EndpointSuffix=core.windows.net",
        "AZURE_STORAGE_KEY=«<b64:86>==»",
        '"accountKey": "«<b64:86>==»"',
    ),
    "command option": (
        "mysql -h db -u root -p«<pw:10>» shop < dump.sql",
        "sshpass -p '«<pw:9>»' ssh root@10.0.0.2",
        "PGPASSWORD=«<pw:10>» psql -h db -U app",
    ),
}
"""Whole texts by kind: what surrounds the secret is its context."""
KINDS = (*WITH_PREFIX, *WITHOUT_PREFIX, *WHOLE)


def _names(words: str) -> dict[str, str]:
    """Return a label in the cases of languages."""
    parts = words.split()
    return {
        "name": "_".join(parts),
        "NAME": "_".join(parts).upper(),
        "dashed": "-".join(parts),
        "camel": parts[0] + "".join(map(str.title, parts[1:])),
    }


def secrets(seed: int = 1) -> Iterator[tuple[str, Planted]]:
    """Yield ten planted secrets of each kind, in different contexts where it has that many."""
    random = Random(seed)
    for kind, value in WITH_PREFIX.items():
        for context in _ANYWHERE:
            yield kind, planted(context.format(value=f"«{value}»", **_names("api token")), random)
    for kind, (words, value, contexts) in WITHOUT_PREFIX.items():
        for at in range(10):
            context = contexts[at % len(contexts)]
            yield kind, planted(context.format(value=f"«{value}»", **_names(words)), random)
    for kind, texts in WHOLE.items():
        for at in range(10):
            yield kind, planted(texts[at % len(texts)], random)
