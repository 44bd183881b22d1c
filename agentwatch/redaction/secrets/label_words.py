"""The words of labels: which label a secret, and which only look like it."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

Category = Literal["password", "secret", "token", "key", "credential", "weak"]
"""What a label labels. After a `weak` one the value must show by itself that it is generated."""

STEMS = ("pass", "pwd", "secret", "token", "key", "cred", "auth", "psk", "salt", "api", "access")
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
