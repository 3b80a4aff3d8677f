#!/usr/bin/env python3
"""Writes a safetensors file of zeros.

usage: write_safetensors.py FILE NAME:DTYPE:DIM,DIM...
"""
import json
import struct
import sys

WIDTHS = {"F64": 8, "F32": 4, "BF16": 2}

header, at = {}, 0
for text in sys.argv[2:]:
    name, dtype, dims = text.split(":")
    shape = [int(dim) for dim in dims.split(",") if dim]
    size = WIDTHS[dtype]
    for dim in shape:
        size *= dim
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
    at += size
head = json.dumps(header).encode()
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<Q", len(head)) + head + bytes(at))
