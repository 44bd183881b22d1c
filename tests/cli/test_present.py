"""What is shown depends on how long ago something was, not on the day, the hour or a change of the clocks."""

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.hooks.plan import keep_copy
from agentwatch.catalog.listing import Heading, Listing
from agentwatch.catalog.row_counts import counts
from agentwatch.catalog.row_filter import row_filter
from agentwatch.cli.check import _has_changed
from agentwatch.recording.bookmarks import Bookmarks
from agentwatch.recording.store import new_session_files
from agentwatch.text.times import day_words, time_of_day, zone_minutes
from tests.builders.machine.fake import STEP_MS, FakeMachine, fake_machine
from tests.builders.machine.fake import save as save_made
from tests.builders.machine.made import Story
from tests.builders.machine.rows import save
from tests.conftest import RECORDINGS, case, in_zone, present
from tests.harness.program import ran

pytestmark = pytest.mark.slow
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
DAY_MS = 24 * HOUR_MS
MADE = 6
"""The number of sessions of the last hour."""
OLDER_HOURS = (20, 6 * 24, 8 * 24)
"""The ages of the other sessions; the list hides the last."""
CHANGES = {
    "Europe/Berlin": ("2027-03-28T01:00Z", "2027-10-31T01:00Z"),
    "America/St_Johns": ("2027-03-14T05:30Z", "2027-11-07T04:30Z"),
}
"""When the clocks of a zone change."""


class Now(NamedTuple):
    """A present, in a zone, of a machine with sessions."""

    at_ms: int
    zone: str
    folder: Path
    fake: FakeMachine

    def printed(self, *words: str | Path) -> list[str]:
        """Return the lines that agentwatch prints."""
        done = ran(*words, TZ=self.zone)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().splitlines()

    @property
    def ends_ms(self) -> list[int]:
        """When the sessions have ended, the newest first."""
        ago_ms = [AGO_MS + n * STEP_MS for n in range(MADE)]
        return [self.at_ms - ago for ago in (*ago_ms, *(hours * HOUR_MS for hours in OLDER_HOURS))]


AGO_MS = 5_000
"""The age of the newest session."""


def the_list(now: Now) -> None:
    """Each session of a week has its time or its day, and its age; the older one is hidden."""
    lines = now.printed("sessions")
    assert len(lines) == len(now.ends_ms) - 1
    ages = ["10 min", "20 min", "30 min", "40 min", "50 min", "20 h", "6 d"]
    assert [line.endswith(age) for line, age in zip(lines[1:], ages, strict=True)] == [True] * len(ages)
    for line, end_ms in zip(lines, now.ends_ms, strict=False):
        end = datetime.fromtimestamp(end_ms / 1000)
        days = {datetime.fromtimestamp(ms / 1000).date() for ms in (now.at_ms, now_ms())}
        shown = {f"{end:%H:%M}" if day == end.date() else f"{end.day} {end:%b}" for day in days}
        assert any(words in line for words in shown)


def the_time_since(now: Now) -> None:
    """An age and the time that is so long ago choose the same sessions."""
    at = datetime.fromtimestamp((now.at_ms - 25 * MINUTE_MS) / 1000).astimezone().isoformat()
    for words in ("25m", at):
        assert len(now.printed("sessions", "--since", words)) == 3


def the_evidence(now: Now) -> None:
    """The newest session has ended some seconds ago."""
    name = next(iter(now.fake.made))[1]
    assert now.printed("show", "--why", name)[0].endswith(" s ago · reported")


def the_filters(now: Now) -> None:
    """A session is found by its age, and by how long it is silent."""
    machine = Machine(now.fake.environ, now.fake.home)
    machine.settle(now_ms())
    for words, count in (("silent<25m", 3), ("age<25m", 3), ("silent>2d", 2), ("silent>7d", 1)):
        matches = row_filter(words)
        assert matches is not None
        assert sum(map(matches, machine.rows.values())) == count


def the_days(now: Now) -> None:
    """The sessions are listed by the days of the calendar, and those of today are counted."""
    machine, listing = Machine(now.fake.environ, now.fake.home), Listing()
    machine.settle(now.at_ms)
    listing.update(machine.rows.values(), now.at_ms)
    today = datetime.fromtimestamp(now.at_ms / 1000).date()
    passed = [(today - datetime.fromtimestamp(ms / 1000).date()).days for ms in now.ends_ms[:-1]]
    headings = [each for each in listing.lines if isinstance(each, Heading)]
    assert [each.count for each in headings] == [passed.count(days) for days in sorted({*passed})]
    named = {0: "today", 1: "yesterday"}
    words = [day_words(each.day_ms or 0, now.at_ms) for each in headings]
    assert [each for each in words if each in named.values()] == [
        named[days] for days in sorted({*passed}) if days in named
    ]
    assert counts(machine.rows.values(), now.at_ms).ended_today == passed.count(0)


