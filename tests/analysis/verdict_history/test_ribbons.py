"""The ribbon shows the verdicts of the test runs in order, as many as fit."""

from __future__ import annotations

from agentwatch.analysis.verdict_history import CallVerdict, beside, ribbon, ribbon_pieces
from agentwatch.analysis.verdicts import verdict
from agentwatch.text.safe import columns
from tests.conftest import case


def made(*failed: int | None) -> list[CallVerdict]:
    """Return test runs with these numbers of failed tests; None for a red one without a number."""
    runs = []
    for number, count in enumerate(failed, 1):
        output = "BUILD FAILED in 3s" if count is None else f"{count} failed, 2 passed in 1s"
        found = verdict("pytest", output if count != 0 else "2 passed in 1s", 0 if count == 0 else 1)
        assert found is not None
        runs.append(CallVerdict(100 * number, number, number, found))
    return runs


def test_the_newest_is_at_the_right() -> None:
    """A red verdict has its number of failed tests if that is known."""
    assert ribbon(made(12, 9, None, 1, 0), 80) == "✗12 ✗9 ✗ ✗1 ✓"
    assert ribbon([], 80) == ""


def test_a_stale_run_is_marked() -> None:
    """If a file changed after the newest green run, a `?` follows it."""
    *runs, last = made(12, 0, 0)
    assert ribbon([*runs, last._replace(is_stale=True)], 80) == "✗12 ✓ ✓?"


def test_what_does_not_fit_is_left_out_at_the_left() -> None:
    """At any width the ribbon fits and is the end of the whole one, after `…` if any is left out."""
    for width in range(30):
        with case(width):
            runs = made(12, 9, 9, 120, 1, 0, 3, 0)
            shown, whole = ribbon(runs, width), ribbon(runs, 80)
            assert columns(shown) <= width
            if width >= columns(whole):
                assert shown == whole
            elif width >= 3:
                assert shown.startswith("… ")
                assert whole.endswith(shown[1:])
            else:
                assert shown == ""


def test_the_chosen_one_is_shown() -> None:
    """Whichever verdict is chosen, it is in the ribbon, and the verdicts shown are consecutive."""
    for width in range(12, 30):
        with case(width):
            runs = made(*[12, 9, 9, 120, 1, 0, 3, 0] * 4)
            for chosen in range(len(runs)):
                pieces = ribbon_pieces(runs, width, chosen)
                assert sum(columns(piece.words) + 1 for piece in pieces) - 1 <= width
                shown = [piece.at for piece in pieces if piece.at is not None]
                assert chosen in shown
                assert shown == list(range(shown[0], shown[-1] + 1))
                assert (pieces[0].at is None) == (shown[0] > 0)
                assert (pieces[-1].at is None) == (shown[-1] < len(runs) - 1)


def test_the_next_and_the_previous_verdict() -> None:
    """From a moment, the next test run ended after it and the previous one before it."""
    runs = made(3, 2, 0)
    following = [each and each.number for each in (beside(runs, at, 1) for at in (0, 100, 250, 300))]
    assert following == [1, 2, 3, None]
    earlier = [each and each.number for each in (beside(runs, at, -1) for at in (100, 101, 300, 999))]
    assert earlier == [None, 1, 2, 3]
