# ===- torch_peer.py - Train steps in PyTorch -----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A module that returns its loss, trained eagerly or compiled, and timed."""

import torch

import peer


def set_up(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)


def run_peer(a, module, optimizer, inputs, kind=""):
    loss_of = torch.compile(module) if a.compile else module

    def step(_):
        loss = loss_of(*inputs)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    version = torch.__version__.split("+")[0]
    peer.run_steps(f"PyTorch {version} {'compiled' if a.compile else 'eager'}{kind}", a, step)


def draw_pictures(s):
    return torch.randn(s.batch, 3, s.pixels, s.pixels), torch.randint(0, s.classes, (s.batch,))
