"""The detail shows what happened first, everything once, and names the call in its border."""

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.session.blocks import Block, TextBlock
from agentwatch.session.call import Place
from tests.builders.screen.app import PaneApp, lines_of, opened, viewport
from tests.builders.screen.call_detail import details
from tests.builders.screen.lines import CWD, append, ended, init, result, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


@pytest.mark.system
async def test_y_copies_the_output_and_names_it(recording: Saver) -> None:
    """`y` copies the output, the raw lines, the reason or the branch, and the message names which."""
    # `y` in the detail copies the output, the raw lines or the reason, and the message names which.
    args: dict[str, object] = {"command": "make"}
    outcome = {"failure": {"exitCode": 1, "stdout": "one\ntwo\n", "stderr": "three\n"}}
    fail = ended("e", "edit", {"path": f"{CWD}/x.py"}, {"error": {"error": "It occurs\ntwice."}})
    data = init() + ended("c", "shell", args, outcome) + fail + shell(3) + result()
    async with opened(recording(data)) as stage:
        await stage.press("2", "g", "3")
        for keys, words, text in (
            ("y", "copied #1's output, 3 lines", "one\ntwo\nthree"),
            ("ry", "copied #1's raw lines, ", '{\n  "type"'),
            ("rJy", "copied #2's error, 2 lines", "It occurs\ntwice."),
            ("Jy", "copied #3's detail, ", "$ echo 3"),
        ):
            with case(keys):
                await stage.press(*keys)
                await stage.shows(words)
                assert text in stage.app.clipboard
    # `y` copies the value of the selected branch of a tree.
    call = started("c", "mcp", {"args": {"filter": {"state": ["open"]}}})
    async with opened(recording(init() + call), follow=True) as stage:
        await stage.press("3", "j", "y")
        await stage.shows("copied #1's filter, 5 lines")
        assert stage.app.clipboard == '{\n  "state": [\n    "open"\n  ]\n}'


async def test_nothing_is_shown_twice(recording: Saver) -> None:
    """The detail shows what happened first, everything once, and the other fields at its end."""
    async with details() as (show, pilot):
        # A failure's reason, the path in the title and an argument that the result repeats stand there once.
        args: dict[str, object] = {"path": f"{CWD}/x.py", "offset": 7}
        error = {"error": {"error": "No such file: x.py", "offset": 7}}
        _, detail = await show(
            recording(init() + started("r", "read", args) + ended("r", "read", args, error))
        )
        await pilot.press("j", "space")
        text = "\n".join(lines_of(detail))
        assert text.count("No such file") == 1
        assert text.count("offset: 7") == 1
        assert f"{CWD}/x.py" not in text
        assert "▾ 2 more fields" in text
        assert "call_id: r" in text
        # A reason of over 4,096 characters, of which the session keeps the beginning, stands there once.
        reason = "Not allowed.\n" + "why\n" * 1200
        for tool, outcome in (
            ("task", {"rejected": {"reason": reason}}),
            ("shell", {"failure": {"stderr": reason}}),
        ):
            _, detail = await show(recording(init() + ended("c", tool, {"command": "x"}, outcome)))
            assert "\n".join(lines_of(detail)).count("Not allowed.") == 1
        # The diff or the content comes first, then the facts in one line, then the other fields in one line.
        args = {"path": f"{CWD}/x.py", "streamContent": "one\ntwo\n"}
        success = {
            "success": {"diffString": "@@ -1 +1 @@\n-a\n+b", "linesAdded": 1, "linesRemoved": 1, "size": 9}
        }
        _, detail = await show(
            recording(init() + started("e", "edit", args) + ended("e", "edit", args, success))
        )
        assert lines_of(detail) == [
            "@@ -1 +1 @@",
            "1   - a",
            "  1 + b",
            "✓ +1 −1 · 1.5 s · started 09:00:00",
            "▸ 5 more fields",
        ]
        await pilot.press("j", "space")
        assert lines_of(detail)[4:] == [
            "▾ 5 more fields",
            "  ▸ streamContent: 2 lines",
            "    linesAdded: 1",
            "    linesRemoved: 1",
            "    size: 9",
            "    call_id: e",
        ]
        # A command of several lines is shown with all its lines, and a shell without output says so.
        args = {"command": "cd src &&\nmake"}
        call = started("c", "shell", args) + ended("c", "shell", args, {"success": {"exitCode": 0}})
        _, detail = await show(recording(init() + call))
        assert lines_of(detail)[:4] == [
            "$ cd src &&",
            "make",
            "no output",
            "✓ exit 0 · 1.5 s · started 09:00:00",
        ]
        # The arguments of an MCP tool are a tree above what it returned; the names of the tool are folded.
        args = {
            "providerIdentifier": "tracker",
            "toolName": "get",
            "args": {"number": 118},
        }
        success = {"success": {"content": [{"text": {"text": "Release build fails"}}]}}
        _, detail = await show(
            recording(init() + started("m", "mcp", args) + ended("m", "mcp", args, success))
        )
        lines = lines_of(detail)
        assert lines[:2] == ["── arguments", "number: 118"]
        assert lines[lines.index("── content") + 1] == "Release build fails"
        assert lines[-1] == "▸ 3 more fields"
        # Arguments that the result repeats, nested 900 levels deep, do not end the program.
        deep: dict[str, object] = {}
        for _ in range(900):
            deep = {"a": deep}
        args = {"command": "ls", "deep": deep}
        call = started("c", "shell", args) + ended(
            "c", "shell", args, {"success": {"stdout": "x", "deep": deep}}
        )
        _, detail = await show(recording(init() + call))
        assert lines_of(detail)[-1].endswith("more fields")


