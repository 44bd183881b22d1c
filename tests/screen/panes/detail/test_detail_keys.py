"""The keys of the detail: sideways, wrap, the failing lines, the next call."""

import pytest

from tests.builders.screen.app import Stage, lines_of, opened, viewport
from tests.builders.screen.call_detail import details
from tests.builders.screen.lines import CWD, answer, ended, init, result, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

RULE = "=" * 90
LONG = "".join(f"{n:4}" for n in range(100))
PYTEST = "\n".join(
    [
        "..F..F",
        RULE,
        *("    pass" for _ in range(60)),
        ">       assert 1 == 2",
        "E       assert 1 == 2",
        *("    pass" for _ in range(60)),
        "E       KeyError: 'x'",
        "2 failed, 4 passed in 0.31s",
    ]
)


async def test_long_lines_are_cut_wrapped_or_scrolled(recording: Saver) -> None:
    """A long line takes one row; `w` wraps it, `l` and `h` scroll sideways, and what is selected stays."""
    async with details() as (show, pilot):
        # A long line of output is cut with `…`; `w` wraps it without losing a character, and cuts it again.
        _, detail = await show(recording(init() + shell(1, 0, f"{RULE}\nend")))
        width = detail.scrollable_content_region.width
        assert lines_of(detail)[1:3] == ["=" * (width - 1) + "…", "end"]
        await pilot.press("w")
        rows = lines_of(detail)[1:4]
        assert rows == ["=" * (width - 2), "↳ " + "=" * (92 - width), "end"]
        await pilot.press("w")
        assert lines_of(detail)[2] == "end"
        # After `w` the line at the top of the pane is the same, and another call is wrapped as well.
        output = "\n".join(f"{n} {RULE}" for n in range(100))
        feed, detail = await show(recording(init() + shell(1, 0, output) + shell(2, 0, RULE)))
        await pilot.press(*["pagedown"] * 2)
        before = viewport(detail)[0][:10]
        await pilot.press("w")
        assert viewport(detail)[0][:10] == before
        detail.show_call(feed.session.calls[1])
        assert len(lines_of(detail)[2]) == 94 - detail.scrollable_content_region.width
        # `l` shows what is beyond the right edge, up to the end of the longest line; `h` goes back.
        _, detail = await show(recording(init() + shell(1, 0, f"{LONG}\nshort")))
        width = detail.scrollable_content_region.width
        first = lines_of(detail)
        await pilot.press("l")
        assert lines_of(detail)[1] == LONG[width // 2 :][: width - 1] + "…"
        assert lines_of(detail)[2] == ""
        assert lines_of(detail)[0] == "$ echo 1"
        await pilot.press(*["l"] * 30)
        assert lines_of(detail)[1] == LONG[-width:]
        await pilot.press(*["h"] * 30)
        assert lines_of(detail) == first
        # The lines of a diff scroll and keep their numbers, unified and side by side.
        diff = f"@@ -1 +1 @@\n-{LONG}\n+{LONG} new"
        edit = ended("a", "edit", {"path": f"{CWD}/x.txt"}, {"success": {"diffString": diff}})
        for size in ((70, 30), (130, 30)):
            _, detail = await show(recording(init() + edit), size=size)
            rows_before = detail.line_count()
            await pilot.press(*["l"] * 30)
            text = "\n".join(lines_of(detail))
            assert detail.line_count() == rows_before
            assert "1 + " in text
            assert "99 new" in text
        # Where the left edge cuts a wide character in two, a blank takes its place, and columns stay in line.
        for left in range(5):
            with case(left):
                _, detail = await show(
                    recording(init() + shell(1, 0, "東京の潮位" * 30)), size=(40 + 2 * left, 12)
                )
                await pilot.press("l")
                half = detail.scrollable_content_region.width // 2
                row = lines_of(detail)[1]
                assert row.startswith(" " if half % 2 else ("東京の潮位" * 30)[half // 2])
                assert detail.draw(1, 80).cell_length <= detail.scrollable_content_region.width
        # When the width of the pane changes, the selected branch stays selected.
        data = (
            init()
            + shell(1, 0, "out")
            + started("c", "mcp", {"args": {"long": "word " * 40, "list": [1, 2]}})
        )
        _, detail = await show(recording(data), 1)
        await pilot.press("j")
        await pilot.resize_terminal(40, 30)
        await pilot.pause()
        await pilot.press("space")
        assert "▸ list: 2 items" in lines_of(detail)


@pytest.mark.system
async def test_a_match_is_brought_into_view(recording: Saver) -> None:
    """A match beyond the right edge is scrolled to, one in a folded field unfolds it."""
    # A match beyond the right edge scrolls sideways until it is visible; one in view scrolls back.
    output = f"a needle\n{LONG} needle {LONG}"
    async with opened(recording(init() + shell(1, 0, output) + answer("Done.") + result("Done."))) as stage:
        await stage.press("slash", *"needle", "enter")

        def seen() -> str:
            return "\n".join(viewport(stage.pane("detail")))

        assert "a needle" in seen()
        await stage.press("n")
        await stage.until(lambda: "99 needle" in seen(), "the second match")
        await stage.press("n")
        await stage.until(lambda: "a needle" in seen(), "the first match")
    # A match in a field that is folded away opens the list of fields, at the field that contains it.
    args: dict[str, object] = {"command": "ls", "aside": "the needle"}
    call = started("c", "shell", args) + ended("c", "shell", args, {"success": {"stdout": "out"}})
    async with opened(recording(init() + call + result())) as stage:
        await stage.press("2")
        assert "needle" not in "\n".join(lines_of(stage.pane("detail")))
        await stage.press("slash", *"needle")
        await stage.shows("aside: the needle", "detail")
        await stage.press("escape", "slash", *"ls")
        await stage.until(lambda: "$ ls" in viewport(stage.pane("detail")), "the command")


def marked(stage: Stage) -> str:
    """Return the row of the detail that is drawn as selected."""
    pane = stage.pane("detail")
    style = pane.line_style("chosen").bgcolor
    rows = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    chosen = (row.text.strip() for row in rows if any(s.style and s.style.bgcolor == style for s in row))
    return next(chosen, "")


@pytest.mark.system
async def test_the_first_failing_line_is_a_key_away(recording: Saver) -> None:
    """`!` goes to the first failing line of the output, of any tool, then to the next, around the end."""
    # `!` goes to the first failing line of the output, then to the next, around the end.
    data = init() + shell(1, 0, "5 passed, 0 errors") + shell(2, 1, PYTEST) + result()
    async with opened(recording(data)) as stage:
        await stage.press("3")
        for line in ("E       assert 1 == 2", "E       KeyError: 'x'", "E       assert 1 == 2"):
            await stage.press("exclamation_mark")
            assert marked(stage) == line
        # It moves nothing and shows a message if no line names a failure.
        await stage.press("K", "exclamation_mark")
        await stage.shows("no failing line in this call")
        await stage.press("comma")
        await stage.until(lambda: stage.app.screen.has_class("-earlier"), "the earlier moment")
    # The lines with which test runners and compilers name a failure are found.
    async with details() as (show, pilot):
        # The lines with which test runners and compilers name a failure are found.
        for line in (
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "--- FAIL: TestThing (0.00s)",
            "  ✗ adds numbers",
            "not ok 3 - adds numbers",
            "error[E0308]: mismatched types",
            "src/a.ts:9:12 - error TS2532: Object is possibly 'undefined'.",
            "main.c:3:1: error: expected ';'",
            "thread 'main' panicked at src/main.rs:2:5:",
            "FAIL src/sum.test.js",
            "AssertionError",
        ):
            with case(line):
                _, detail = await show(recording(init() + shell(1, 1, f"ok\n{line}\nend")))
                await pilot.press("exclamation_mark")
                style = detail.line_style("chosen").bgcolor
                assert any(segment.style and segment.style.bgcolor == style for segment in detail.draw(2, 60))


@pytest.mark.system
async def test_capital_j_and_k_go_from_call_to_call(recording: Saver) -> None:
    """`J` and `K` in the detail show the next and previous call, each of a fold too, and select it."""
    calls = b"".join(shell(number, number % 2, f"out {number}") for number in range(6))
    reads = b"".join(started(f"r{n}", "read", {"path": f"{CWD}/{n}.py"}) for n in range(4)) + b"".join(
        ended(f"r{n}", "read", {"path": f"{CWD}/{n}.py"}, {"success": {"content": f"file {n}"}})
        for n in range(4)
    )
    async with opened(recording(init() + calls + reads + shell(9) + result())) as stage:
        await stage.press("2", "g", "3")
        for key, number in (("J", 1), ("J", 2), ("K", 1), ("K", 0), ("K", 0)):
            await stage.press(key)
            assert stage.chosen == f"echo {number}"
            assert viewport(stage.pane("detail"))[0] == f"$ echo {number}"
            assert stage.focus == "detail"
        seen = []
        for _ in range(10):
            await stage.press("J")
            seen.append(stage.chosen)
        assert seen[5:] == ["0.py", "1.py", "2.py", "3.py", "echo 9"]


@pytest.mark.system
async def test_the_selected_branch_and_the_folds_stay(recording: Saver) -> None:
    """They stay when the pane changes its frame or the call ends; another call has its own."""
    args: dict[str, object] = {"args": {"first": [1], "list": [1, 2]}}
    data = init() + started("a", "mcp", args) + started("b", "mcp", args)
    async with opened(recording(data), size=(140, 48), follow=True) as stage:
        await stage.press("2", "g", "3", "j", "space", "J")
        assert marked(stage) == ""
        assert "▾ first: 1 item" in lines_of(stage.pane("detail"))
        await stage.press("j", "space", "j")
        for _ in range(2):
            await stage.press("z")
            assert marked(stage) == "▾ list: 2 items"
            assert "▸ first: 1 item" in lines_of(stage.pane("detail"))
        await stage.append(ended("b", "mcp", args, {"success": {"content": [{"text": {"text": "done"}}]}}))
        assert marked(stage) == "▾ list: 2 items"
        assert "▸ first: 1 item" in lines_of(stage.pane("detail"))
        await stage.press("space")
        assert "▸ list: 2 items" in lines_of(stage.pane("detail"))
        assert not stage.app.screen.has_class("-earlier")


@pytest.mark.system
async def test_keys_do_nothing_before_the_first_call(recording: Saver) -> None:
    """Before the first call, the keys of the detail do nothing, except that `w` wraps what follows."""
    async with opened(recording(init()), follow=True) as stage:
        await stage.press("3", "w", "h", "l", "exclamation_mark", "J", "K", "j", "k", "r", "r", "y")
        await stage.append(shell(1, 0, f"{RULE}\nend"))
        assert RULE in "".join(lines_of(stage.pane("detail"))).replace("↳ ", "")
