# ===- numbered_programs.py - Faults of texts, configurations and output ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Faults 12 to 16, 18, 20, 22 and 23 of docs/refusals.md, by the command line.

    python numbered_programs.py BIN FOLDER [NUMBER ...]
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np

from numbered import fault, run_all

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TINY, MLP = HERE / "Inputs" / "gpt-tiny.mlir", HERE / "Inputs" / "mlp.mlir"
GPT, MLP_TOML = ROOT / "examples/gpt/gpt.toml", HERE.parent / "Tools/llmc/Inputs/mlp.toml"
IMPORT = ["--set", "data.inputs.x=0", "--compile-to=import", "-o", "-"]


def main_text(body, arguments='%x: tensor<4xf32> loc("x")', result="tensor<4xf32>"):
    return f"func.func public @main({arguments}) -> {result} {{\n{body}\n}}\n"


@fault(12)
def impossible_types(runs):
    """Sizes of tensors that overflow, NUL bytes and bytes that are no UTF-8."""
    huge = f"tensor<{2**63 - 1}x{2**63 - 1}xf32>"
    wide = f"tensor<{2**62}x4xf32>"
    for name, text, codes in (
        ("an argument", main_text("  return %x : T", '%x: T loc("x")', "T"), (1, 3, 5)),
        ("a result", main_text('  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> T\n  return %x : tensor<4xf32>'), (1, 3, 5)),
    ):
        for shape in (huge, wide):
            (runs.out / "m.mlir").write_text(re.sub(r"\bT\b", shape, text), encoding="utf-8")
            runs.ends(f"{name} of {shape}", ["llmc", "compile", "m.mlir", *IMPORT], codes, r"2\^63|m\.mlir")
    text = TINY.read_bytes()
    at = text.index(b"stablehlo")
    for name, bad in (("NUL", b"\0"), ("no UTF-8", b"\xff")):
        (runs.out / "m.mlir").write_bytes(text[:at] + bad + text[at:])
        runs.ends(name, ["llmc", "compile", "m.mlir", "--config", GPT, *IMPORT[2:]], 3, "expected (UTF-8 )?text")


def config_case(runs, text, flags=(), base=MLP_TOML):
    (runs.out / "c.toml").write_text(base.read_text(encoding="utf-8") + text, encoding="utf-8")
    return ["llmc", "compile", MLP, "--config", "c.toml", *flags, "-o", "plan"]


@fault(13)
def wrong_meshes(runs):
    """Axes of no size, twice or unknown, and layouts that use them twice or beyond the rank."""
    row = '[[layout]]\nmatch = "layers.*.w"\n'
    for name, text, flags, says in (
        ("size 0", "", ["--mesh", "data=0"], "a size of at least 1, got 'data=0'"),
        ("size -1", "", ["--mesh", "data=-1"], "a size of at least 1, got 'data=-1'"),
        ("an axis twice", "", ["--mesh", "data=2,data=2"], "each axis once, got 'data' again"),
        ("an axis twice in the file", '[mesh]\naxes = ["a", "a"]\n', [], 'distinct axes, got "a" twice'),
        ("an unknown axis", "", ["--mesh", "dta=2"], "got 'dta', did you mean 'data'"),
        ("used twice", row + 'rest = [["data"], ["data"]]\n', ["--mesh", "data=2"], 'each axis once, got "data" twice'),
        ("unknown in a layout", row + 'rest = [["dta"]]\n', ["--mesh", "data=2"], "dta"),
        ("beyond the rank", '[[layout]]\nmatch = "layers.0.w"\nrest = [[], [], ["data"]]\n', ["--mesh", "data=2"], "at most 2 lists"),
    ):
        runs.ends(name, config_case(runs, text, flags), (1, 2), says)
    runs.good(*config_case(runs, "", ["--mesh", "data=2"])[:-1], "two")
    for size in (3, 4):
        runs.count += 1
        done = runs.finish("llmc-launch", "-n", size, "--", runs.bin / "llmc-run", "two")
        if done.returncode != 15 or f"multiple of {size} devices".encode() not in done.stderr:
            runs.fail(f"{size} processes for two devices", done.stderr)


