"""Finds secrets by the syntax around them: addresses, headers, options, password hashes, webhooks."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Literal, NamedTuple

from agentwatch.output.redact.mask import Found, Heads
from agentwatch.output.redact.secrets.prefixed import UUID, compiled, least_run
from agentwatch.output.redact.secrets.values import is_code, is_password, is_placeholder, is_random, run_of

Judgement = Literal["any", "filled", "random", "generated", "bearer", "base64", "password", "cookie"]
"""What a value must be: anything, no placeholder or variable, generated (`generated`: surely so), a token, a
name and a password in base64, a password, or cookies of which one is generated."""

_OPTION = r"(?:\"([^\"\s]{3,200})|'([^'\s]{3,200})|([^\s\"'`;|&)]{3,200}))"
_USER = r"[\"']?[^\s:\"'$/]{0,100}:([^\s\"']{3,200})"
_CREDENTIALS = "([A-Za-z0-9._~+/=-]{12,1000}(?::[A-Za-z0-9_-]{8,200})?)"
_LINE = r"\b[^\n|;]{0,200}?[ \t]"
_PGPASS = r"[A-Za-z0-9_*.-]{1,63}:[A-Za-z0-9_*.@-]{1,63}:([^\s:\"']{3,200})"
_PHRASE = r"[\"'`]?[ \t]{0,4}[:=(][ \t]{0,4}[\"'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})"


class Context(NamedTuple):
    """Syntax that shows where a secret is."""

    literal: str
    """A part, in lower case, of every text with this syntax. Patterns that begin with it are faster."""
    pattern: str
    """A regular expression that RE2 can compile. Its last group that matched is the secret, or all of it."""
    kind: str = "password"
    judgement: Judgement = "filled"
    inside: bool = False
    """Whether the literal may begin inside a word."""


def _webhook(kind: str, host: str, path: str) -> Context:
    return Context(host, host.replace(".", r"\.") + path, kind)


ADDRESSES = (
    Context("://", r"://[^\s:/@\"'<>?#]{0,100}:([^\s/@\"'<>]{1,300})@", "url password"),
    Context("://", "://([A-Za-z0-9_-]{16,300})(?::x-oauth-basic)?@", "url token", "random"),
    Context("@tcp(", r"[A-Za-z0-9_.-]{1,60}:([^\s\"'`@:/]{1,200})@tcp\("),
    Context("@unix(", r"[A-Za-z0-9_.-]{1,60}:([^\s\"'`@:/]{1,200})@unix\("),
    Context("jdbc:oracle", r"jdbc:oracle:[a-z]{2,5}:[^\s/\"']{1,60}/([^\s@\"']{3,200})@"),
    Context("sig=", r"[?&;\"' ]sig=([A-Za-z0-9%+/=_-]{30,120}(?:[ ]{2}=){0,2})", "azure"),
    Context("code=", "[?&]code=([A-Za-z0-9%/_.~+-]{20,300}={0,2})", "address code", "random"),
    Context("signature=", "(?i)signature=([0-9a-f]{64}|[A-Za-z0-9%+/=]{27,90})", "aws"),
    _webhook("infura", "infura.io/", "v3/([0-9a-f]{32})"),
    _webhook("alchemy", "alchemy.com/", "v2/([A-Za-z0-9_-]{21,40})"),
    _webhook("quicknode", ".quiknode.pro/", "([0-9a-f]{32,40})"),
    _webhook("slack", "hooks.slack.com", "/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,120})"),
    _webhook("slack", "hooks.slack-gov.com", "/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,120})"),
    _webhook("discord", "/api/webhooks/", "([0-9]{15,21}/[A-Za-z0-9_-]{40,90})"),
    _webhook("teams", "webhook.office.com", "/webhookb?2?/([A-Za-z0-9@/_-]{30,260})"),
    _webhook("teams", "outlook.office.com", "/webhook/([A-Za-z0-9@/_-]{30,260})"),
    _webhook("zapier", "hooks.zapier.com", "/hooks/(?:catch|standard)/([0-9A-Za-z/_-]{8,80})"),
    _webhook("ifttt", "maker.ifttt.com", "/[A-Za-z0-9/_{}.-]{1,100}/key/([A-Za-z0-9_-]{20,60})"),
    _webhook("lark", "/open-apis/bot/", "v?2?/?hook/([A-Za-z0-9-]{20,60})"),
    _webhook("make", ".make.com", "/([a-z0-9]{20,60})"),
    _webhook("make", ".integromat.com", "/([a-z0-9]{20,60})"),
    _webhook("healthchecks", "hc-ping.com", f"/({UUID}|[A-Za-z0-9_-]{{22}})"),
)
_HEADERS = (
    Context("bearer", rf"(?i)bearer[ \t=:]{{1,4}}[\"']?{_CREDENTIALS}", "bearer token", "bearer"),
    Context("basic", r"(?i)basic[ \t]{1,4}[\"']?([A-Za-z0-9+/=_-]{8,1000})", "basic auth", "base64"),
    Context(
        "authorization",
        r"(?i)authorization[\\\"'`\]) \t]{0,6}[:=,][ \t]{0,4}[\"'`]{0,2}"
        rf"(?:[A-Za-z0-9-]{{2,30}}[ \t]{{1,2}})?(?:token=|key=|apikey=)?[\"']?{_CREDENTIALS}",
        "authorization",
        "bearer",
    ),
    Context("token ", r"(?i)token [ \t]?([0-9a-f]{32,64})\b", "token", "random"),
    Context("ssws", rf"(?i)SSWS[ \t]{{1,4}}{_CREDENTIALS}", "okta", "random"),
    Context("splunk", rf"(?i)splunk[ \t]{{1,4}}({UUID})", "splunk"),
)
_PIPED = r"(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?[\"']?([^\s\"'|$]{3,300})[\"']?[ \t]{0,4}\|[^\n|]{0,100}"
_PAIR = r"\([\"'][^\"'\n]{1,80}[\"'],[ ]{0,2}[\"']([^\"'\n ]{3,200})[\"']"
_PROGRAMS: tuple[tuple[str, str, Judgement], ...] = (
    ("zip|bcp |unzip", r"-P[ \t]{0,4}", "filled"),
    ("rar ", "-h?p", "filled"),
    ("keytool|jarsigner", r"-[a-z]{0,10}pass[ \t]{1,4}", "filled"),
    ("openssl enc|openssl aes", r"-k[ \t]{1,4}", "filled"),
    ("ssh-keygen", r"-[NP][ \t]{1,4}", "filled"),
    ("useradd|usermod", r"(?:-p|--password)[ \t=]{1,4}", "filled"),
    ("ipmitool|mosquitto_", r"-P[ \t]{1,4}", "filled"),
    ("snmp", r"-[AX][ \t]{1,4}", "filled"),
    ("xfreerdp|wlfreerdp|mstsc", "/p:", "filled"),
    ("rdesktop|evil-winrm|crackmapexec|netexec|smbmap|twine|ncftp|beeline", r"-p[ \t]{1,4}", "filled"),
    ("cqlsh|psexec|rabbitmqadmin|couchbase-cli", r"-p[ \t]{1,4}", "filled"),
    ("influx ", r"-p(?:assword)?[ \t]{1,4}", "filled"),
    ("plink|pscp|psftp", r"-pw[ \t]{1,4}", "filled"),
    ("jenkins-cli", r"-auth[ \t]{1,4}[^\s:]{1,60}:", "filled"),
    ("rclone obscure|bw unlock", "", "filled"),
    ("wpa_passphrase", r"[\"']?[^\s\"']{1,40}[\"']?[ \t]{1,4}", "filled"),
    ("rabbitmqctl add_user|rabbitmqctl change_password", r"[^\s]{1,60}[ \t]{1,4}", "filled"),
    ("samba-tool user create", r"[^\s]{1,60}[ \t]{1,4}", "filled"),
    ("smbpasswd", r"-w[ \t]{1,4}", "filled"),
    ("bw login", r"[^\s]{1,80}[ \t]{1,4}", "password"),
    ("redis-cli", r"(?:AUTH|auth)[ \t]{1,4}", "password"),
)
"""Programs, their option that takes a password, and what a password must be there."""
OPTIONS = (
    Context("-p", rf"-u[ \t]{{0,2}}[^\s]{{1,60}}[ \t]{{1,4}}-p[ \t]{{0,2}}{_OPTION}", judgement="password"),
    Context("lftp", r"lftp[^\n]{0,80}?-u[ \t]{1,2}[^\s,]{1,60},([^\s\"']{3,200})"),
    Context("secret ", rf"{_PIPED}secret[ \t](?:create|set|put)"),
    Context("auth(", rf"(?i)auth{_PAIR}", judgement="password", inside=True),
    Context("auth=(", rf"(?i)auth={_PAIR}", judgement="password"),
    Context("appid", r"(?i)appid[\"']?[ ]{0,2}[=:][ ]{0,2}[\"']?([0-9a-f]{32})", "openweather"),
    Context(
        "cookie",
        r"(?i)cookie[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?([A-Za-z0-9_.-]{1,64}=[^\s\"'][^\n\"'\\]{8,900})",
        "cookie",
        "cookie",
    ),
    *(
        Context(literal, rf"(?i){literal}[\"']?([A-Za-z0-9%._~+/:=-]{{16,900}})", "cookie", "random")
        for literal in ("phpsessid=", "jsessionid=", "sessionid=", "session=", "xsrf-token=")
    ),
    Context("s:", r"\bs:([A-Za-z0-9_-]{20,64}\.[A-Za-z0-9+/]{40,46}={0,2})", "cookie", "random"),
    Context("s%3a", r"s%3[Aa]([A-Za-z0-9_-]{20,64}\.[A-Za-z0-9%+/]{40,66}={0,2})", "cookie", "random"),
    Context(
        "machine",
        r"machine\s{1,4}[^\s]{1,200}\s{1,20}login\s{1,4}[^\s]{1,100}\s{1,20}password\s{1,4}([^\s\"']{3,200})",
    ),
    Context("curl", rf"curl\b[^|;]{{0,300}}?[ \t](?:-u[ \t]{{0,4}}|--user[ \t=]{{1,4}}){_USER}", "curl"),
    Context("--proxy-user", rf"--proxy-user[ \t=]{{1,4}}{_USER}", "curl"),
    Context("http", rf"\bhttps?[ \t](?:[^\n|;]{{0,200}}?[ \t])?(?:-a|--auth)[ \t=]{{1,4}}{_USER}", "http"),
    *(
        Context(literal, rf"{option}[ \t=]{{0,4}}[\"']?[A-Za-z0-9_.\\/-]{{1,60}}%([^\s\"']{{3,200}})", "smb")
        for literal, option in (("-u", "-U"), ("--user", "--user(?:name)?"))
    ),
    *(
        Context(
            program,
            rf"{re.escape(program)}[a-z0-9_.-]{{0,20}}(?:{_LINE}|[ \t]){options}{_OPTION}",
            judgement=judgement,
        )
        for programs, options, judgement in _PROGRAMS
        for program in programs.split("|")
    ),
    Context(
        "net use", r"(?i)net use[^\n]{0,100}?\\[^\s]{1,100}[ \t]{1,4}([^\s\"'/]{3,200})[ \t]{1,4}/u(?:ser)?:"
    ),
    Context(
        "net user",
        r"(?i)net user[ \t]{1,4}[^\s/]{1,40}[ \t]{1,4}([^\s\"'/*][^\s\"']{2,100})",
        judgement="password",
    ),
    Context(
        "<<<",
        r"(?:sudo|kinit|cryptsetup|passwd|login|gpg|openssl|chpasswd|sshpass|secret|restic|borg)"
        rf"[^\n|;]{{0,160}}?<<<[ \t]{{0,4}}{_OPTION}",
    ),
    Context(
        "echo ",
        r"echo[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?[\"']?([^\s\"'|]{3,200})[\"']?"
        r"[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?(?:cryptsetup|passwd|kinit|smbpasswd|vncpasswd"
        r"|ldappasswd|saslpasswd2|gpg|su|gh auth|wrangler|bw|security)\b",
    ),
    Context(
        "password '",
        r"(?i)(?:role|user|login|encrypted|with|options)[ \t(][^\n;]{0,80}?"
        r"password[ \t]{1,4}'([^'\s]{3,200})'",
    ),
    Context(
        "send ", r"send[ \t]{1,4}(?:--[ \t]{1,4})?\"([^\s\"\\$]{3,100})(?:\\r|\\n|\s)", judgement="password"
    ),
    Context("--from-literal", rf"--from-literal[= \t][\"']?[^\s=\"']{{1,80}}={_OPTION}", "secret"),
    Context(
        "secret",
        rf"secrets? set[ \t]{{1,4}}[^\n|;]{{0,120}}?(?:[A-Z][A-Z0-9_]{{1,60}}=|--body[ =]|-b[ ]){_OPTION}",
        "secret",
    ),
    Context(
        "vault ",
        rf"vault (?:kv put|write)[ \t]{{1,4}}[^\s]{{1,100}}[ \t]{{1,4}}[^\s=]{{1,60}}={_OPTION}",
        "secret",
    ),
    Context("--oauth2-bearer", rf"--oauth2-bearer[ \t=]{{1,4}}{_OPTION}", "bearer token"),
    Context("--cert", r"--cert[ \t=]{1,4}[\"']?[^\s:\"']{1,200}:([^\s\"']{3,100})", judgement="password"),
    Context(
        "--encrypt",
        r"--encrypt[ \t]{1,4}[\"']?([^\s\"'-]{3,60})[\"']?[ \t]{1,4}"
        r"[^\s]{1,60}[ \t]{1,4}(?:40|128|256)\b",
    ),
    Context(
        "mc ",
        r"mc (?:alias set|config host add)(?:[ \t]{1,4}[^\s]{1,200}){3}[ \t]{1,4}[\"']?([^\s\"']{3,200})",
        "minio",
    ),
    Context(
        "curl",
        r"curl\b[^|;]{0,300}?[ \t](?:-b|--cookie)[ \t=]{0,4}[\"']?"
        r"([A-Za-z0-9_.-]{1,64}=[^\s\"'][^\n\"'\\ ]{8,900})",
        "cookie",
        "cookie",
    ),
    Context(
        "impacket",
        r"impacket-?[a-z]{0,20}[ \t][^\n|;]{0,100}?"
        r"[A-Za-z0-9_.-]{1,60}/[A-Za-z0-9_.-]{1,60}:([^\s\"']{3,100})@",
    ),
    Context(
        ".py ",
        r"(?:psexec|secretsdump|wmiexec|smbexec|atexec|dcomexec)\.py [^\n|;]{0,100}?:([^\s\"']{3,100})@",
    ),
    Context("mysql", rf"mysql(?:dump|admin|import)?{_LINE}-p{_OPTION}"),
    Context("mariadb", rf"mariadb(?:-dump|-admin)?{_LINE}-p{_OPTION}"),
    Context("sshpass", rf"sshpass[ \t]{{1,4}}-p[ \t]{{0,4}}{_OPTION}"),
    Context("redis-cli", rf"redis-cli{_LINE}-a[ \t]{{1,4}}{_OPTION}"),
    Context("mongo", rf"mongo(?:sh|dump|restore|export|import)?{_LINE}-p[ \t]{{1,4}}{_OPTION}"),
    Context(" login", rf" (?:login|logon){_LINE}(?:-p|-w)[ \t]{{1,4}}{_OPTION}"),
    Context("sqlcmd", rf"sqlcmd{_LINE}-P[ \t]{{0,4}}{_OPTION}"),
    Context("ldap", rf"ldap(?:search|add|modify|whoami|delete|passwd){_LINE}-w[ \t]{{1,4}}{_OPTION}"),
    Context(
        "htpasswd",
        rf"htpasswd[ \t]{{1,4}}-[a-zA-Z]{{0,4}}b[a-zA-Z]{{0,4}}(?:[ \t]{{1,4}}[^\s]{{1,100}}){{1,3}}?"
        rf"[ \t]{{1,4}}{_OPTION}[ \t]{{0,4}}(?:\n|$)",
    ),
    Context("pass:", rf"\bpass:{_OPTION}"),
    Context(
        "identified",
        r"(?i)identified[ \t]{1,4}(?:by|with[ \t]{1,4}[^\s]{1,60}[ \t]{1,4}(?:by|as))[ \t]{1,4}"
        r"(?:(?:password|values)[ \t]{1,4})?['\"]([^'\"\s]{3,200})",
    ),
    Context(
        "identified",
        r"(?i)(?:user|to)[ \t][^\n;]{1,120}?identified[ \t]{1,4}by[ \t]{1,4}([^\s\"';,()]{3,128})",
        judgement="password",
    ),
    Context(
        "password for",
        r"(?i)password for [^\n;=]{1,100}=[ \t]{0,4}(?:password\()?[\"']([^\"'\s]{3,200})[\"']",
    ),
    Context("masterauth", r"(?i)masterauth[ \t]{1,4}[\"']?([^\s\"']{3,200})", judgement="password"),
    Context("keymaterial", r"(?i)keymaterial>\s{0,40}([^<>\s\\]{5,100})\s{0,40}<"),
    Context("gen_salt", r"crypt\([ ]?'([^'\n]{3,200})',[ ]{0,2}gen_salt"),
    Context("pragma", r"(?i)pragma[ \t]{1,4}(?:re|hex)?key[ \t]{0,4}=[ \t]{0,4}[\"']([^\"'\n]{3,200})[\"']"),
    Context("attach", r"(?i)attach[ \t][^\n;]{1,200}?[ \t]key[ \t]{1,4}'([^'\n]{3,200})'"),
    Context(
        "sudo",
        r"echo[ \t]{1,4}(?:-n[ \t]{1,4}|-e[ \t]{1,4})?[\"']?([^\s\"'|]{3,200})[\"']?"
        r"[ \t]{0,4}\|[ \t]{0,4}sudo",
    ),
    Context(
        "chpasswd",
        r"[\"' ][A-Za-z0-9_-]{1,40}:([^\s\"'|:]{3,200})[\"']?[ \t]{0,4}\|"
        r"[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd",
    ),
    Context(
        "--password-stdin",
        r"echo[ \t]{1,4}(?:-n[ \t]{1,4})?[\"']?([^\s\"'|$]{3,300})[\"']?"
        r"[ \t]{0,4}\|[^\n|]{0,200}--password-stdin",
    ),
    Context("7z", rf"7z[a-z]?[ \t](?:[^\n|;]{{0,100}}?[ \t])?-p{_OPTION}", inside=True),
    Context("net use", r"(?i)net use[^\n]{0,160}?[ \t]/user:[^\s]{1,80}[ \t]{1,4}([^\s\"'/]{3,200})"),
    Context("sqlplus", r"sqlplus[^\n]{0,40}?[ \t][A-Za-z0-9_]{1,60}/([^\s@\"']{3,200})@"),
    Context(":5432:", f":5432:{_PGPASS}"),
    Context(":6432:", f":6432:{_PGPASS}"),
    Context(":*:", rf":\*:{_PGPASS}"),
)
_SHAPES = (
    Context(":aa", "[0-9]{6,12}:AA[A-Za-z0-9_-]{32,40}", "telegram", inside=True),
    Context("-us", r"[0-9a-f]{32}-us[0-9]{1,2}\b", "mailchimp", inside=True),
    Context("nral", "[0-9a-f]{36,40}(?:FFFF)?NRAL", "new relic", inside=True),
    Context("nral", "[0-9a-fx]{30,40}FFFFNRAL", "new relic", inside=True),
    Context("q~", "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", "azure", inside=True),
    Context("jqqj99", "[A-Za-z0-9]{30,60}JQQJ99[A-Za-z0-9]{20,60}", "azure", inside=True),
    Context("+ast", "[A-Za-z0-9+/]{36,90}[+]ASt[A-Za-z0-9+/]{4,44}={0,2}", "azure", inside=True),
    Context(".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}", "terraform"),
    Context("_mmk", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", "maxmind"),
    Context("bundle_", r"BUNDLE_[A-Z0-9_]{2,80}=[\"']?([0-9A-Za-z]{6,60}:[0-9A-Za-z]{6,60})", "bundler"),
    Context("ver:1-hint:", "ver:1-hint:[0-9]{1,20}-ETMs[A-Za-z0-9+/=]{20,600}", "snowflake"),
    Context("mnemonic", f"(?i)mnemonic{_PHRASE}", "seed phrase", "any"),
    Context("phrase", f"(?i)phrase{_PHRASE}", "seed phrase", "any"),
    Context(
        "akia",
        r"AKIA[A-Z2-7]{16}[^A-Za-z0-9+/\n](?:[^\n]{0,60}?[^A-Za-z0-9+/\n])?"
        r"([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|$)",
        "aws",
        "random",
    ),
    *(
        Context(literal, rf"\${literal[1]}[abxy]?\$[0-9]{{2}}\$[./A-Za-z0-9]{{53}}", "password hash")
        for literal in ("$2a$", "$2b$", "$2x$", "$2y$")
    ),
    *(
        Context(
            literal,
            literal.replace("$", r"\$") + r"[./A-Za-z0-9=,$]{1,60}\$[./A-Za-z0-9]{20,90}",
            "password hash",
        )
        for literal in ("$apr1$", "$1$", "$5$", "$6$", "$y$", "$7$", "$gy$", "$md5$", "$sha1$")
    ),
    Context("$argon2", r"\$argon2(?:id|i|d)\$[A-Za-z0-9+/=,$]{20,300}", "password hash"),
    Context(
        "pbkdf2_sha",
        r"pbkdf2_sha[0-9]{1,3}\$[0-9]{3,8}\$[A-Za-z0-9+/=]{4,60}\$[A-Za-z0-9+/=]{20,90}",
        "password hash",
    ),
    Context("{ssha", r"(?i)\{ssha[0-9]{0,3}\}[A-Za-z0-9+/=]{20,120}", "password hash"),
)
_BEFORE_TOKENS = "live prod test pat sk sec secret key api token dev sandbox"
_PREFIXED = tuple(
    Context(f"_{word}_", f"_{word}_[A-Za-z0-9_-]{{20,200}}", "token", "generated")
    for word in _BEFORE_TOKENS.split()
)
"""Tokens of vendors that are in no table, in the form that most have chosen: `vendor_live_…`."""
CONTEXTS = (*_SHAPES, *_PREFIXED, *ADDRESSES, *_HEADERS, *OPTIONS)


_LEADING = re.compile("[^a-z0-9]{0,9}([a-z0-9]{0,99})")
_HEAD = 4
_WORDS = frozenset(
    {"password", "passwd", "pass", "pwd", "secret", "token", "pw", "mypassword", "port", "auth"}
)
_TAIL = 36
"""The last characters of a token, which are generated."""
_HEX = re.compile("[0-9a-f]{28,36}$|-[0-9a-f]{12}$")
_SHORTEST = 4
_LONG = 900


def _by_head() -> dict[str, list[int]]:
    """Return the places of the contexts by the head of the word in their literal; "" for those without."""
    found: dict[str, list[int]] = {}
    for at, context in enumerate(CONTEXTS):
        match = _LEADING.match(context.literal)
        word = match[1] if match is not None and not context.inside else ""
        found.setdefault(word[:_HEAD], []).append(at)
    return found


_BY_HEAD = _by_head()
_BEGINS = tuple(
    context.pattern.removeprefix("(?i)").removeprefix("\\b").replace("\\", "").startswith(context.literal)
    for context in CONTEXTS
)
"""Whether the pattern of a context begins with its literal."""
_LEAST_RUNS = tuple(least_run(context.pattern) for context in CONTEXTS)


def surrounded(piece: str, lower: str, heads: Heads, longest: int) -> Iterator[Found]:
    """Yield the secrets of a piece that syntax shows; no word has more than `longest` letters and digits."""
    likely = [at for head in (heads | {""}) & _BY_HEAD.keys() for at in _BY_HEAD[head]]
    for at in sorted(likely):
        context = CONTEXTS[at]
        if longest >= _LEAST_RUNS[at] and context.literal in lower:
            for match in _matches(at, piece, lower):
                group = match.lastindex or 0
                start, end = match.span(group)
                if _holds(context.judgement, match[group]):
                    if end - start > _LONG:
                        end += run_of(piece, end)
                    yield Found(start, end, context.kind)


def _matches(number: int, piece: str, lower: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a context: from each place of its literal if its pattern begins with that."""
    literal, pattern = CONTEXTS[number].literal, compiled(CONTEXTS[number].pattern)
    if not _BEGINS[number]:
        yield from pattern.finditer(piece)
        return
    at = lower.find(literal)
    while at >= 0:
        match = pattern.match(piece, at)
        if match is not None:
            yield match
        at = lower.find(literal, at + 1 if match is None else match.end())


def _holds(judgement: Judgement, value: str) -> bool:
    if judgement == "any":
        return True
    if judgement == "cookie":
        return any(
            is_random(pair.rpartition("=")[2].strip().rpartition(":")[2], 12) for pair in value.split(";")
        )
    if is_placeholder(value) or is_code(value):
        return False
    if judgement == "random":
        return is_random(value, 16)
    if judgement == "generated":
        return _is_generated(value[-_TAIL:])
    if judgement == "password":
        return is_password(value) or is_random(value, 12)
    if judgement == "base64":
        return _is_pair(value)
    if judgement == "bearer":
        return is_random(value, 12) or (len(value) >= 16 and any(map(str.isdigit, value)))
    return len(value) >= _SHORTEST and value.lower() not in _WORDS


def _is_generated(value: str) -> bool:
    """Return whether a value has digits and both cases, or only hexadecimal digits, in any order."""
    if not any(map(str.isdigit, value)) or not is_random(value, 20):
        return False
    return _HEX.search(value) is not None or (value != value.lower() and value != value.upper())


def _is_pair(value: str) -> bool:
    try:
        decoded = b64decode(value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and all(byte >= 32 for byte in decoded)
