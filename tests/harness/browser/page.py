"""A page in a headless Chromium: opens files, presses keys, and reports what the page has done."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness.browser.chromium import SECONDS, Chromium

_KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "Space": (32, " "),
    "PageUp": (33, ""),
    "PageDown": (34, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
}
_SHIFT = 8
_WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => {
    violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
"""Runs before a page's own scripts. The policy of the page does not apply to it."""


class Node(NamedTuple):
    """A node of the accessibility tree."""

    role: str
    name: str
    properties: dict[str, Any]
    """Such as `expanded` and `level`."""


class Page:
    """A page of a browser."""

    def __init__(self, browser: Chromium) -> None:
        self.browser = browser
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            self.send(f"{domain}.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", source=_WATCH)
        self.address = ""
        """The address of the file that is open."""

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.send(method, self._session, **params)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file, and wait until it is loaded."""
        self._navigate("about:blank")  # a page that is open would not be loaded again for another fragment
        self.address = path.as_uri()
        self._navigate(f"{self.address}{fragment}")

    def _navigate(self, address: str) -> None:
        self.events.clear()
        self.send("Page.navigate", url=address)
        assert self.browser.wait(self._session, lambda event: event["method"] == "Page.loadEventFired")

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self.target)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of the page since it was opened."""
        return self.browser.events.setdefault(self._session, [])

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, which may be a promise."""
        found = self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def wait_for(self, condition: str, seconds: float = SECONDS) -> None:
        """Wait until an expression is true."""
        promise = f"""new Promise((resolve) => {{
            const late = performance.now() + {seconds * 1000};
            const check = () => {{
                if ({condition}) resolve(true);
                else if (performance.now() > late) resolve(false);
                else setTimeout(check, 10);
            }};
            check();
        }})"""
        assert self.evaluate(promise), condition

    def press(self, *keys: str) -> None:
        """Press keys, each a character or a name such as `Enter` and `Shift+Tab`."""
        for key in keys:
            name, modifiers = key, 0
            if key.startswith("Shift+"):
                name, modifiers = key.removeprefix("Shift+"), _SHIFT
            code, text = _KEYS.get(name, (ord(name[0].upper()), name))
            modifiers |= _SHIFT if len(name) == 1 and name.isupper() else 0
            shared = {"key": " " if name == "Space" else name, "windowsVirtualKeyCode": code}
            shared |= {"modifiers": modifiers, "code": name if len(name) > 1 else ""}
            down = "keyDown" if text else "rawKeyDown"
            self.send("Input.dispatchKeyEvent", type=down, text=text, **shared)
            self.send("Input.dispatchKeyEvent", type="keyUp", **shared)

    def click(self, selector: str) -> None:
        """Click on the middle of the first element that a selector finds."""
        box = self.evaluate(
            f"(() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        where = {"x": box[0], "y": box[1], "button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type="mousePressed", **where)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def complaints(self) -> list[str]:
        """Return the errors and warnings of the page: of its scripts, its policy and its loading."""
        found = []
        for event in self.events:
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(str(params["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                    found.append(str(params["args"]))
                case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                    found.append(params["entry"]["text"])
        return found + [f"policy: {words}" for words in self.evaluate("window.violations || []")]

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for, apart from its own."""
        found = [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [address for address in found if address.partition("#")[0] != self.address]

    def tree(self) -> Iterator[Node]:
        """Yield the nodes of the accessibility tree, in order, without those that are ignored."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        by_id = {node["nodeId"]: node for node in nodes}
        waiting = [nodes[0]["nodeId"]]
        while waiting:
            node = by_id.get(waiting.pop())
            if node is None:
                continue
            waiting += reversed(node.get("childIds", []))
            if not node["ignored"]:
                properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
                role, name = (str(node.get(part, {}).get("value", "")) for part in ("role", "name"))
                yield Node(role, name, properties)

    def pdf(self) -> bytes:
        """Return what the page prints."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def picture(self, path: Path) -> None:
        """Save a picture of what is in sight."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def set_size(self, width: int, height: int, *, is_phone: bool = False) -> None:
        """Set the size of the window, in CSS pixels."""
        scale = 2 if is_phone else 1
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_phone}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)

    def set_colours(self, scheme: str) -> None:
        """Prefer `dark` or `light` colours."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def set_scripts(self, *, run: bool) -> None:
        """Let the scripts of pages run or not, from the next opening on."""
        self.send("Emulation.setScriptExecutionDisabled", value=not run)

    def figures(self) -> dict[str, float]:
        """Return the counts of Chromium, such as `Nodes` and `JSHeapUsedSize`, after collecting garbage."""
        self.send("HeapProfiler.collectGarbage")
        return {each["name"]: each["value"] for each in self.send("Performance.getMetrics")["metrics"]}


@contextmanager
def opened(browser: Chromium) -> Iterator[Page]:
    """Open a new page, and close it at the end."""
    page = Page(browser)
    try:
        yield page
    finally:
        page.close()
