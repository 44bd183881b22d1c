"""The private names of Textual that the screen uses: all of them in one folder, and each still there.

A new version of Textual that takes one away fails here, with the list of what is missing.
"""

import pytest

from tests.conftest import ROOT
from tests.screen.terminal.private_names import UNKNOWN, has, own_names, used

PRIVATE = {
    (where, name)
    for where, names in (
        ("textual._ansi_sequences", "ANSI_SEQUENCES_KEYS"),
        ("textual._compositor", "Compositor CompositorUpdate"),
        ("textual._compositor.Compositor", "_dirty_regions _regions_to_spans cuts layers_visible"),
        ("textual._compositor.Compositor", "render_full_update render_partial_update size"),
        ("textual._compositor.Compositor", "update_widgets visible_widgets"),
        ("textual._compositor.CompositorUpdate", "render_segments"),
        ("textual._styles_cache", "StylesCache"),
        ("textual._xterm_parser", "XTermParser"),
        ("textual._xterm_parser.XTermParser", "_sequence_to_key_events"),
        ("textual.app.App", "_driver _handle_exception _keymap"),
        ("textual.css.styles.RenderStyles", "_cache_key"),
        ("textual.driver.Driver", "_app"),
        ("textual.drivers._writer_thread", "WriterThread"),
        ("textual.drivers._writer_thread.WriterThread", "_queue run stop"),
        ("textual.drivers.linux_driver", "WriterThread"),
        ("textual.drivers.linux_driver.LinuxDriver", "_key_thread _must_signal_resume _sigcont_application"),
        ("textual.message_pump.MessagePump", "_attach _close_messages_no_wait"),
        ("textual.screen.Screen", "_compositor _dirty_widgets _get_breakpoint_classes _on_timer_update"),
        ("textual.strip.Strip", "_cell_length _render_cache _segments"),
        ("textual.widget.Widget", "_repaint_regions _repaint_required"),
    )
    for name in names.split()
}
"""Each private name that is used, with the module or the class that has it.

In a private module every name is private; the globals of `linux_driver` are replaced.
"""
SCREEN = ROOT / "agentwatch" / "screen"
FILES = sorted(SCREEN.rglob("*.py"))
FOLDER = SCREEN / "terminal"


def test_textual_has_every_private_name_that_is_used() -> None:
    """The installed Textual has each of them."""
    missing = [f"{where}.{name}" for where, name in sorted(PRIVATE) if not has(where, name)]
    assert not missing, f"Textual has no longer: {', '.join(missing)}"


@pytest.mark.system
def test_the_list_of_private_names_is_that_of_the_code() -> None:
    """The list names what the modules of `terminal` use, no more and no fewer; no other module uses one."""
    # The names in the list are those that the modules of `terminal` use, no more and no fewer.
    own = own_names(FILES)
    found = {pair for path in FILES if FOLDER in path.parents for pair in used(path, own)}
    assert {name for _, name in found} == {name for _, name in PRIVATE}
    assert {pair for pair in found if pair[0] != UNKNOWN} <= PRIVATE
    # No module of the screen outside of `terminal` uses a private name of Textual.
    own = own_names(FILES)
    outside = {
        f"{path.relative_to(SCREEN)}: {where}.{name}"
        for path in FILES
        if FOLDER not in path.parents
        for where, name in used(path, own)
    }
    assert not outside, outside
