# ===- report.py - Whether a report's figures are those of its sources -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Parses a report and compares its figures with those of the plan, the trace and the log it is
of; and what the tables and pictures of the page show with its figures.

    report.py PAGE PLAN.json [EVENTS TRACE]
"""
import collections
import html.parser
import json
import math
import pathlib
import re
import sys

COMPUTES = ("kernel", "library", "copy", "fill", "signal", "wait")
KINDS = ("state", "hyper", "step", "act", "bnd", "input", "tmp", "scratch")


def fail(what, expected, got):
    if isinstance(expected, float) or isinstance(got, float):
        if expected is not None and got is not None and math.isclose(expected, got, rel_tol=1e-6, abs_tol=1e-9):
            return
    elif expected == got:
        return
    sys.exit(f"FAILED: {what}: expected {expected}, got {got}")


class Page(html.parser.HTMLParser):
    """Scripts, tables as lists of texts, pictures by section, and what opens and closes."""

    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.stack, self.section, self.data = [], None, ""
        self.rows, self.titles, self.figures, self.texts = [], collections.Counter(), collections.Counter(), []
        self.scripts = 0
        self.feed(text)
        fail("elements that stay open", [], self.stack)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for key, value in attributes.items():
            if key in ("src", "href") and not value.startswith("#"):
                sys.exit(f"FAILED: the page asks for {value}")
            if key.startswith("on"):
                sys.exit(f"FAILED: {key} in <{tag}>")
        self.section = attributes.get("id") if tag == "section" else self.section
        self.figures[self.section] += tag == "figure"
        self.scripts += tag == "script"
        if tag == "tr":
            self.rows.append((self.section, []))
        if tag == "td":
            self.rows[-1][1].append("")
        if tag not in self.VOID:
            self.stack.append((tag, attributes))

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        fail("the element that ends", self.stack.pop()[0], tag)

    def handle_data(self, text):
        tag, attributes = self.stack[-1] if self.stack else ("", {})
        if attributes.get("id") == "data":
            self.data += text
        if any(tag == "td" for tag, _ in self.stack):
            self.rows[-1][1][-1] += text
        self.titles[self.section] += tag == "title"
        self.texts.append(text)


def bytes_of(frames, stage):
    sums = dict.fromkeys(KINDS, 0)
    for frame in frames:
        if not frame["stages"] or stage in frame["stages"]:
            sums[frame["kind"]] += frame["size"] * frame["slots"]
    return sums


def count_moves(plan, program):
    """Collectives and messages of a call, trips included."""
    count = 0
    for action in (each["action"] for each in plan["programs"][program]["instructions"]):
        if action["kind"] in ("call", "loop"):
            count += action.get("trips", 1) * count_moves(plan, action["program"])
        else:
            count += action["kind"] not in COMPUTES
    return count


def check_plan(figures, plan):
    fail("axes", {a["name"]: a["size"] for a in plan["mesh"]["axes"]}, figures["plan"]["mesh"])
    fail("arenas", plan["arenas"], [stage["reserved"] for stage in figures["memory"]])
    for number, stage in enumerate(figures["memory"]):
        fail(f"kinds of stage {number}", bytes_of(plan["frames"], number), stage["kinds"])
        if not sum(stage["most_live"][kind] for kind in ("state", "hyper")) < stage["peak"] <= stage["reserved"]:
            sys.exit(f"FAILED: stage {number}: {stage['peak']} live of {stage['reserved']}")
        if any(stage["most_live"][kind] > stage["kinds"][kind] for kind in KINDS):
            sys.exit(f"FAILED: stage {number}: more live than reserved: {stage}")
    names = [state["name"] for state in plan["states"] if state["role"] == "parameter"]
    fail("parameters", names, [row["name"] for row in figures["parameters"]])
    entry = next(each for each in plan["entries"] if each["name"] == figures["plan"]["entry"])
    fail("flops", entry["model_flops"], figures["plan"]["model_flops"])
    calls = [cell["program"] for cell in entry["table"]] + entry["prologue"] + entry["epilogue"]
    sent = sum(count_moves(plan, program) for program in calls if program >= 0)
    fail("collectives and messages", sent, sum(row["count"] for row in figures["communication"]))


def check_trace(figures, trace, stages, devices):
    """By device and kind of work: the first device of each stage, the mean of all steps."""
    names, seconds = {}, collections.Counter()
    steps = figures["step"]["measured_steps"]
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    for event in events:
        if event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
    for event in events:
        stage, rest = divmod(event["pid"], devices // stages)
        stream = names.get((event["pid"], event["tid"]), "")
        if event["ph"] != "X" or rest or not re.fullmatch(r"[CKXSR](\..*)?", stream):
            continue
        what = event["name"].split(": ", 1)[1].split(" ")[0]
        moves = stream[0] in "XSR"
        seconds[("moves", stage, what) if moves else ("kernel", event["args"]["source"], what)] += event["dur"] / 1e6
    shown = collections.Counter()
    for row in figures["communication"]:
        shown["moves", row["stage"], row["kind"]] += row["measured_seconds"]
    for row in figures["kernels"]:
        shown["kernel", row["source"], row["name"].split(" ")[0]] += row["measured_seconds"]
    for key, value in shown.items():
        if abs(seconds[key] / steps - value) > 1e-8 + 1e-6 * value:
            sys.exit(f"FAILED: {key}: expected {seconds[key] / steps} s, got {value}")
    fail("moves", {k for k in seconds if k[0] == "moves"}, {k for k in shown if k[0] == "moves"})
    dearest = sorted((v for k, v in seconds.items() if k[0] == "kernel"), reverse=True)
    fail("the dearest kernel", dearest[0] / steps, figures["kernels"][0]["measured_seconds"])


def check_run(figures, events):
    rows = [row for row in map(json.loads, events.read_text(encoding="utf-8").splitlines()) if row["event"] == "step"]
    fail("steps", [row["step"] for row in rows], [row["step"] for row in figures["run"]])
    for row, shown in zip(rows, figures["run"]):
        for key in ("loss", "grad_norm", "lr", "seconds", "tps", "sps"):
            if key in row:
                fail(f"{key} of step {row['step']}", float(row[key]), float(shown[key]))


def check_page(page, figures):
    """What a reader sees: rows of tables, and shapes of pictures with their words."""
    rows = [texts for section, texts in page.rows if section == "communication" and texts]
    shown = [[str(r["stage"]), r["kind"] + (" of single numbers" if r["scalar"] else ""), r["axes"], str(r["count"])]
             for r in figures["communication"]]
    fail("the table of communication", shown, [row[:4] for row in rows])
    rows = [texts for section, texts in page.rows if section == "kernels" and texts]
    fail("the table of kernels", [str(r["count"]) for r in figures["kernels"]], [row[3] for row in rows])
    stages = figures["plan"]["stages"]
    fail("pictures of memory", stages, page.figures["memory"])
    fail("pictures of the schedule", 1 + (figures["step"]["measured_steps"] is not None), page.figures["schedule"])
    if page.titles["schedule"] < 2 * stages or not page.titles["layouts"]:
        sys.exit("FAILED: expected shapes with titles in the pictures")


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    page = Page(text)
    figures = json.loads(page.data)
    fail("scripts", 2, page.scripts)
    check_plan(figures, json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
    check_page(page, figures)
    if len(sys.argv) > 3:
        check_run(figures, pathlib.Path(sys.argv[3]))
        check_trace(figures, pathlib.Path(sys.argv[4]), figures["plan"]["stages"], figures["plan"]["devices"])
    seen = [f"{page.figures[section]} {section}" for section in ("schedule", "memory", "layouts")]
    print(f"{', '.join(seen)}; {len(figures['communication'])} ways to communicate, {len(figures['kernels'])} kernels, "
          f"{len(figures['run'] or [])} steps")


main()
