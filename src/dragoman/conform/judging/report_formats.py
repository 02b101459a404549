"""Owns the report of a run: text for people, JSON for programs, JUnit XML for build servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import msgspec

from .verdicts_against_expected_failures import CaseVerdict

MARKS = {"pass": "ok", "fail": "FAIL", "untested": "UNTESTED", "expected": "expected", "surprise": "SURPRISE"}


def text(verdicts: list[CaseVerdict], tested: str) -> str:
    """The report as text: every requirement with its counts, then all red verdicts, then the summary."""
    lines: list[str] = []
    groups: dict[tuple[str, str], list[CaseVerdict]] = {}
    for verdict in verdicts:
        case = verdict.result.case
        groups.setdefault((case.topic, case.requirement), []).append(verdict)
    for (topic, requirement), group in groups.items():
        good = sum(1 for verdict in group if verdict.state == "pass")
        mark = "FAIL" if any(verdict.fails_run for verdict in group) else "ok" if good == len(group) else "expected"
        lines.append(f"{mark:8} {good:3}/{len(group):<3} {topic}: {requirement}")
        for verdict in group:
            if verdict.state != "pass":
                lines.append(f"    {MARKS[verdict.state]}: {verdict.result.case.id}")
                lines += [f"        {words}" for words in verdict.words]
    return "\n".join([*lines, "", summary(verdicts, tested)])


def summary(verdicts: list[CaseVerdict], tested: str) -> str:
    """One line of totals, and a second line if some facts could not be checked."""
    counts = Counter(verdict.state for verdict in verdicts)
    words = [f"{counts['pass']} passed"]
    words += [f"{counts[state]} {state}" for state in ("fail", "untested", "surprise", "expected") if counts[state]]
    unseen = sum(verdict.result.unseen for verdict in verdicts)
    rest = f"\n{unseen} facts are about losses, which {tested} does not report over the wire." if unseen else ""
    number = "1 case" if len(verdicts) == 1 else f"{len(verdicts)} cases"
    return f"{number} against {tested}: {', '.join(words)}.{rest}"


def json(verdicts: list[CaseVerdict], tested: str) -> str:
    """The whole report as JSON."""
    cases: list[dict[str, Any]] = []
    for verdict in verdicts:
        case = verdict.result.case
        entry: dict[str, Any] = {"id": case.id, "topic": case.topic, "requirement": case.requirement}
        entry |= {"from": case.source_dialect, "to": case.target, "state": verdict.state}
        cases.append(entry | ({"words": verdict.words} if verdict.words else {}))
    counts = Counter(verdict.state for verdict in verdicts)
    document = {"asked": tested, "cases": len(verdicts), "states": dict(counts), "results": cases}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def junit(verdicts: list[CaseVerdict], tested: str) -> str:
    """The report as JUnit XML, with one test suite for each topic. An expected failure is a skipped test."""
    root = ElementTree.Element("testsuites", name=f"conformance of {tested}")
    topics: dict[str, list[CaseVerdict]] = {}
    for verdict in verdicts:
        topics.setdefault(verdict.result.case.topic, []).append(verdict)
    for topic, group in topics.items():
        red = sum(1 for verdict in group if verdict.fails_run)
        skipped = sum(1 for verdict in group if verdict.state == "expected")
        counts = {"name": topic, "tests": str(len(group)), "failures": str(red), "skipped": str(skipped)}
        suite = ElementTree.SubElement(root, "testsuite", counts)
        for verdict in group:
            test = ElementTree.SubElement(suite, "testcase", classname=topic, name=verdict.result.case.id)
            if verdict.fails_run:
                failure = ElementTree.SubElement(test, "failure", message=verdict.words[0], type=verdict.state)
                failure.text = "\n".join([verdict.result.case.requirement, *verdict.words])
            elif verdict.state == "expected":
                ElementTree.SubElement(test, "skipped", message=verdict.words[0])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


FORMATS: dict[str, Callable[[list[CaseVerdict], str], str]] = {"text": text, "json": json, "junit": junit}