def the_moments(now: Now) -> None:
    """A time of day is the moment at which its line has arrived."""
    recording = now.folder / "moments.ndjson"
    recording.write_bytes((RECORDINGS / "plain.ndjson").read_bytes())
    offsets = [line.split()[0] for line in (RECORDINGS / "plain.times").read_text().splitlines()]
    seen = [now.at_ms - (len(offsets) - n) * 5 * MINUTE_MS for n in range(len(offsets))]
    times = [f"{offset} {ms}\n" for offset, ms in zip(offsets, seen, strict=True)]
    recording.with_suffix(".times").write_text("".join(times))
    for ms in seen[:: len(seen) - 1]:
        (line,) = now.printed("show", f"{recording}@{time_of_day(ms)}", "--json")
        assert json.loads(line)["at_ms"] // 1000 == ms // 1000


def the_recordings(now: Now) -> None:
    """A recording has the local time in its name, and is deleted by its age; so have copies of settings."""
    old, _ = save(3), save(1)
    (line,) = now.printed("sessions", "--prune", "--older", "2d", "--dry-run")
    assert line.endswith(str(old))
    names = {f"{datetime.fromtimestamp(now.at_ms // 1000 + late):%Y%m%d-%H%M%S}" for late in range(60)}
    assert new_session_files().recording.stem[:15] in names
    assert keep_copy(now.folder / "config", b"", 0o600).name.removeprefix("config.") in names


def the_bookmarks(now: Now) -> None:
    """A bookmark has the time at which it was set."""
    marks = Bookmarks(now.folder / "marks.json", lambda _: True)
    marks.toggle(0, None)
    mark = marks.at(0)
    assert mark is not None
    assert 0 <= mark.created_ms - now.at_ms < MINUTE_MS


def the_files(now: Now) -> None:
    """A file without a result is still written if it has changed within ten minutes."""
    path = now.folder / "written"
    path.touch()
    for minutes, is_written in ((9, True), (11, False)):
        os.utime(path, ns=((now.at_ms - minutes * MINUTE_MS) * 10**6,) * 2)
        assert _has_changed(path) is is_written


ROOMS: tuple[Callable[[Now], None], ...] = (
    *(the_list, the_time_since, the_evidence, the_filters, the_days),
    *(the_moments, the_recordings, the_bookmarks, the_files),
)


def presents() -> dict[tuple[str, str], int]:
    """Return the presents to try, by their zone and name."""
    found = {("UTC", f"{days} days on"): now_ms() // 1000 * 1000 + days * DAY_MS for days in (0, 40, 400)}
    for zone, changes in CHANGES.items():
        with in_zone(zone):
            year_ms = int(datetime(2027, 1, 1).timestamp()) * 1000
            found[zone, "the last second of a year"] = year_ms - 1000
            found[zone, "a quarter after a year"] = year_ms + 15 * MINUTE_MS
            for words in changes:
                at_ms = int(datetime.fromisoformat(words).timestamp()) * 1000
                assert abs(zone_minutes(at_ms) - zone_minutes(at_ms - 1)) == 60
                for minutes in (-30, 30):
                    found[zone, f"{minutes} min after {words}"] = at_ms + minutes * MINUTE_MS
    return found


@pytest.mark.system
def test_every_present_shows_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Today, 40 and 400 days on, when a year ends, and in the hours before and after clocks change."""
    for number, ((zone, name), at_ms) in enumerate(presents().items()):
        with case(f"{zone}, {name}"), in_zone(zone), present(at_ms):
            folder = tmp_path / f"{number}"
            ended_ms = at_ms - AGO_MS
            fake = fake_machine(folder, MADE, newest_ms=ended_ms, with_captures=False, agents=["claude"])
            for hours in OLDER_HOURS:
                began_ms = at_ms - hours * HOUR_MS - 3000
                save_made(fake.home, "claude", Story(f"{hours:08}-0000", str(fake.home), "Old", began_ms))
            for variable, value in fake.environ.items():
                monkeypatch.setenv(variable, value)
            for room in ROOMS:
                with case(room.__name__):
                    room(Now(at_ms, zone, folder, fake))