async def test_a_subagent_and_its_steps(recording: Saver) -> None:
    """A subagent's steps are rendered as in the transcript; of very many, the rest is shown as it is."""
    read = {"args": {"path": "a.py"}, "result": {"success": {"totalLines": 9}}}
    fail = {"args": {"command": "make"}, "result": {"failure": {"exitCode": 2}}}
    steps = [
        {"thinkingMessage": {"text": "Where is it?"}},
        {"assistantMessage": {"text": "I **look**:\n\n- here\n"}},
        {"toolCall": {"readToolCall": read}},
        {"toolCall": {"shellToolCall": fail}},
    ]
    task = ended("t", "task", {"description": "Find it"}, {"success": {"conversationSteps": steps}})
    async with details() as (show, _):
        # A subagent's message is rendered Markdown, and its calls are lines like those of the transcript.
        _, detail = await show(recording(init() + task))
        assert lines_of(detail)[:9] == [
            "thinking",
            "  Where is it?",
            "",
            "I look:",
            "",
            " • here",
            "",
            "  ✓ Read file a.py (9 lines)",
            "  ✗ Ran terminal command make (failed: exit 2)",
        ]
        # A subagent with more text than is rendered as Markdown shows the rest as it is.
        steps = [{"assistantMessage": {"text": f"**step** {n} " + "word " * 40}} for n in range(3_000)]
        task = ended("t", "task", {"description": "Find it"}, {"success": {"conversationSteps": steps}})
        _, detail = await show(recording(init() + task))
        lines = lines_of(detail)
        assert lines[0].startswith("step 0")
        assert any(line.startswith("**step** 2999") for line in lines)


LONG = "line\n" * 60


@pytest.mark.system
async def test_the_border_names_the_call_and_its_outcome(recording: Saver) -> None:
    """The title names the call, without the command of a shell; its outcome is below while it is away."""
    # The title names the call, without the command of a shell; the outcome stands below while it is away.
    done = {"success": {"linesAdded": 3, "linesRemoved": 1}}
    edits = [
        ended(f"e{n}", "edit", {"path": f"{CWD}/{path}"}, done)
        for n, path in enumerate(("x.py", "long/" * 20 + "y.py"))
    ]
    args: dict[str, object] = {"command": "make", "timeout": 120000}
    failure = {"failure": {"exitCode": 2, "stdout": LONG}}
    failed = started("c", "shell", args) + ended("c", "shell", args, failure)
    data = init() + edits[0] + shell(1, 2, "out") + edits[1] + failed
    async with opened(recording(data), (120, 40), follow=True) as stage:
        detail = stage.pane("detail")
        await stage.shows("─ 3 Detail · #4 shell ─")
        await stage.shows("─ ✗ exit 2 · 1.5 s of 2:00 ─")
        await stage.press("2", "g")
        await stage.shows("─ 3 Detail · #1 edit x.py ─")
        await stage.until(lambda: stage.text().count("✓ +3 −1") == 1, "the outcome, once")
        # The border has the outcome only while the content does not fit, and always above raw lines.
        await stage.press("j")
        await stage.shows("✗ exit 2 · 1.5 s · started")
        assert "✗ exit 2 · 1.5 s ─" not in stage.text()
        await stage.press("r")
        await stage.shows("✗ exit 2 · 1.5 s ─")
        await stage.press("r")
        await stage.until(lambda: "✗ exit 2 · 1.5 s ─" not in stage.text(), "one outcome")
        # When the detail is maximized, its tab does not name the call, which the first row does.
        await stage.press("3", "z")
        await stage.shows("1 Transcript 2 Calls 3 Detail")
        assert viewport(detail)[0] == "#2 shell"
        await stage.press("z")
        await stage.shows("─ 3 Detail · #2 shell ─")
        assert viewport(detail)[0] == "$ echo 1"
        # On a narrow screen the detail begins with the call, and its outcome if that is out of view.
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: viewport(detail)[0] == "#2 shell", "the call alone")
        await stage.press("J", "J")
        await stage.until(
            lambda: viewport(detail)[0].startswith("#4 shell · ✗ exit 2 · 1.5 s"), "the outcome"
        )
        # Without a border, the row that names the call is cut where it does not fit.
        await stage.pilot.resize_terminal(40, 12)
        await stage.press("K")
        rows = viewport(detail)
        assert rows[0].startswith("#3 edit ")
        assert "✓ +3" not in rows[0]
        assert rows[1].startswith("✓ +3")
    # While later calls arrive, the detail of a failed call stays, and its title names it.
    path = recording(init() + shell(1, 1, "broken"))
    async with opened(path, follow=True) as stage:
        await stage.append(shell(2, 1, "broken again"))
        await stage.shows("3 Detail · #2 shell")
        await stage.append(shell(3, 0, "fine"))
        await stage.shows("3 Detail · failed call #2 · esc follows")
        append(path, b"")
        await stage.press("3", "J")
        await stage.shows("3 Detail · #3 shell")


class RemarkedFeed(Feed):
    """A feed whose calls have remarks in their lines."""

    def blocks(self, place: Place, call_id: str = "") -> list[Block]:
        return [TextBlock("description", "Run the tests"), *super().blocks(place, call_id)]


async def test_a_remark_of_one_line_follows_the_facts(recording: Saver) -> None:
    """A text of one line, such as the description of a command, stands below the facts."""
    feed = RemarkedFeed(open_saved(recording(init() + shell(1, 0, "out"))))
    detail = DetailView(feed)
    async with PaneApp(detail).run_test(size=(70, 20)) as pilot:
        feed.advance()
        await pilot.pause()
        detail.show_call(feed.session.calls[0])
        await pilot.pause()
        lines = lines_of(detail)
        assert lines[2].startswith("✓ exit 0")
        assert lines[3] == "description: Run the tests"
