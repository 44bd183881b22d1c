"""The command `check`: judges recordings by rules, and prints the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agentwatch.cli.address import Address, parse_address
from agentwatch.cli.check.reading import check
from agentwatch.cli.export.progress import ShownProgress
from agentwatch.cli.messages import in_runner, printable, say, xml_without_commands
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.faults import USAGE, Fault
from agentwatch.rules.check.judgement import Checked, blind, is_misused
from agentwatch.rules.check.kinds import Rule, by_options, merged
from agentwatch.rules.check.reports import github, text
from agentwatch.rules.check.reports.words import name_of
from agentwatch.rules.check.rule_file import read_rules
from agentwatch.rules.language import RuleError
from agentwatch.wire import Agent

BROKEN = 1
_NO_RULES = "no rules: give --rules FILE, --forbid, --require or --limit (--init writes a file of rules)"


class Given(NamedTuple):
    """The rules that the command line gives."""

    files: Sequence[Path] = ()
    forbids: Sequence[str] = ()
    requires: Sequence[str] = ()
    limits: Sequence[str] = ()

    def rules(self) -> list[Rule]:
        """Return all rules. A `require` or `limit` of an option replaces the same one of a file.

        Raises:
            Fault: There is no rule, or a rule cannot be read.
        """
        found = [rule for path in self.files for rule in read_rules(path)]
        try:
            found = merged([*found, *by_options(self.forbids, self.requires, self.limits)])
        except RuleError as error:
            raise Fault(error.reason, USAGE) from None
        if not found:
            raise Fault(_NO_RULES, USAGE)
        return found


def run_check(
    addresses: Sequence[str],
    rules: Sequence[Rule],
    agent: Agent | None,
    output_format: str,
    *,
    waits: bool,
    explains: bool,
) -> int:
    """Judge recordings and print the report.

    Args:
        addresses: The recordings.
        rules: The rules, at least one.
        agent: The agent that wrote the recordings; None to detect it.
        output_format: `text`, `json`, `junit` or `github`.
        waits: Whether recordings that are still being written are followed to their end.
        explains: Whether the text lists for each rule the calls that it looked at and hit.

    Returns:
        The exit code: 0 if all rules hold, 1 if one is broken, 2 if a recording cannot be read or a rule
        that is no warning looked at nothing.
    """
    checked, code = list[Checked](), 0
    progress = ShownProgress()
    for words in addresses:
        try:
            address = whole_address(words, waits=waits)
            checked.append(check(address, rules, agent, progress.step("checking"), waits=waits))
        except Fault as fault:
            progress.clear()
            say(str(fault))
            code = max(code, fault.exit_code)
    progress.clear()
    unseen = blind(checked)
    for each in unseen:
        say(f"the rule {name_of(each)} looked at nothing: {each.words}")
    if any(each.is_error for one in checked for each in one.judgements):
        code = max(code, BROKEN)
    if is_misused(unseen):
        code = max(code, USAGE)
    return _print(checked, output_format, code, explains=explains) or code


def whole_address(words: str, *, waits: bool = False) -> Address:
    """Return the address of a whole recording.

    Raises:
        Fault: The address names a moment, or `waits` is set for a session of another machine.
    """
    address = parse_address(words)
    if address.moment is not None:
        raise Fault(f"check judges a whole recording, not a moment of it: {address.session}", USAGE)
    if waits and address.elsewhere:
        raise Fault(f"--wait is for recordings of this machine: {address.session}", USAGE)
    return address


def _print(checked: Sequence[Checked], output_format: str, code: int, *, explains: bool) -> int:
    """Print the report, and return the exit code of printing."""
    if output_format == "json":
        from agentwatch.rules.check.reports.json_object import report as json_report

        return print_json([json_report(checked, code)])
    if output_format == "junit":
        from agentwatch.rules.check.reports.junit import report as junit_report

        document = junit_report(checked)
        return _print_document((xml_without_commands(document) if in_runner() else document) + b"\n")
    if output_format == "github":
        lines = [*github.commands(checked), *([printable(github.result(checked))] if checked else [])]
        return _print_document("".join(f"{line}\n" for line in lines).encode())
    return print_lines(text.explained(checked) if explains else text.report(checked))


def _print_document(data: bytes) -> int:
    """Print bytes as they are, and return the exit code."""
    from agentwatch.cli.export.output import STDOUT, write_file  # 4 ms, for two formats only

    write_file(STDOUT, [data], replaces=False)
    return 0
