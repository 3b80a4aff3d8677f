# ===- training.py - The training rule, written in plain jax.numpy -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""One training run in plain jax.numpy: what `llmc train` must reproduce.

For step t = 1, 2, … with m microbatches of equal shape:
    S, G  = sum over microbatches of (loss sum, gradient of the loss sum)
    loss  = S / N,  g = G / N            N = total count of the step
    norm  = sqrt(sum over all parameters of sum g²)
    g     = g * min(1, max_norm / norm)  if max_norm > 0
    m     = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g²
    p     = p - lr(t) (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + wd p)
with the learning rate, for s = t - 1 and schedule "cosine",
    lr(t) = lr (s + 1) / warmup                          s < warmup
    lr(t) = min_lr + (lr - min_lr) (1 + cos(pi u)) / 2   otherwise,
    u     = min(1, (s - warmup) / (decay - warmup))
evaluated on the host in double; "linear" has 1 - u in place of the cosine's
share, "constant" has lr after the warm-up. decay = 0 means training.steps.
SGD: p = p - lr (g + wd p). Momentum: u = mu u + g, p = p - lr (u + wd p).
"""

import dataclasses
import math
import tomllib

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Settings:
    optimizer: str = "adamw"
    lr: float = 3e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.9
    schedule: str = "constant"
    warmup_steps: int = 0
    decay_steps: int = 0
    min_lr: float = 0.0
    steps: int = 100
    microbatches: int = 1
    max_norm: float = 0.0

    @staticmethod
    def from_toml(path):
        """The keys of [optimizer], [schedule] and [training] that matter here."""
        with open(path, "rb") as f:
            toml = tomllib.load(f)
        s = Settings()
        optimizer, schedule = dict(toml.get("optimizer", {})), dict(toml.get("schedule", {}))
        s.optimizer = optimizer.pop("name", s.optimizer)
        s.schedule = schedule.pop("name", s.schedule)
        for section in (optimizer, schedule, toml.get("training", {})):
            for key, value in section.items():
                if hasattr(s, key):
                    setattr(s, key, value)
        return s


def learning_rate(s, t):
    step = t - 1
    if step < s.warmup_steps:
        return s.lr * (step + 1) / s.warmup_steps
    if s.schedule == "constant":
        return s.lr
    u, decay = 1.0, s.decay_steps or s.steps
    if step < decay and decay > s.warmup_steps:
        u = (step - s.warmup_steps) / (decay - s.warmup_steps)
    share = 1.0 - u if s.schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * u))
    return s.min_lr + (s.lr - s.min_lr) * share


def initial_state(s, params):
    zeros = lambda: jax.tree.map(jnp.zeros_like, params)
    return {"adamw": lambda: (zeros(), zeros()), "sgd": tuple, "momentum": lambda: (zeros(),)}[
        s.optimizer
    ]()


def apply_optimizer(s, params, state, g, lr, t):
    if s.optimizer == "sgd":
        return jax.tree.map(lambda p, g: p - lr * (g + s.weight_decay * p), params, g), state
    if s.optimizer == "momentum":
        u = jax.tree.map(lambda u, g: s.momentum * u + g, state[0], g)
        return jax.tree.map(lambda p, u: p - lr * (u + s.weight_decay * p), params, u), (u,)
    m = jax.tree.map(lambda m, g: s.beta1 * m + (1 - s.beta1) * g, state[0], g)
    v = jax.tree.map(lambda v, g: s.beta2 * v + (1 - s.beta2) * g * g, state[1], g)

    def update(p, m, v):
        m_hat, v_hat = m / (1 - s.beta1**t), v / (1 - s.beta2**t)
        return p - lr * (m_hat / (jnp.sqrt(v_hat) + s.eps) + s.weight_decay * p)

    return jax.tree.map(update, params, m, v), (m, v)


def make_step(loss, count, s):
    """step(params, state, microbatches, lr, t) -> params, state, loss, norm, g.

    `loss` is the mean over `count` elements of one microbatch; `microbatches`
    is a tuple of arguments for each microbatch.
    """

    def loss_sum(params, batch):
        return loss(params, *batch) * count

    def step(params, state, microbatches, lr, t):
        total, g = 0.0, jax.tree.map(jnp.zeros_like, params)
        for batch in microbatches:
            value, gradient = jax.value_and_grad(loss_sum)(params, batch)
            total, g = total + value, jax.tree.map(jnp.add, g, gradient)
        n = count * len(microbatches)
        g = jax.tree.map(lambda x: x / n, g)
        norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        clipped = g
        if s.max_norm > 0:
            factor = jnp.minimum(1.0, s.max_norm / norm)
            clipped = jax.tree.map(lambda x: x * factor, g)
        params, state = apply_optimizer(s, params, state, clipped, lr, t)
        return params, state, total / n, norm, g

    return jax.jit(step)


def train(loss, count, params, batches, s):
    """Yields (t - 1, loss, gradient norm, lr, gradients) for each batch: steps as logged."""
    step, state = make_step(loss, count, s), initial_state(s, params)
    dtype = jax.tree.leaves(params)[0].dtype
    for t, microbatches in enumerate(batches, start=1):
        lr = learning_rate(s, t)
        params, state, value, norm, g = step(
            params, state, microbatches, jnp.asarray(lr, dtype), jnp.asarray(t, dtype)
        )
        yield t - 1, float(value), float(norm), lr, g


def train_unfused(loss, count, params, carried, batches, s):
    """As `train`, in one program for each microbatch and one for the update.

    The count of a microbatch may depend on its data: count(*batch), or None for 1.
    With carried states, which each microbatch replaces, loss(params, carried,
    *batch) gives (loss, carried). Returns rows of (loss, norm), the parameters,
    the optimizer's state and the carried states.
    """

    def loss_sum(params, carried, batch):
        value, new = loss(params, carried, *batch) if carried else (loss(params, *batch), carried)
        n = count(*batch).astype(value.dtype) if count else jnp.ones((), value.dtype)
        return value * n, (n, new)

    def update(params, state, g, n, lr, t):
        g = jax.tree.map(lambda x: x / n, g)
        norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        if s.max_norm > 0:
            factor = jnp.minimum(1.0, s.max_norm / norm)
            g = jax.tree.map(lambda x: x * factor, g)
        return *apply_optimizer(s, params, state, g, lr, t), norm

    gradient = jax.jit(jax.value_and_grad(loss_sum, has_aux=True))
    update, rows, state = jax.jit(update), [], initial_state(s, params)
    for t, microbatches in enumerate(batches, start=1):
        total, n, g = 0.0, 0.0, None
        for batch in microbatches:
            (value, (part, carried)), new = gradient(params, carried, batch)
            total, n = total + value, n + part
            g = jax.tree.map(jnp.add, g, new) if g else new
        lr = jnp.asarray(learning_rate(s, t), jnp.float32)
        params, state, norm = update(params, state, g, n, lr, jnp.asarray(t, jnp.float32))
        rows.append((float(total / n), float(norm)))
    return rows, params, state, carried
