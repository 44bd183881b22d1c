"""Finds values by the label before them, such as `DB_PASSWORD=` or `"apiKey": `."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from agentwatch.output.redact.mask import Found, Heads
from agentwatch.output.redact.secrets.values import (
    is_chosen_word,
    is_expression,
    is_name,
    is_password,
    is_phrase,
    is_random,
    is_spaced,
)

Category = Literal["password", "secret", "token", "key", "credential", "weak"]
"""The kind of value that a label names. A value after a `weak` label must itself look generated."""

STEMS = ("pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "psk", "salt", "api", "access")
"""Texts of which each label of a secret contains one, in lower case."""
_WORDS_AFTER = """
arn board checksum code count date digest error expir field file fingerprint frame hash id index len
length limit map name path pattern policy prefix regex sha size suffix thumbprint type uri url usage
version
"""
_WORDS_BEFORE = """
bos cache continuation dedup dict don eos etag foreign group hash hot i18n idempotency lookup map
mon next nextpage object pad page partition press primary public publickey publishable query react registry
routing row sort sync tur unique
"""
_WORDS_OF_KEYS = """
access account admin aes api apim app application auth bot cipher client consumer cookie crypt data
deploy dev developer email encrypt encryption function hmac host ingest ingestion insert
installation integration jwt license live mail management master passphrase personal primaryaccess
private prod production project read recovery rest root sas sdk search secret security server
service session shared sign signing sms staging storage subscription system test token transaction
unseal user vapid vault wallet webhook write
"""
_NOT_AFTER = tuple(_WORDS_AFTER.split())
"""Words after which a label does not label a secret, such as `key_id`."""
_NOT_BEFORE = tuple(_WORDS_BEFORE.split())
"""Words before which a label does not label a secret, such as `cache_key`."""
_KEYS = tuple(_WORDS_OF_KEYS.split())
"""Words before `key` in the label of a secret."""

_OF_LANGUAGES: tuple[tuple[Category, str], ...] = (
    (
        "password",
        "mot de passe|mot_de_passe|mot-de-passe|motdepasse|mdp|kennwort|losungswort|zugangscode|"
        "contraseña|contrasena|clave de acceso|clave|senha|palavra-passe|palavra passe|parola d'ordine|"
        "parola|parolă|hasło|haslo|wachtwoord|lösenord|losenord|adgangskode|adgangsord|kodeord|passord|"
        "salasana|lykilorð|heslo|jelszó|jelszo|geslo|lozinka|zaporka|parool|parole|slaptažodis|"
        "slaptazodis|şifre|sifre|mật khẩu|mat khau|kata sandi|katasandi|kata laluan|fjalëkalim|nenosiri|"
        "пароль|пароля|паролем|пароли|парола|лозинка|құпия сөз|нууц үг|գաղտնաբառ|პაროლი|"
        "κωδικός πρόσβασης|κωδικός|κωδικο|συνθηματικό|סיסמה|סיסמא|كلمة المرور|كلمة السر|كلمة سر|رمز عبور|"
        "گذرواژه|کلمه عبور|पासवर्ड|कूटशब्द|পাসওয়ার্ড|கடவுச்சொல்|పాస్వర్డ్|രഹസ്യവാക്ക്|รหัสผ่าน|密码|密碼|口令|"
        "通行码|通關密語|パスワード|パスフレーズ|合言葉|暗証番号|パスコード|비밀번호|패스워드|암호|비번",
    ),
    (
        "secret",
        "clé secrète|cle secrete|geheimnis|clave secreta|segredo|секрет|секретный ключ|密钥|密鑰|秘钥|机密|"
        "シークレット|秘密鍵|비밀 키|비밀키|시크릿|مفتاح سري",
    ),
    (
        "token",
        "jeton|jeton d'accès|clé api|cle api|clé d'api|zugriffsschlüssel|zugangsschlüssel|api-schlüssel|"
        "schlüssel|zugriffstoken|clave api|clave de api|chave api|chave de api|ficha|токен|ключ|ключ api|"
        "жетон|令牌|凭证|憑證|访问密钥|トークン|アクセスキー|apiキー|토큰|액세스 키|api 키|"
        "رمز|אסימון|टोकन|κλειδί",
    ),
)


def _by_head() -> dict[str, list[tuple[str, Category]]]:
    """Return the labels by the first four characters of their first word, or by a letter outside ASCII."""
    found: dict[str, list[tuple[str, Category]]] = {}
    for category, words in _OF_LANGUAGES:
        for word in words.split("|"):
            for form in sorted({word, unicodedata.normalize("NFD", word)}):
                split = "".join(char if char.isalnum() else " " for char in form).split()
                head = split[0][:4] if form.isascii() else max(form)
                found.setdefault(head, []).append((form, category))
    return found


_FOREIGN = _by_head()
_LETTERS = "".join(sorted(head for head in _FOREIGN if not head.isascii()))
_LETTER = re.compile(f"[{_LETTERS}{_LETTERS.upper()}]")


def _foreign_labels(text: str, heads: Heads) -> Iterator[tuple[int, Category]]:
    """Yield the end and the category of each label in a language other than English."""
    found = heads & _FOREIGN.keys()
    if not text.isascii():
        found |= {letter.lower() for letter in set(_LETTER.findall(text))}
    lower = text.lower() if found else ""
    if len(lower) == len(text):  # a letter of few languages is two in lower case
        text = lower
    for head in found & _FOREIGN.keys():
        for word, category in _FOREIGN[head]:
            at = text.find(word)
            while at >= 0:
                end = at + len(word)
                if not (text[at - 1 : at].isalpha() and word[0].isascii()):
                    yield end, category
                at = text.find(word, end)


@lru_cache(maxsize=4096)
def category_of(stem: str, before: str, after: str, *, begins: bool, is_query: bool) -> Category | None:
    """Return what a label with a stem labels; None if that is not a secret. `before` and `after` are the
    identifier around the stem, in lower case and without separators. `begins` says whether a word of the
    identifier begins with the stem. `is_query` says whether the label is a parameter in an address."""
    ends = not after[:1].isalpha()
    if stem == "secret":
        return None if after.startswith(_NOT_AFTER) and not after.startswith("id") else "secret"
    rest = after.removeprefix("word").removeprefix("wd").removeprefix("phrase") if stem == "pass" else after
    if stem == "auth" and rest.startswith("code"):
        return "token"
    if rest.startswith(_NOT_AFTER) or (stem not in {"pass", "pwd"} and before.endswith(_NOT_BEFORE)):
        return None
    if stem == "pass":
        whole = ends and (begins or before.endswith(("store", "require")))
        return "password" if whole or after.startswith(("w", "phrase", "code")) else None
    if stem in {"pwd", "psk"}:
        return "password"
    if stem == "pw":
        return "password" if ends and (begins or before.endswith(("bind", "root"))) else None
    if stem == "cred":
        return "credential" if begins and (ends or after.startswith(("s", "ential"))) else None
    return _of_generated(stem, before, after, whole=begins and ends, begins=begins, is_query=is_query)


def _of_generated(
    stem: str, before: str, after: str, *, whole: bool, begins: bool, is_query: bool
) -> Category | None:
    if stem == "token":
        return None if after.startswith(("iz", "typ")) else "token"
    if stem == "auth":
        if whole:
            return "credential"
        return None if after.startswith("or") and not after.startswith("orization") else "token"
    if stem == "salt":
        return "token" if whole else None
    if stem == "key":
        if before.endswith(_KEYS) or is_query:
            return "key"
        return "weak" if whole or (begins and not before) else None
    return "weak" if whole else None


_REST = re.compile("[A-Za-z0-9_-]{0,40}")
"""A pattern of what follows the stem of a label in an identifier."""
_CLOSE = r"[\\\"'`\])* \t]{0,20}"
_WRAP = r"(?:[A-Za-z_.:@$&-]{0,40}\(?|[A-Za-z_]{2,12}[0-9]{1,3}\()[ ]{0,2}"
"""Characters that may precede a quote: the prefix of a string, or a call."""
_QUOTED = rf"(?:{_WRAP}\"([^\"\n]{{3,600}})|{_WRAP}'([^'\n]{{3,600}})|{_WRAP}`([^`\n]{{3,600}}))"
_BARE = r"([^\s\"'`,;<>]{3,300}(?:[,;][^\s\"'`,;<>=:()\[\]{}]{2,100}){0,4})"
_QUOTES = 3
"""The number of groups of quoted values, which come first."""
_SIGN = r"(?:[:?.+|~*!]{0,2}={1,3}>?|:{1,2}|->|\|\|)"
_ASSIGNED = re.compile(
    rf"{_CLOSE}{_SIGN}[ \t]{{0,16}}"
    r"(?:\*\*[ ]{1,4}|[\"'][ ]{1,2}|!{1,2}[a-z]{2,12}[ ]{1,2}"
    r"|[A-Za-z_.]{1,40}\([\"'][^\"'\n]{1,60}[\"'],[ ]{0,2})?"
    rf"(?:{_QUOTED}|{_BARE})"
)
_TYPED = re.compile(
    rf"[ \t]{{0,4}}:?[ \t]{{1,4}}(?:&'static[ ])?[A-Za-z&*?\[<][A-Za-z0-9_&<>\[\].?*]{{0,40}}"
    rf"(?:[ ]\|[ ][A-Za-z0-9_]{{1,20}}){{0,2}}[ ]{{0,2}}=[ \t]{{0,4}}{_QUOTED}"
)
_PASSED = re.compile(
    rf"(?:[\"'`\])]{{0,3}}[ \t]{{0,4}},\s{{0,40}}|[\"'][ \t]{{1,8}}|\([ \t]{{0,4}}|[ \t]{{1,8}}){_QUOTED}"
)
_BLOCK = r"[|>][0-9+-]{0,2}(?:[ \t]{1,4}#[^\n]{0,80})?[ \t]{0,4}\n[ \t]{1,40}"
_OPENED = re.compile(
    rf"{_CLOSE}{_SIGN}[ \t]{{0,16}}(?:{_BLOCK}"
    r"|<<[-~]?[\"']?[A-Za-z_]{2,20}[\"']?[ \t]{0,4}\n[ \t]{0,40}|(?:'''|\"\"\"|```)\n?[ \t]{0,40})"
    r"([^\s\"'`]{3,600}(?:\n[ \t]{1,40}[A-Za-z0-9+/=_-]{16,90}){0,10})(?:[\"'`]{3}|[ \t]{0,4}(?:\n|$))"
)
"""A value in a block: of YAML, after `|` or `>`; a here-document, such as HCL has; between three quotes."""
_CDATA = r"(?:<!\[CDATA\[)?"
_IN_ELEMENT = (
    rf"{_CDATA}([^<>\s\[\]]{{3,600}}|(?:[a-z]{{3,12}} ){{3,11}}[a-z]{{3,12}})\s{{0,40}}(?:\]\]>)?\s{{0,40}}</"
)
_ELEMENT = re.compile(
    rf"(?:[ \t\"'][^<>\n]{{0,200}})?>\s{{0,40}}(?:<[A-Za-z:]{{0,20}}[vV]alue>\s{{0,40}})?{_IN_ELEMENT}"
)
_KEY_AND_VALUE = re.compile(
    r"</(?:[kK]ey|[nN]ame)>\s{0,60}(?:<description>[^<>]{0,200}</description>\s{0,60})?"
    rf"<(?:string|[vV]alue|data)>\s{{0,40}}{_IN_ELEMENT}"
)
_NEXT_ELEMENT = re.compile(
    r"[ \t]{0,4}[:=]?[ \t]{0,4}(?:is[ ])?(?:</?(?:t[drh]|d[dt]|[biup]|strong|em|code|kbd|samp|pre|span|label"
    r"|div|li|br|string|key|value|name|entry)(?:\s[^<>]{0,200})?/?>\s{0,40}){1,4}"
    r"[:=]?[ \t]{0,4}([^<>\s&;]{3,600})(?:\s{0,40}<|[ \t]{0,4}(?:\n|$))"
)
_VALUE = re.compile(
    r"[\"']?(?:[ ]{0,2}[:=])?(?:[ ]{0,2}[,{]\s{0,60}|\s{1,60})"
    r"(?:[\"']?[A-Za-z_]{2,16}[\"']?[ ]{0,16}[:=][ ]{0,4}"
    r"(?:\"[^\"\n]{0,100}\"|'[^'\n]{0,100}'|[A-Za-z0-9_()-]{1,30})(?:,\s{0,20}|\s{1,20})){0,3}"
    r"[\"']?(?:[A-Za-z]{0,16}[vV]alue|VALUE|val|content|default)"
    rf"[\"']?[ ]{{0,16}}[:=][ ]{{0,4}}(?:{_BLOCK})?(?:{_QUOTED}|{_BARE})"
)
_BESIDE = re.compile(rf"(?:[ \t*`]{{0,4}}\|[ \t*`]{{0,4}}|[ \t]{{1,16}})(?:is[ \t:=]{{1,3}})?{_BARE}")
_BELOW = re.compile(
    rf"{_CLOSE}[:=]{{0,2}}[ \t]{{0,4}}\n\s{{0,40}}[`]{{0,3}}\n?"
    r"([A-Za-z0-9+/_.~-]{14,300}={0,2})[`]{0,3}[ \t]{0,4}(?:\n|$)"
)
_PASSWORD_BELOW = re.compile(
    rf"{_CLOSE}[:=][ \t]{{0,4}}\n[ \t]{{1,40}}[\"']?([^\s\"':,<>]{{7,100}})[\"']?[ \t]{{0,4}}(?:\n|$)"
)
_SPACED = re.compile(
    rf"(?:{_CLOSE}{_SIGN}|[ \t])[ \t]{{0,16}}[\"'`]?"
    r"([A-Za-z0-9]{4}(?:(?: [A-Za-z0-9]{4}){5}|(?: [A-Za-z0-9]{4}){3}|(?:-[A-Za-z0-9]{4}){3}))"
    r"[\"'`]?(?:[,;}\])]{0,3}[ \t]{0,4}(?:[\n#]|$))"
)
"""A password in groups, such as a vendor makes for an app."""
_PAIRED = re.compile(r"[ ]{0,2},[ ]{1,2}([^\s\"'`,;<>\[\]]{3,300})\]")
_NAMED_AFTER = re.compile(
    r"[\"']?(?:value|Value|VALUE|content)[\"']?[ ]?[:=][ ]?"
    r"(?:[\"']([^\"'\n]{3,200})[\"']|([^\s\"',;<>]{3,200})),?\s{1,40}"
    r"(?:[A-Za-z-]{2,16}=[\"'][^\"'\n]{0,60}[\"']\s{1,20}){0,2}"
    r"[\"']?(?:[A-Za-z-]{0,12}[nN]ame|NAME|[kK]ey|id|label|type)[\"']?[ ]?[:=][ ]?"
    r"[\"']?[A-Za-z0-9_. -]{0,40}$"
)
_CELL = re.compile(r"(.{3,600})")
_PARTICLES = tuple("はがをの의은는이가是为為")
"""Particles that may be between a label and its value instead of a sign."""
_MEMBER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,40}\.[A-Za-z_$][A-Za-z0-9_$]{0,40}[?:!|&=+*-]")
"""A member of an object in code without spaces, with an operator after it."""

_CLOSING = "\\\"'`])* \t"
_WAYS = (
    (
        (
            (_ASSIGNED, _CLOSING + ":?.+|~!=-"),
            (_TYPED, " \t:"),
            (_OPENED, _CLOSING + ":?.+|~!=-"),
            (_KEY_AND_VALUE, "<"),
        ),
        False,
    ),
    (
        (
            (_PASSED, "\"'`]), \t("),
            (_ELEMENT, " \t>\"'"),
            (_NEXT_ELEMENT, "< \t:="),
            (_VALUE, "\"', \t\n{:="),
            (_BESIDE, " \t*`|"),
            (_BELOW, _CLOSING + ":=\n"),
        ),
        True,
    ),
)
"""The syntax between a label and its value, with the characters that may begin it; whether it is loose."""
_FOLLOWING = re.compile(
    r"[\"'`\])]{0,3}(?:[ \t]{1,40}(?:is[ \t:=]|[^\sA-Za-z})\];]"
    r"|[A-Za-z_]{1,40}(?:[^A-Za-z_\s,;.)(]|[ ]{1,2}[=|<]))"
    r"|[:=|*(,>\\\n]|[\"'][ ]{0,2}\}|[?.+~!-]{1,2}[=>]|</?[A-Za-z])"
)
"""A quick test of what follows a label that has a value: most labels of code have none."""
_SETTING = ("ENV ", "env ", "setenv ", "SetEnv ", "setx ", "fastcgi_param ")
"""Commands before a variable and its value."""
_IDENTIFIER = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_SEPARATORS = str.maketrans("", "", "_-")
_LONGEST = 40
_BEFORE = 360
"""The characters before a label that its value may have, if it is there."""
_REACH = 12
_NAMES = ("pass", "pwd", "secret", "token", "auth", "key", "cred")
_SHORTEST_LETTERS = 10
_LEAST_LOOSE = 20
_LEAST_PLAIN, _LEAST_FOREIGN = 7, 12
_NEAR = 24
_WINDOW = 800
"""The characters after a label that its value and the syntax before it may have."""
_LEAST_WEAK, _LEAST_BESIDE, _LEAST_GENERATED, _LEAST_CHOSEN = 14, 14, 12, 8


class _Label(NamedTuple):
    category: Category
    is_option: bool = False
    """Whether it is an option of a command, such as `--token`."""
    is_query: bool = False
    """Whether it is a parameter in an address."""
    is_constant: bool = False
    """Whether it is in upper case, such as a variable of the environment."""
    is_set: bool = False
    """Whether a command before it sets it, such as `ENV` in a Dockerfile."""
    is_foreign: bool = False
    """Whether it is in a language other than English, so that more words may be messages."""
    before: str = ""


def labelled(piece: str, lower: str) -> Iterator[Found]:
    """Yield the values of a piece that have the label of a secret."""
    for stem in STEMS:
        at = lower.find(stem)
        last, near, found = (0, ""), "", None
        while at >= 0:
            after = at + len(stem)
            if (near and piece.startswith(near, at)) or _may_have_value(piece, at, after):
                first = max(0, at - _BEFORE)
                window = piece[first : after + _WINDOW]
                if (at - first, window) != last:  # a text that repeats a label is searched once
                    last, near = (at - first, window), piece[at : at + _NEAR]
                    found = _in_window(window, stem, at - first)
                if found is not None:
                    yield Found(first + found.start, first + found.end, found.kind)
                    after = max(after, first + found.start)
            at = lower.find(stem, after)


def _may_have_value(piece: str, at: int, after: int) -> bool:
    """Return whether a value may follow the label with a stem that begins and ends at two places."""
    rest = _REST.match(piece, after)
    end = after if rest is None else rest.end()
    if _FOLLOWING.match(piece, end):
        return True
    if not piece.startswith(" ", end):
        return False
    before = piece[max(0, at - _LONGEST) : at]
    _, dashes, head = before.rpartition("--")
    return (bool(dashes) and not head.strip(_IDENTIFIER)) or before.rstrip(_IDENTIFIER).endswith(_SETTING)


def _in_window(window: str, stem: str, at: int) -> Found | None:
    rest = _REST.match(window, at + len(stem))
    end = at + len(stem) if rest is None else rest.end()
    label = _label(window, stem, at)
    return None if label is None else _value(window, label, end)


def labelled_abroad(piece: str, text: str, heads: Heads) -> Iterator[Found]:
    """Yield the values of a piece that have a label in a language other than English."""
    last, found = "", None
    for end, category in _foreign_labels(text, heads):
        window = piece[end : end + _WINDOW]
        if text.startswith(_PARTICLES, end):
            window = f":{window[1:]}"
        if window != last:
            last, found = window, _value(window, _Label(category, is_foreign=True), 0)
        if found is not None:
            yield Found(end + found.start, end + found.end, found.kind)


def value_of(text: str, category: Category) -> bool:
    """Return whether a text without quotes is the value of a label of a category."""
    match = _CELL.fullmatch(text)
    if match is None or (" " in text and not is_spaced(text)):
        return False
    return _judged(match, _Label(category), loose=False) is not None


def _label(piece: str, stem: str, at: int) -> _Label | None:
    """Return the label that has a stem at a place; None if it labels no secret."""
    end = at + len(stem)
    before = piece[max(0, at - _LONGEST) : at]
    head = before[len(before.rstrip(_IDENTIFIER)) :]
    first = at - len(head)
    is_query = first > 0 and piece[first - 1] in "?&"
    if not head and before[-1:] == " " and before[-2:-1].isalnum():  # two words, such as API key
        head = before[len(before[:-1].rstrip(_IDENTIFIER)) : -1] + "_"
    category = category_of(
        stem,
        head.lower().translate(_SEPARATORS),
        piece[end : end + _REACH].lower().translate(_SEPARATORS),
        begins=not head[-1:].isalpha() or (head[-1].islower() and piece[at].isupper()),
        is_query=is_query,
    )
    if category is None:
        return None
    is_constant = (head + piece[at:end]).isupper() and not head.startswith("-")
    is_set = is_constant and piece[:first].endswith(_SETTING)
    return _Label(category, head.startswith("-"), is_query, is_constant, is_set, before=piece[:first])


def _value(text: str, label: _Label, at: int) -> Found | None:
    """Return the secret that follows a label whose identifier ends at a place, or is before its label."""
    after = text[at : at + 1]
    if label.category == "password":
        spaced = _SPACED.match(text, at)
        if spaced is not None and is_spaced(spaced[1]):
            return Found(*spaced.span(1), label.category)
    for patterns, loose in _WAYS:
        for pattern, beginnings in patterns:
            match = pattern.match(text, at) if after in beginnings else None
            if match is None:
                continue
            beside = pattern is _BESIDE or pattern is _BELOW
            is_loose = loose and not ((label.is_option or label.is_set) and (beside or pattern is _PASSED))
            if pattern is _ELEMENT:
                closing = text[match.end() : match.end() + _LONGEST].lower()
                is_loose = not any(name in closing for name in (*_NAMES, "value>"))
            found = _judged(match, label, loose=is_loose, beside=beside)
            if found is not None and (pattern is not _BELOW or _has_digit(match[1])):
                return found
    if label.before.endswith("[") and (match := _PAIRED.match(text, at)) is not None:
        return _judged(match, label, loose=True)
    if ("alue" in label.before or "content" in label.before) and after in "\"'\n />":
        before = _NAMED_AFTER.search(label.before[-_WINDOW:])
        if before is not None:
            return _judged(before, label, loose=False)
    if label.category == "password" and (match := _PASSWORD_BELOW.match(text, at)) is not None:
        return _judged(match, label, loose=True, beside=True)
    return None


def _judged(match: re.Match[str], label: _Label, *, loose: bool, beside: bool = False) -> Found | None:
    group = match.lastindex or 1
    value, start = match[group], match.start(group)
    is_quoted = match.re.groups >= _QUOTES and group <= _QUOTES
    if not is_quoted:
        value = _cut(_head(value, match.string[match.end() : match.end() + 1]), label)
    start += len(value) - len(value.lstrip())
    value = value.strip()
    if "\n" in value:
        is_secret = is_random("".join(value.split()))
    elif " " in value and not is_quoted:
        is_secret = not loose and label.category == "password" and is_phrase(value)
    elif value.isalpha() and label.category == "password":
        is_secret = not loose and _is_chosen(value, label, match, is_quoted=is_quoted)
    else:
        is_secret = _is_secret(value, label.category, loose=loose, beside=beside, quoted=is_quoted)
    if not is_secret:
        return None
    return Found(start, start + len(value), "key" if label.category == "weak" else label.category)


def _is_chosen(value: str, label: _Label, match: re.Match[str], *, is_quoted: bool) -> bool:
    """Return whether a value of letters alone is a password that a person chose."""
    is_plain = not (is_quoted or label.is_constant or label.is_option)
    if is_plain:
        following = match.string[match.start(match.lastindex or 1) + len(value) :][:2]
        if (
            len(value) < (_LEAST_FOREIGN if label.is_foreign else _LEAST_PLAIN)
            or following[:1] in (")", ".", "(", "[")
            or following.strip() in (",", ";")
        ):
            return False
    return is_chosen_word(value, plain=is_plain)


def _head(value: str, following: str) -> str:
    """Return a value without quotes up to a comma that separates words; `following` comes after the value."""
    at = max(value.rfind(","), value.rfind(";"))
    while at > 0 and (
        (following and following in "=:([{\"'`")
        or (value[at + 1 :].isalpha() and following not in {"", "\n"})
    ):
        value, following = value[:at], value[at]
        at = max(value.rfind(","), value.rfind(";"))
    return value


def _cut(value: str, label: _Label) -> str:
    """Return a value that is not quoted without what follows it; empty if it is code or another label."""
    if ("(" in value or value[:1] in {"[", "{"}) and is_expression(value):
        return ""
    if _MEMBER.match(value):
        return ""
    head, _, tail = value.partition("=")
    if head.isalpha() and tail.strip("="):
        return ""
    if label.is_query or ("&" in value and "=" in value.partition("&")[2]):
        value = value.partition("&")[0].partition("#")[0]
    for opening, closing in ("()", "[]", "{}"):
        if closing in value and opening not in value:
            value = value.partition(closing)[0]
    return value.rstrip("\\.:*|")


def _is_secret(value: str, category: Category, *, loose: bool, beside: bool, quoted: bool) -> bool:
    """Return whether a value after a label of a category is a secret. `loose` says whether no sign assigns
    the value to the label. `beside` says whether the value is the next word only."""
    if len(value) < _SHORTEST_LETTERS and value.isalpha():
        return False
    if category == "weak":
        if beside or (loose and not quoted):
            return False
        return _has_digit(value) and is_random(value, _LEAST_LOOSE if loose else _LEAST_WEAK)
    if category == "password":
        if quoted and not loose and is_phrase(value):
            return True
        if not is_password(value) or (not quoted and _names_a_secret(value)):
            return False
        if not loose:
            return True
        return _has_digit(value) and (not beside or _is_strong(value) or is_random(value))
    if is_random(value, _LEAST_BESIDE if beside else _LEAST_GENERATED):
        return True
    return (
        category in {"secret", "credential"}
        and not loose
        and len(value) >= _LEAST_CHOSEN
        and _has_digit(value)
        and is_password(value)
        and not _names_a_secret(value)
    )


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _names_a_secret(value: str) -> bool:
    lower = value.lower()
    return value.isidentifier() and any(name in lower for name in _NAMES)


def _is_strong(value: str) -> bool:
    """Return whether a value beside a label is a password rather than the next word."""
    symbols = any(not char.isalnum() and char not in "._-/:=" for char in value)
    cases = any(map(str.isupper, value)) and any(map(str.islower, value))
    digits = _has_digit(value) and value.isalnum() and not is_name(value)
    return len(value) >= _LEAST_CHOSEN - 1 and (symbols or cases or digits)
