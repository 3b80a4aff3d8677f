"""Writes a safetensors file with a NaN in every f32 parameter of an imported program.

usage: nan_weights.py PROGRAM.mlir OUT.safetensors
"""
import json
import re
import struct
import sys

header, data = {}, b""
state = re.compile(r'dist\.state @"?([\w.]+)"? : tensor<((?:\d+x)*)f32> \{role = parameter')
for name, shape in state.findall(open(sys.argv[1], encoding="utf-8").read()):
    dims = [int(size) for size in shape.split("x")[:-1]]
    count = 1
    for size in dims:
        count *= size
    begin = len(data)
    data += struct.pack("<f", float("nan")) * count
    header[name] = {"dtype": "F32", "shape": dims, "data_offsets": [begin, len(data)]}
text = json.dumps(header).encode()
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + data)
