# ruff: noqa: E501 - the texts are as long as they are
"""Texts that attack a page, and recordings with such a text in every field.

A text that succeeds sets `window.pwned`, asks for an address, or adds an element.
"""

import json
from collections.abc import Iterator
from typing import Any

from tests.builders.formats.samples import MARKS
from tests.builders.lines import completed, final, init, result, segment, started, thought, user
from tests.builders.payloads import PAYLOADS

ATTACKS = {
    "script": "<script>pwned=1</script>",
    "end of a script": "</script><script>pwned=1</script>",
    "end of a script in capitals": "</SCRIPT\t\n><ScRiPt>pwned=1</sCrIpT >",
    "script in a comment": "<!--<script>",
    "comment": "--><!-- --!><script>pwned=1</script>",
    "end of noscript": "</noscript><img src=x onerror=pwned=1>",
    "end of the style": "</style></title></textarea></template><script>pwned=1</script>",
    "image": "<img src=https://evil.example/x onerror=pwned=1>",
    "image in an attribute": "\"'><img src=x onerror=pwned=1>",
    "attribute": '" onmouseover=pwned=1 autofocus onfocus=pwned=1 x="',
    "attribute in single quotes": "' onfocus=pwned=1 autofocus tabindex=1 style='x:expression(1)",
    "svg": "<svg/onload=pwned=1><animate onbegin=pwned=1><use href=data:image/svg+xml,x /></svg>",
    "svg script": "<svg><script href=data:,pwned=1 /></svg><math><mi//xlink:href='data:x,<script>pwned=1</script>'>",
    "mutation": '<noscript><p title="</noscript><img src=x onerror=pwned=1>">',
    "mutation of mathml": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=pwned=1&gt;'>",
    "details": "<details open ontoggle=pwned=1><summary>x</summary></details>",
    "media": "<video src=https://evil.example/v autoplay><source onerror=pwned=1></video><audio src=x onerror=pwned=1>",
    "frame": "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe><iframe src=javascript:pwned=1></iframe>",
    "object": "<object data=data:text/html,x></object><embed src=https://evil.example/>",
    "base": "<base href=https://evil.example/><link rel=stylesheet href=//evil.example/x.css>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "form": "<form action=https://evil.example/><input name=x autofocus onfocus=pwned=1><button>go</button></form>",
    "style": "<style>@import 'https://evil.example/x'; *{background:url(https://evil.example/y)}</style>",
    "style attribute": '<p style="background:url(https://evil.example/z)">x</p>',
    "template": "<template><script>pwned=1</script></template><slot onslotchange=pwned=1></slot>",
    "custom element": "<x-y is=script onclick=pwned=1>z</x-y>",
    "clobbering": "<a id=rows><a id=rows name=meta href=x></a><form id=main><input id=top name=body></form>",
    "javascript link": "[x](javascript:pwned=1) [y](JaVaScRiPt&colon;pwned=1) <javascript:pwned=1>",
    "data link": "[x](data:text/html,<script>pwned=1</script>) [y](vbscript:x) [z](file:///etc/passwd)",
    "link with a quote": "[x](https://evil.example/\"onmouseover=\"pwned=1) [y](<https://a.example/'>'<b>)",
    "reference": "[x]: javascript:pwned=1\n\n[x] ![x] [x][x]",
    "image of Markdown": '![x](https://evil.example/p.png "t") ![y](data:image/svg+xml,<svg/onload=pwned=1>)',
    "html of Markdown": "<b>x</b>\n\n<div onclick=pwned=1>\n\n- <i>y</i>\n\n```html\n<script>pwned=1</script>\n```\n",
    "table of Markdown": "|<script>pwned=1</script>|x|\n|---|---|\n|<img src=x onerror=pwned=1>|`</script>`|",
    "json": '","o":"failed"}]</script><script>pwned=1//',
    "json escapes": '\\u003c/script>\\u003cscript>pwned=1\\" \\',
    "separators": "x\u2028pwned=1\u2029</script>\r\n\x00\x0b",
    "half pairs": "\ud83d</script>\udc00<b>",
    "entities": "&lt;script&gt;pwned=1&lt;/script&gt; &#x3c;img src=x onerror=pwned=1&#62;",
    "template string": "${pwned=1} `${pwned=1}` {{constructor.constructor('pwned=1')()}} <%= 1 %>",
    "prototype": "__proto__",
    "constructor": "constructor",
    "to string": "toString valueOf hasOwnProperty __defineGetter__",
    "css": "}</style>*{display:none}/* \\3c/style\\3e */ expression(pwned=1) url(javascript:pwned=1)",
    "policy": "'unsafe-inline' ; script-src *",
    "hash": '#1" id="x\' #<script>',
    "right to left": "\u202e<script>pwned=1</script>\u2066",
    "long": "<b>" * 2000,
}
MIXED = "\n\n".join([*ATTACKS.values(), *(text for text in PAYLOADS.values() if len(text) < 60)])
_NAMED = frozenset({"__proto__", "constructor", "prototype"})


def run_with(text: str) -> tuple[bytes, ...]:
    """Return the lines of a run with a text in every field: prompt, texts, tools, outputs, diffs and errors."""
    named = {text: text, "__proto__": {"polluted": text}, "constructor": {"prototype": {"polluted": text}}}
    return (
        init(cwd=f"/home/{text}", model=text, session_id=text, permissionMode=text),
        user(text),
        thought(text),
        segment(f"{text}\n\n- {text}\n\n| {text} |\n|---|\n\n```{text}\n{text}\n```"),
        started("shell", "a", command=text, description=text),
        completed("shell", "a", {"success": {"stdout": text, "stderr": text, "exitCode": 0}}, command=text),
        started("edit", f"b{text}", path=text),
        completed("edit", f"b{text}", {"success": {"diffString": _diff(text), "path": text}}, path=text),
        started("mcp", "c", name=text, args=named),
        completed("mcp", "c", {"error": {"error": text}}, name=text, args=named),
        started(f"odd{text}", "d", any=text, nested=named),
        completed(f"odd{text}", "d", {"success": named}),
        started("read", "e", path=text),
        completed("read", "e", {"success": {"content": text, "totalLines": 1}}, path=text),
        started("grep", "f", pattern=text),
        completed("grep", "f", {"failure": {"error": text}}, pattern=text),
        started("webFetch", "g", url=f"https://a.example/{text}"),
        completed("webFetch", "g", {"success": {"markdown": text, "url": text}}, url=text),
        f"{text}\n".encode(errors="replace"),
        json.dumps({"type": text, "x": text}).encode() + b"\n",
        final(text),
        result(text, is_error=True, subtype="error"),
    )


def attacked(data: bytes, text: str) -> Iterator[bytes]:
    """Yield the lines of a recording of any agent with a text in each value and in each new key."""
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        yield json.dumps(_attacked(value, text)).encode() + b"\n"


def _attacked(value: Any, text: str, key: str = "") -> Any:
    if isinstance(value, dict):
        changed = {name: _attacked(inner, text, name) for name, inner in value.items()}
        is_named = key in ("input", "arguments", "args", "rawInput", "content")
        return changed | ({name: {"polluted": text} for name in _NAMED} if is_named else {})
    if isinstance(value, list):
        return [_attacked(inner, text, key) for inner in value]
    return f"{value[:3]}{text}" if isinstance(value, str) and key not in MARKS else value


def _diff(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        (f"--- a/{lines[0]}", f"+++ b/{lines[0]}", "@@ -1 +1 @@", *(f"-{x}\n+{x}" for x in lines))
    )