@fault(14)
def uneven_sizes(runs):
    """Sizes that no axis divides: padded, equal to one device, an error with --strict=pad."""
    for name, size in (("x", 6), ("y", 3)):
        np.save(runs.out / f"{name}.npy", np.random.default_rng(size).standard_normal((24, size)).astype(np.float32))
    (runs.out / "c.toml").write_text('[mesh]\naxes = ["data", "tensor"]\n[data.x]\nkind = "array"\nfile = "x.npy"\n[data.y]\nkind = "array"\nfile = "y.npy"\n'
                                     '[[init]]\nmatch = "*"\ndraw = "normal"\n[[layout]]\ninput = "*"\ndims = [["data"]]\n'
                                     '[[layout]]\nmatch = "layers.*.w"\nrest = [[], ["tensor"]]\n', encoding="utf-8")
    train = ["llmc", "train", MLP, "--config", "c.toml", "--steps", "4"]
    losses = lambda text: [float(x) for x in re.findall(r"(?m)^step: \d+  loss: (\S+)", text)]
    one = losses(runs.good(*train))
    for mesh in ("data=3", "tensor=5", "data=3,tensor=2"):
        got = losses(runs.good(*train, "--mesh", mesh))
        if len(got) != 4 or not np.allclose(one, got, rtol=1e-4):
            runs.fail(mesh, f"{one} and {got}")
    runs.good("llmc", "compile", MLP, "--config", "c.toml", "--mesh", "data=3", "--remarks=remarks", "-o", "padded")
    if "padding" not in (runs.out / "remarks").read_text(encoding="utf-8"):
        runs.fail("a remark", "no padding in it")
    runs.ends("strict", [*train, "--mesh", "data=3", "--strict=pad"], 1, "expected no pad")


@fault(15)
def partial_values(runs):
    """A value that is still a sum where its op needs it added up."""
    runs.good("llmc", "compile", TINY, "--config", GPT, "--mesh", "data=2,tensor=2", "--compile-to=materialized", "-o", "m.mlir")
    text = (runs.out / "m.mlir").read_text(encoding="utf-8")
    sums = re.findall(r"(?m)^ *(%\S+) = dist\.all_reduce (%\S+) .*$", text)
    for name, term in sums[:6]:
        line = next(each for each in text.splitlines() if each.strip().startswith(f"{name} = dist.all_reduce {term} "))
        before, after = text.split(line + "\n", 1)
        # Within its function the sum's uses read the term.
        body, end = after.split("\n  }", 1)
        used = re.sub(rf"(?<![\w#]){re.escape(name)}(?![\w#:])", term, body)
        (runs.out / "bad.mlir").write_text(before + used + "\n  }" + end, encoding="utf-8")
        runs.ends(f"without {line.strip()[:40]}", ["llmc", "compile", "bad.mlir", "--compile-from=materialized", "-o", "plan"], (1, 3), "partial")
    if len(sums) < 2:
        runs.fail("sums", "expected some to take away")


@fault(16)
def conflicts(runs):
    """Annotations that contradict each other, and gathers: remarks with bytes, errors with --strict."""
    rows = ('[mesh]\naxes = ["data", "tensor"]\n[[layout]]\ninput = "*"\ndims = [["data"]]\n[[layout]]\nmatch = "layers.*.w"\n'
            'rest = [["data"], ["tensor"]]\nuse = [["tensor"], ["data"]]\n')
    mesh = ["--mesh", "data=2,tensor=2"]
    runs.good(*config_case(runs, rows, [*mesh, "--remarks=remarks"]))
    said = (runs.out / "remarks").read_text(encoding="utf-8")
    for word in ("conflict", "gather"):
        if not re.search(rf"{word}.*\d+ B", said):
            runs.fail(f"a remark of a {word}", said[:600])
    for word in ("conflict", "gather"):
        command = [*config_case(runs, rows, [*mesh, f"--strict={word}"])[:-1], f"none-{word}"]
        runs.ends(f"strict {word}", command, 1, f"--strict: expected no {word}")


