# ===- build_copy.py - A private copy of tree and build -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A copy of the tree with its build, in which mutants are made.

The copy compiles each file alone, so that a mutant costs one file and not the
unity batch that has it; building it takes about 11 minutes on two cores, once.
A build knows absolute paths. Where the system allows it (root, or user
namespaces), commands run in a mount namespace in which the copy lies at the
tree's own path, so that a build of mutants is made by copying it.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

LIT = "/usr/lib/llvm-22/bin/lit"
# The copy (and the oracles' environment in it) is bound over the tree.
ENTER = """copy=$1 root=$2; shift 2
if [ -d "$root/.venv" ]; then mkdir -p "$copy/.venv"; mount --bind "$root/.venv" "$copy/.venv"; fi
mount --rbind "$copy" "$root" && cd "$root" && exec "$@" """


def namespace():
    """The command that makes a mount namespace, or None."""
    for command in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        try:
            if subprocess.run(command + ["mount", "--bind", "/tmp", "/tmp"], capture_output=True).returncode == 0:
                return command
        except OSError:
            return None
    return None


def limit_resources():
    """A mutant may ask for any memory or write without an end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True)
    return {n for n in listed.stdout.decode().split("\0") if n and (root / n).is_file()}


def made_in(folder):
    """What the compiler has written: a precompiled header holds what it included, like an object."""
    return [path for kind in ("*.o", "*.pch") for path in folder.rglob(kind)]


class BuildGraph:
    """What build.ninja says: objects, libraries, programs."""

    def __init__(self, build):
        self.objects, self.programs = {}, {}  # source name -> objects; program -> its inputs
        self.libraries = {}  # library -> its objects
        text = (build / "build.ninja").read_text().replace("$\n", "")
        root = re.search(r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", (build / "CMakeCache.txt").read_text()).group(1)
        for m in re.finditer(r"^build ([^:\n]+): (CXX_\w+?)__\S+ ([^\n]*)\n((?:  [^\n]*\n)*)", text, re.M):
            out, rule, inputs = m.group(1).split()[0], m.group(2), m.group(3)
            if rule == "CXX_COMPILER":
                source = inputs.split()[0]
                if source.startswith(root + "/"):
                    self.objects.setdefault(source[len(root) + 1:], []).append(out)
            elif rule == "CXX_STATIC_LIBRARY_LINKER":
                self.libraries[out] = set(re.findall(r"\S+\.o\b", inputs))
            elif rule in ("CXX_EXECUTABLE_LINKER", "CXX_MODULE_LIBRARY_LINKER"):
                self.programs[out] = set(re.findall(r"\S+\.[oa]\b", inputs + m.group(4)))

    def dependents(self, objects):
        """Programs that link any of these objects."""
        parts = set(objects) | {lib for lib, has in self.libraries.items() if has & set(objects)}
        return {p for p, has in self.programs.items() if has & parts}


class BuildCopy:
    def __init__(self, root, folder, jobs):
        self.root, self.folder, self.jobs = root, folder, jobs
        self.namespace = namespace()
        self.build = folder / "build/dev"
        self.process = None

    # --- Making and bringing up to date ----------------------------------------

    def synchronize(self):
        """The tree's files as they are now, keeping times; what went is removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = tracked(self.root)
        for name in names:
            source, copy = self.root / name, self.folder / name
            if copy.exists() and copy.read_bytes() == source.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            existed = copy.exists()
            shutil.copy2(source, copy)
            if existed:
                os.utime(copy)
        for path in self.folder.rglob("*"):
            name = str(path.relative_to(self.folder))
            if path.is_file() and not name.startswith(("build/", ".venv/")) and name not in names:
                path.unlink()
        if not (self.build / "build.ninja").exists():
            if not self.namespace and (self.root / ".venv").exists():
                (self.folder / ".venv").symlink_to(self.root / ".venv")
            self.run(["cmake", "--preset", "dev", "-DCMAKE_UNITY_BUILD=OFF"], 600)
        self.load_graph()

    def load_graph(self):
        self.graph = BuildGraph(self.build)

    # --- Commands ---------------------------------------------------------------

    def run(self, command, limit, environment=None):
        """(exit status or "timeout", output) of a command in the copy."""
        if self.namespace:
            command = self.namespace + ["bash", "-c", ENTER, "_", str(self.folder), str(self.root)] + command
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", start_new_session=True, preexec_fn=limit_resources,
                                   env=dict(os.environ, **(environment or {})))
        self.process = process
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return "timeout", output
        finally:
            self.stop()

    def stop(self):
        """Ends what the command left running, or the command."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError):
            pass

    def ninja(self, targets, jobs=None):
        status, output = self.run(["ninja", "-C", "build/dev", "-j", str(jobs or self.jobs), *targets], 3600)
        return status == 0, output

    # --- Tests ------------------------------------------------------------------

    def run_unit(self, program, limit):
        """None, or the name of the first test that fails."""
        status, output = self.run([f"build/dev/{program}", "--gtest_fail_fast", "--gtest_brief=1"], limit)
        if status == 0:
            return None
        name = pathlib.Path(program).name
        failed = re.search(r"\[  FAILED  \] ([\w./]+)", output)
        if status == "timeout":
            return f"{name} (no end in {limit:.0f} s)"
        return f"{name} {failed.group(1)}" if failed else f"{name} (exit status {status})"

    def run_lit(self, tests, limit, jobs=None, stop=True, cache=True):
        """{test: (code, seconds)} of lit tests, named from the test folder; without `cache` each compiles its kernels."""
        results = self.build / "mutation-results.json"
        results.unlink(missing_ok=True)
        command = [LIT, "-q", "--timeout", str(int(limit)), "-j", str(jobs or self.jobs), "--output", "build/dev/" + results.name]
        if stop:
            command.append("--max-failures=1")
        self.run(command + ["build/dev/test/" + t for t in tests], limit * (len(tests) + 1),
                 {} if cache else {"LLMC_KERNEL_CACHE": ""})
        if not results.exists():
            raise RuntimeError("lit wrote no results: " + " ".join(tests))
        found = json.loads(results.read_text())["tests"]
        return {t["name"].split(" :: ", 1)[1]: (t["code"], t.get("elapsed", 0)) for t in found}

    def lit_tests(self):
        """All tests of the suite that look at behaviour: test/Layering reads sources."""
        status, output = self.run([LIT, "--show-tests", "build/dev/test"], 120)
        names = re.findall(r"^  llmc :: (\S+)", output, re.M)
        return [n for n in names if not n.startswith("Layering/")]

    def unit_tests(self):
        return sorted(p for p in self.graph.programs if p.startswith("test/Unit/tests/") and p.endswith("Test"))

    # --- One mutant ---------------------------------------------------------------

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def restore(self, name, pristine, since):
        """The file as the tree has it, and the objects that were compiled of it, so
        that only links are repeated: ninja makes again what is not there."""
        shutil.copy2(self.root / name, self.folder / name)
        if name.endswith(".mlir"):
            os.utime(self.folder / name)  # a generated header is made of it
            return
        changed = self.changed_objects(pristine, since)
        for each in changed:
            at = (self.build / each).stat()
            shutil.copy(pristine / each, self.build / each)
            os.utime(self.build / each, ns=(at.st_mtime_ns, at.st_mtime_ns))  # no newer than ninja's record of it
        for library, has in self.graph.libraries.items():
            if has & set(changed):
                (self.build / library).unlink(missing_ok=True)
        for program, has in self.graph.programs.items():
            if has & set(changed):
                (self.build / program).unlink(missing_ok=True)

    def changed_objects(self, pristine, since):
        """Objects and precompiled headers made after `since` that are not as they were."""
        changed = []
        for path in made_in(pristine):
            name = str(path.relative_to(pristine))
            mine = self.build / name
            if mine.exists() and mine.stat().st_mtime >= since and mine.read_bytes() != path.read_bytes():
                changed.append(name)
        return changed

    def save_objects(self, pristine):
        for path in made_in(self.build):
            copy = pristine / path.relative_to(self.build)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)

