#!/usr/bin/env python3
# ===- real_cudnn.py - Whether cuDNN itself takes our calls -----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs a program that makes calls ready with the cuDNN of this machine, which needs no GPU for that.

    python real_cudnn.py --program RealCudnn --cudnn <folder of libcudnn.so.9> --stub <the toolkit's stub of libcuda> -o out

cuDNN asks a driver, so there is one whose functions do nothing and succeed, made of the names that the toolkit's stub
exports. One function returns an error, as others follow what it would have stored; some store what stands for a kernel.
"""

import argparse
import os
import pathlib
import subprocess
import sys

FAILS = "cuGetExportTable"
STORE = {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction", "cuModuleLoadData", "cuModuleGetFunction"}


def make_driver(stub, folder):
    folder.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["nm", "-D", "--defined-only", stub], capture_output=True, text=True, check=True).stdout
    names = sorted({line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()[-1].startswith("cu")})
    source = folder / "driver.c"
    bodies = (f"int {name}(void **made) {{ *made = place; return 0; }}\n" if name in STORE else
              f"int {name}(void) {{ return {999 if name == FAILS else 0}; }}\n" for name in names)
    source.write_text("static long place[64];\n" + "".join(bodies))
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, "-o", folder / "libcuda.so.1"],
                   check=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for flag in ("--program", "--cudnn", "--stub"):
        p.add_argument(flag, type=pathlib.Path, required=True)
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    p.add_argument("--only", choices=["attentions"], help="all of these, and nothing else")
    a = p.parse_args()
    make_driver(a.stub, a.out)
    command = [a.program, *([a.only] if a.only else [])]
    sys.exit(subprocess.run(command, env={**os.environ, "LD_LIBRARY_PATH": f"{a.out}:{a.cudnn}"}).returncode)


if __name__ == "__main__":
    main()
