"""How many planted secrets are found, how much else is taken for one, and how fast is the search?

Planted are secrets of 45 kinds in several contexts, as text and in JSON within JSON, and tokens of rarer
vendors. All of them are made at run time. Ordinary material is generated, and read from this machine: the
standard library, installed packages, documents, and the history of the repository. Time is CPU time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import HERE, command_line, head, row

sys.path.insert(0, str(HERE.parent))

from agentwatch.output.redact.secrets.scanner import find
from tests.builders.redaction.kinds import secrets
from tests.builders.redaction.ordinary import MATERIALS, material
from tests.builders.redaction.rare import fourth, rare, second, third
from tests.builders.redaction.templates import Planted

_MEGABYTE = 1_000_000
_ENDINGS = (".py", ".js", ".ts", ".json", ".md", ".txt", ".html", ".xml", ".toml", ".yml", ".mjs")


def main() -> None:
    """Print a table of what is found, and one of what is not."""
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="rounds of made-up secrets (10)")
    parser.add_argument("--megabytes", type=float, default=8, help="most ordinary material of one kind (8)")
    parser.add_argument(
        "--show", action="store_true", help="print what was missed, and what was taken for one"
    )
    options = parser.parse_args()
    seeds, size = (1, 0.02) if options.smoke else (options.seeds, options.megabytes)
    head("planted", "secrets", "found whole")
    for name, corpus in _CORPORA.items():
        made = [each for seed in range(1, seeds + 1) for each in corpus(seed)]
        missed = [(kind, each) for kind, each in made if not _covered(each)]
        row(name, f"{len(made):,}", f"{100 - 100 * len(missed) / len(made):.2f} %")
        if options.show:
            for kind, planted in missed:
                print(f"  {kind}: {planted.text!r}")
    print()
    head("ordinary material", "MB", "taken for secrets, per MB", "MB/s")
    for name, text in _materials(int(size * _MEGABYTE)):
        began = time.process_time()
        found = find(text)
        seconds = time.process_time() - began
        size_mb = len(text) / _MEGABYTE
        row(name, f"{size_mb:.1f}", f"{len(found) / size_mb:.2f}", f"{size_mb / seconds:.1f}")
        if options.show:
            for each in found[:20]:
                print(f"  {each.kind}: {text[max(0, each.start - 40) : each.end]!r}")


def _covered(planted: Planted) -> bool:
    """Return whether the whole secret is found."""
    at = planted.start
    for each in find(planted.text):
        if each.start <= at < each.end:
            at = each.end
    return at >= planted.end


def _escaped(seed: int) -> Iterator[tuple[str, Planted]]:
    """Yield the planted secrets in strings of JSON within JSON."""
    for kind, planted in secrets(seed):
        parts = (
            planted.text[: planted.start],
            planted.text[planted.start : planted.end],
            planted.text[planted.end :],
        )
        shown = [part.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') for part in parts]
        yield kind, Planted("".join(shown), len(shown[0]), len(shown[0]) + len(shown[1]))


_CORPORA: dict[str, Callable[[int], Iterator[tuple[str, Planted]]]] = {
    "45 kinds": secrets,
    "45 kinds, JSON in JSON": _escaped,
    "rarer vendors": rare,
    "a second list": second,
    "a third list": third,
    "a fourth list": fourth,
}


def _materials(size: int) -> Iterator[tuple[str, str]]:
    """Yield ordinary material with its name."""
    for name in MATERIALS:
        yield name, material(name, size // 8)
    yield "password= repeated", "password=" * (size // 72)
    folders = {
        "standard library": sysconfig.get_path("stdlib"),
        "installed packages": sysconfig.get_path("purelib"),
        "packages of npm": "/usr/lib/node_modules",
        "documents of the system": "/usr/share",
    }
    for name, folder in folders.items():
        if text := _files(Path(folder), size):
            yield name, text
    command = ("git", "-C", str(HERE.parent), "log", "-p", "-n", "300", "--", "agentwatch", "docs", "*.md")
    shown = subprocess.run(command, capture_output=True, check=False).stdout[:size]
    if shown:
        yield "git log of this repository", shown.decode("utf-8", "replace")


def _files(folder: Path, size: int) -> str:
    """Return the texts in a folder, up to a size."""
    texts, read = [], 0
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(_ENDINGS) and read < size:
                try:
                    texts.append(Path(path, name).read_text("utf-8", "replace"))
                except OSError:
                    continue
                read += len(texts[-1])
    return "".join(texts)[:size]


if __name__ == "__main__":
    main()
