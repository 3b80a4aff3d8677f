"""Prints name and layout of each state and input that is split, from IR on stdin."""

import re
import sys

text = sys.stdin.read()
layouts = dict(re.findall(r"^(#layout\d*) = #dist\.layout<@mesh, (.*)>$", text, re.M))
for name, alias in re.findall(r"dist\.state @(\S+) .*rest = (#layout\d*)", text):
    if '"' in layouts[alias]:
        print(name, layouts[alias])
step = re.search(r"func\.func private @train\.microbatch\(.*", text).group()
for name, layout in re.findall(r'#dist\.port<input "(\w+)"(?:, data = <[^>]*>)?, layout = <@mesh, ([^>]*)>', step):
    print(name, layout)
