"""The words of labels: which label a secret, and which only look like it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Category = Literal["password", "secret", "token", "key", "credential", "weak"]
"""What a label labels. After a `weak` one the value must show by itself that it is generated."""

STEMS = ("pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "psk", "salt", "api", "access")
"""What each label of a secret has, in lower case."""
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
"""What a label goes on with that is no secret, such as `key_id`."""
_NOT_BEFORE = tuple(_WORDS_BEFORE.split())
"""What a label begins with that is no secret, such as `cache_key`."""
_KEYS = tuple(_WORDS_OF_KEYS.split())
"""What stands before `key` in the label of a secret."""

_OF_LANGUAGES: tuple[tuple[Category, str], ...] = (
    (
        "password",
        (
            "mot de passe|mot_de_passe|mot-de-passe|motdepasse|mdp|kennwort|losungswort|"
            "zugangscode|contraseña|contrasena|clave de acceso|clave|senha|palavra-passe|"
            "palavra passe|parola d'ordine|parola|parolă|hasło|haslo|wachtwoord|lösenord|losenord|"
            "adgangskode|adgangsord|kodeord|passord|salasana|lykilorð|heslo|jelszó|jelszo|geslo|"
            "lozinka|zaporka|parool|parole|slaptažodis|slaptazodis|şifre|sifre|mật khẩu|mat khau|"
            "kata sandi|katasandi|kata laluan|fjalëkalim|nenosiri|пароль|пароля|паролем|пароли|"
            "парола|лозинка|құпия сөз|нууц үг|գաղտնաբառ|პაროლი|κωδικός πρόσβασης|κωδικός|κωδικο|"
            "συνθηματικό|סיסמה|סיסמא|كلمة المرور|كلمة السر|كلمة سر|رمز عبور|گذرواژه|کلمه عبور|"
            "पासवर्ड|कूटशब्द|পাসওয়ার্ড|கடவுச்சொல்|పాస్వర్డ్|രഹസ്യവാക്ക്|รหัสผ่าน|密码|密碼|口令|通行码|"
            "通關密語|パスワード|パスフレーズ|合言葉|暗証番号|パスコード|비밀번호|패스워드|암호|"
            "비번"
        ),
    ),
    (
        "secret",
        (
            "clé secrète|cle secrete|geheimnis|clave secreta|segredo|секрет|секретный ключ|密钥|"
            "密鑰|秘钥|机密|シークレット|秘密鍵|비밀 키|비밀키|시크릿|مفتاح سري"
        ),
    ),
    (
        "token",
        (
            "jeton|jeton d'accès|clé api|cle api|clé d'api|zugriffsschlüssel|zugangsschlüssel|"
            "api-schlüssel|schlüssel|zugriffstoken|clave api|clave de api|chave api|chave de api|"
            "ficha|токен|ключ|ключ api|жетон|令牌|凭证|憑證|访问密钥|トークン|アクセスキー|"
            "apiキー|토큰|액세스 키|api 키|رمز|אסימון|टोकन|κλειδί"
        ),
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


def foreign_labels(text: str, heads: set[str]) -> Iterator[tuple[int, Category]]:
    """Yield the end and the category of each label in a language other than English.

    Args:
        text: The text.
        heads: The first four characters of each of its words in ASCII, in lower case.
    """
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
    """Return what a label with a stem labels; None if that is no secret.

    Args:
        stem: One of `STEMS`.
        before: What the identifier has before the stem, in lower case and without separators.
        after: What follows the stem, in the same form.
        begins: Whether a word of the identifier begins with the stem.
        is_query: Whether the label is a parameter in an address.
    """
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
        return "password" if begins and ends else None
    if stem == "cred":
        return "credential" if begins and (ends or after.startswith(("s", "ential"))) else None
    return _of_generated(stem, before, after, whole=begins and ends, begins=begins, is_query=is_query)


def _of_generated(
    stem: str, before: str, after: str, *, whole: bool, begins: bool, is_query: bool
) -> Category | None:
    """Return what a label with a stem of generated values labels."""
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