@fault(18)
def too_little_memory(runs):
    """A limit of memory below what any plan needs: the least, and what lives at the peak."""
    command = ["llmc", "compile", TINY, "--config", GPT, "-o", "plan", "--set", "machine.memory=1000"]
    line = runs.ends("1000 B", command, 4, r"expected a plan within 'machine.memory', 1,000 B on each device, got [\d,]+")
    said = runs.finish(*command).stderr.decode()
    lives = re.findall(r"(?m)^.* B, (?:state|step|act|tmp|scratch|input|grad).*$", said)
    if not line or len(lives) < 8 or not re.search("recompute|axis|tensor|zero|split|least", said, re.I):
        runs.fail("what lives, and what would need less", said)
    needed = int(re.search(r"got ([\d,]+)", line)[1].replace(",", ""))
    for memory, code in ((needed - 1, 4), (needed, 0)):
        words = [*command[:-1], f"machine.memory={memory}"]
        runs.ends(f"{memory} B", words, code) if code else runs.good(*words)


@fault(20)
def wrong_keys(runs):
    """Unknown keys at any depth, wrong types, keys twice, numbers that are none: with place and nearest key."""
    for name, text, says in (
        ("at depth 1", "[trainin]\nsteps = 1\n", r"c\.toml:8:\d+: unknown key 'trainin', did you mean 'training'"),
        ("at depth 2", "[training]\nmax_nrm = 1\n", r"c\.toml:9:\d+: unknown key 'training.max_nrm', did you mean 'training.max_norm'"),
        ("at depth 3", '[data.z]\nkind = "array"\nfil = "z"\n', r"c\.toml:10:\d+: unknown key 'data\.z\.fil', did you mean 'data\.z\.file'"),
        ("in a list of tables", "[[machine.link]]\nbandwith = 1\n", r"c\.toml:9:\d+: unknown key .*bandwith.*did you mean .*bandwidth"),
        ("a wrong type", '[training]\nsteps = "x"\n', r"c\.toml:9:\d+: .*to be integer, got string"),
        ("twice", "[training]\nseed = 1\nseed = 2\n", r"c\.toml:10:\d+: .*'seed'"),
        ("NaN", "[optimizer]\nlr = nan\n", r"c\.toml:9:\d+: .*finite, got nan"),
        ("negative", "[training]\nmicrobatches = -1\n", r"c\.toml:9:\d+: .*at least 1, got -1"),
        ("no choice of it", '[optimizer]\nname = "adamx"\n', r'got "adamx", did you mean "adamw"'),
        ("not TOML", "[training\n", r"c\.toml:8:\d+: "),
        ("contradictions", '[data]\nkind = "text"\ndtype = "u8"\nfile = "c.toml"\n', "'data.dtype' with kind = .tokens. alone"),
    ):
        runs.ends(name, config_case(runs, text), (1, 2), says)


