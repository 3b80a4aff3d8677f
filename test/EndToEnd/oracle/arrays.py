# ===- arrays.py - Named arrays in files ---------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Reads and writes named arrays: a folder of `<name>.npy`, or safetensors.

A safetensors file is: 8 bytes little-endian length n, n bytes of JSON
{name: {"dtype", "shape", "data_offsets": [begin, end]}}, then the data.
"""

import json
import pathlib
import struct

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "|u1", "BOOL": "|b1", "C64": "<c8"}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (n,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + n])
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = data[8 + n + begin : 8 + n + end]
        result[name] = np.frombuffer(raw, DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return result


def write_safetensors(path, arrays):
    names = {np.dtype(code): name for name, code in DTYPES.items()}
    header, chunks, offset = {}, [], 0
    for name in sorted(arrays):
        a = np.asarray(arrays[name], order="C")
        span = [offset, offset + a.nbytes]
        header[name] = {"dtype": names[a.dtype], "shape": list(a.shape), "data_offsets": span}
        chunks.append(a.tobytes())
        offset = span[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def read_arrays(path):
    """Name -> array, from a safetensors file or every .npy of a folder."""
    path = pathlib.Path(path)
    if path.is_dir():
        return {f.name[: -len(".npy")]: np.load(f) for f in sorted(path.glob("*.npy"))}
    return read_safetensors(path)


def write_arrays(folder, arrays):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, a in arrays.items():
        np.save(folder / f"{name}.npy", np.asarray(a))
