#!/usr/bin/env python3
# ===- peers.py - A GPT-2 step in PyTorch and JAX on one GPU ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the step that run.sh trains: bf16 products, f32 weights and AdamW, causal attention, tied embedding.

    peers.py torch-eager|torch-compile|jax [--layers 12 --d 768 --heads 12 --seq 1024 --batch 16 --vocab 50304]

Prints the median step and tokens a second of the timed steps, and the peak of memory.
"""

import argparse
import statistics
import time


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("peer", choices=["torch-eager", "torch-compile", "jax"])
    sizes = dict(layers=12, d=768, heads=12, seq=1024, batch=16, vocab=50304, steps=20, warmup=5)
    for flag, value in sizes.items():
        p.add_argument(f"--{flag}", type=int, default=value)
    p.add_argument("--device", default="cuda")
    return p.parse_args()


def report(a, name, seconds, loss, peak):
    middle = statistics.median(seconds)
    print(f"{name}: {1e3 * middle:.2f} ms a step, {a.batch * a.seq / middle:,.0f} tokens a second, "
          f"least {1e3 * min(seconds):.2f} ms, loss {loss:.3f}, peak {peak / 2**30:.2f} GiB")


def timed(a, step, wait):
    seconds = []
    for number in range(a.warmup + a.steps):
        begin = time.perf_counter()
        loss = step()
        wait(loss)
        if number >= a.warmup:
            seconds.append(time.perf_counter() - begin)
    return seconds, float(loss)


def torch_peer(a):
    import torch
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(a.d), nn.LayerNorm(a.d)
            self.qkv, self.proj = nn.Linear(a.d, 3 * a.d), nn.Linear(a.d, a.d)
            self.up, self.down = nn.Linear(a.d, 4 * a.d), nn.Linear(4 * a.d, a.d)

        def forward(self, x):
            q, k, v = (y.unflatten(-1, (a.heads, -1)).transpose(1, 2) for y in self.qkv(self.ln1(x)).chunk(3, -1))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(y.transpose(1, 2).flatten(2))
            return x + self.down(functional.gelu(self.up(self.ln2(x)), approximate="tanh"))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(a.vocab, a.d), nn.Embedding(a.seq, a.d)
            self.blocks, self.ln = nn.ModuleList(Block() for _ in range(a.layers)), nn.LayerNorm(a.d)
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=0.02)

        def forward(self, tokens, targets):
            x = self.wte(tokens) + self.wpe.weight
            for block in self.blocks:
                x = block(x)
            logits = self.ln(x) @ self.wte.weight.T
            return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    isGpu = a.device == "cuda"
    model = Model().to(a.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=isGpu)
    forward = torch.compile(model) if a.peer == "torch-compile" else model
    tokens, targets = (torch.randint(0, a.vocab, (a.batch, a.seq), device=a.device) for _ in range(2))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(a.device, torch.bfloat16):
            loss = forward(tokens, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    seconds, loss = timed(a, step, lambda _: torch.cuda.synchronize() if isGpu else None)
    report(a, f"{a.peer} {torch.__version__}", seconds, loss, torch.cuda.max_memory_allocated() if isGpu else 0)


def jax_peer(a):
    import jax
    import jax.numpy as jnp

    def normal(key, *shape):
        return 0.02 * jax.random.normal(jax.random.key(key), shape)

    def block(i):
        norm = lambda: {"s": jnp.ones(a.d), "b": jnp.zeros(a.d)}
        dense = lambda k, n, m: {"w": normal(4 * i + k, n, m), "b": jnp.zeros(m)}
        return {"ln1": norm(), "ln2": norm(), "qkv": dense(0, a.d, 3 * a.d), "proj": dense(1, a.d, a.d),
                "up": dense(2, a.d, 4 * a.d), "down": dense(3, 4 * a.d, a.d)}

    params = {"wte": normal(1000, a.vocab, a.d), "wpe": normal(1001, a.seq, a.d), "blocks": [block(i) for i in range(a.layers)],
              "ln": {"s": jnp.ones(a.d), "b": jnp.zeros(a.d)}}
    half = lambda x: x.astype(jnp.bfloat16)
    linear = lambda p, x: half(x) @ half(p["w"]) + half(p["b"])

    def norm(p, x):
        x = x.astype(jnp.float32)
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * p["s"] + p["b"]

    def loss_of(params, tokens, targets):
        x = half(params["wte"][tokens] + params["wpe"])
        for p in params["blocks"]:
            q, k, v = (y.reshape(a.batch, a.seq, a.heads, -1) for y in jnp.split(linear(p["qkv"], norm(p["ln1"], x)), 3, -1))
            y = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn" if a.device == "cuda" else None)
            x = x + linear(p["proj"], y.reshape(a.batch, a.seq, a.d))
            x = x + linear(p["down"], jax.nn.gelu(linear(p["up"], norm(p["ln2"], x)), approximate=True))
        logits = (half(norm(params["ln"], x)) @ half(params["wte"]).T).astype(jnp.float32)
        picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - picked).mean()

    def adamw(p, g, m, v, t, scale):
        g = g * scale
        m, v = 0.9 * m + 0.1 * g, 0.95 * v + 0.05 * g * g
        step = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8) + 0.1 * p
        return p - 3e-4 * step, m, v

    def train(state, tokens, targets):
        params, m, v, t = state
        loss, grads = jax.value_and_grad(loss_of)(params, tokens, targets)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        update = lambda p, g, m, v: adamw(p, g, m, v, t + 1.0, jnp.minimum(1.0, 1.0 / size))
        all_of = jax.tree.map(update, params, grads, m, v)
        part = lambda i: jax.tree.map(lambda _, row: row[i], params, all_of)
        return (part(0), part(1), part(2), t + 1.0), loss

    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, jax.tree.map(jnp.zeros_like, params), jnp.float32(0))
    tokens, targets = (jax.random.randint(jax.random.key(k), (a.batch, a.seq), 0, a.vocab) for k in (7, 8))
    jitted = jax.jit(train, donate_argnums=0)

    def step():
        nonlocal state
        state, loss = jitted(state, tokens, targets)
        return loss

    seconds, loss = timed(a, step, lambda loss: loss.block_until_ready())
    peak = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)
    report(a, f"jax {jax.__version__}", seconds, loss, peak)


if __name__ == "__main__":
    settings = arguments()
    (jax_peer if settings.peer == "jax" else torch_peer)(settings)