@fault(22)
def hostile_names(runs):
    """Tags, escapes, line ends and a megabyte in names: in errors, lists, logs and reports."""
    evil = r"</script><img src=x>\1B[31m\0A\22; rm -rf"
    long = "n" * 2**20
    text = MLP.read_text(encoding="utf-8").replace("params['layers'][0]['w']", f"params['{evil}']").replace(
        "params['layers'][1]['w']", f"params['{long}']")
    (runs.out / "m.mlir").write_text(text, encoding="utf-8")
    for name, size in (("x", 6), ("y", 3)):
        np.save(runs.out / f"{name}.npy", np.ones((8, size), np.float32))
    train = ["--data", "x=x.npy", "--data", "y=y.npy"]
    (runs.out / "c.toml").write_text('[data.x]\nkind = "array"\nfile = "x.npy"\n[data.y]\nkind = "array"\nfile = "y.npy"\n'
                                     '[[init]]\nmatch = "*"\ndraw = "normal"\n', encoding="utf-8")
    with open(runs.out / "c.toml", encoding="utf-8") as file:
        rows = '[[layout]]\ninput = "*"\ndims = [["data"]]\n[[layout]]\nmatch = "*"\nrest = [["data"]]\nuse = []\n'
        (runs.out / "rows.toml").write_text(file.read() + rows, encoding="utf-8")
    config, mesh = ["m.mlir", "--config", "c.toml"], ["m.mlir", "--config", "rows.toml", "--mesh", "data=2"]
    for words in (["train", *config, *train, "--steps", "2", "--log", "log", "--events", "events", "--fetch", "*src=x*"],
                  ["explain", *config], ["explain", *config, "--value", "*src=x*"], ["explain", *mesh], ["ops", "m.mlir"],
                  ["compile", *config, "-o", "plan"], ["diff", *mesh, *train], ["init", "m.mlir", "-o", "init.toml"],
                  ["interpret", *config, *train, "--steps", "1", "--fetch", "*src=x*"]):
        said = runs.good("llmc", *words)
        if "\x1b" in said or max(map(len, said.splitlines()), default=0) > 2000:
            runs.fail(words[:4], "an escape, or a line of more than 2,000 characters")
    runs.good("llmc", "inspect", "plan")
    runs.good("llmc", "compile", "m.mlir", "--config", "init.toml", "--compile-to=import", "-o", "again.mlir")
    for file in ("log", "events"):
        for line in (runs.out / file).read_text(encoding="utf-8").splitlines():
            json.loads(line)
    runs.good("llmc", "report", "plan", "-o", "page.html")
    page = (runs.out / "page.html").read_text(encoding="utf-8")
    if "<img src=x>" in page or "\x1b" in page:
        runs.fail("the report", "a name's tag or escape in it")
    runs.ends("in an error", ["llmc", "train", *config, "--steps", "1", "--data", "x=\x1b[31m</script>\n"], 3, r"\\x1b\[31m</script>\\(n|x0a)")
    runs.ends("a long name", ["llmc", "train", *config, "--steps", "1", "--data", "x=" + "n" * 100_000], (2, 3), r"^.{1,1500}$")


@fault(23)
def no_place_for_output(runs):
    """Files of output that cannot be written, or whose writing is killed: the old one stays."""
    compiled = ["llmc", "compile", TINY, "--config", GPT, "--threads", "1"]
    runs.good(*compiled, "-o", "plan")
    old = (runs.out / "plan/plan.llmc").read_bytes()
    runs.ends("a full disk", [*compiled, "--compile-to=local", "-o", "/dev/full"], (1, 2, 3, 14), "No space left|full")
    runs.ends("a file above", [*compiled, "-o", "plan/plan.llmc/x"], (2, 3), "plan.llmc")
    limited = ["bash", "-c", 'ulimit -f 16; exec "$@"', "-"]
    done = subprocess.run([*limited, *runs.command(compiled), "-o", "plan", "--set", "training.microbatches=2"], cwd=runs.out,
                          capture_output=True, check=False, timeout=120)
    runs.count += 1
    if done.returncode <= 0 or (runs.out / "plan/plan.llmc").read_bytes() != old:
        runs.fail("a limit of file sizes", (done.returncode, done.stderr[-300:]))
    for moment in range(8):
        process = subprocess.Popen(runs.command([*compiled, "-o", "plan", "--set", f"training.seed={moment}"]), cwd=runs.out,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.1 + 0.15 * moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        runs.good("llmc", "inspect", "plan")
    runs.good(*compiled, "-o", "plan")
    left = sorted(path.name for path in (runs.out / "plan").iterdir())
    if left != ["kernels.so", "plan.llmc"]:
        runs.fail("what is left", left)


if __name__ == "__main__":
    run_all(sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]] or None)
