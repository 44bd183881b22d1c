"""Certificates for servers of tests, made by openssl."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650")


class Certificates(NamedTuple):
    """An authority, and a server's certificate that it has signed. All are files in PEM."""

    authority: Path
    certificate: Path
    key: Path

    @property
    def config(self) -> str:
        """Text for the configuration of a server that demands TLS."""
        return f'tls {{ cert_file: "{self.certificate}", key_file: "{self.key}" }}\n'


def certificates_for(folder: Path, *names: str) -> Certificates:
    """Return new certificates for a server with these names, `DNS:localhost` or `IP:127.0.0.1`."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    folder.mkdir()
    made = Certificates(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    authority_key, request = folder / "ca.key", folder / "server.csr"
    _openssl(
        "req", "-x509", *_CURVE, "-subj", "/CN=test CA", "-keyout", authority_key, "-out", made.authority
    )
    _openssl("req", *_CURVE, "-subj", "/CN=server", "-keyout", made.key, "-out", request)
    (folder / "names").write_text(f"subjectAltName={','.join(names)}")
    _openssl(
        *("x509", "-req", "-in", request, "-CA", made.authority, "-CAkey", authority_key, "-CAcreateserial"),
        *("-days", "3650", "-extfile", folder / "names", "-out", made.certificate),
    )
    return made


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)
