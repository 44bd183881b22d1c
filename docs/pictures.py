"""Draw the pictures of the documents: `python docs/pictures.py [NAME…]`.

Without a name it draws all of them, which takes five minutes. Each shows the program itself. Those of the
exported page are PNG files, which need Chromium.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

from drawing import animation, exported_page, machine, picture

FOLDER = Path(__file__).parent / "pictures"
Drawing = Callable[[], Coroutine[None, None, str]]
DRAWINGS: dict[str, Drawing] = {
    **{name: partial(picture.drawn, each) for name, each in picture.PICTURES.items()},
    **{name: partial(machine.drawn, each) for name, each in machine.PICTURES.items()},
    **{name: partial(animation.drawn, each) for name, each in animation.FILMS.items()},
}
"""How each picture is drawn, by the name of its file."""

if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    for name in sys.argv[1:] or [*DRAWINGS, *exported_page.PICTURES]:
        os.environ.pop("NO_COLOR", None)  # the picture without colours sets it
        if name not in exported_page.PICTURES:
            (FOLDER / f"{name}.svg").write_text(asyncio.run(DRAWINGS[name]()))
        elif exported_page.has_chromium():
            exported_page.draw(name, FOLDER / f"{name}.png")
        else:
            print(f"{name}: left out, because Chromium is not installed", file=sys.stderr)
