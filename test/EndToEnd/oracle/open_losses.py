# ===- open_losses.py - Loops that only their condition ends --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The losses of loops.py with a `lax.while_loop` that has no bound. No derivative flows
through them; what they compute decides about values and derivatives all the same."""

import jax
import jax.numpy as jnp
from jax import lax

from bounded_losses import WIDTH, layer, layers, mean_of_squares

stop = lax.stop_gradient


def spectral(p, x):
    """Weights over their greatest singular value, which is iterated until it stays."""
    w = stop(p["up"])

    def body(state):
        v, old, _ = state
        u = w @ v
        u = u / jnp.linalg.norm(u)
        v = u @ w
        size = jnp.linalg.norm(v)
        return v / size, size, jnp.abs(size - old)

    start = jnp.ones(w.shape[1]) / jnp.sqrt(w.shape[1]), 0.0, 1.0
    _, size, _ = lax.while_loop(lambda s: s[2] > 1e-12, body, start)
    return mean_of_squares(x + jnp.tanh(x @ (p["up"] / size) + p["bias"]) @ p["down"])


def equilibrium(p, x):
    """A fixed point of a layer, found for the whole batch; one more application has the derivative."""
    q, a = jax.tree.map(stop, p), stop(x)
    apply = lambda q, z, x: jnp.tanh(0.3 * z @ q["up"] + q["bias"]) @ q["down"] * 0.3 + x

    def body(state):
        z, _ = state
        y = apply(q, z, a)
        return y, jnp.max(jnp.abs(y - z))

    z, _ = lax.while_loop(lambda s: s[1] > 1e-12, body, (jnp.zeros_like(a), jnp.inf))
    return mean_of_squares(apply(p, z, x))


def collatz(p, x):
    """Integers, of each sample its own number of steps."""
    n = jnp.argmax(x, axis=1) * 7 + 3

    def body(state):
        n, steps = state
        following = jnp.where(n % 2 == 0, n // 2, 3 * n + 1)
        return jnp.where(n == 1, n, following), steps + (n != 1)

    _, steps = lax.while_loop(lambda s: jnp.any(s[0] != 1), body, (n, jnp.zeros_like(n)))
    return mean_of_squares((x @ p["up"] + p["bias"]) @ p["down"] * jnp.log1p(1.0 * steps)[:, None])


def euclid(p, x):
    """Two carried values change places."""
    a, b = 1071 + jnp.argmax(stop(p["bias"])) * 0, 462
    a, b = lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, jnp.int64(b)))
    return mean_of_squares(layer(p, x) * (a * 0.1 + b))


def no_trip(p, x):
    """No trip: the condition fails before the first one."""
    limit = jnp.sum(jnp.abs(stop(p["up"]))) + 1e3
    y = lax.while_loop(lambda y: jnp.sum(y) > limit, lambda y: y * 0.5, stop(x))
    return mean_of_squares(layer(p, x) * y)


def many(p, x):
    """Hundreds of trips, of weights alone; what the loop counts is read."""
    goal = 1e3 * (1.0 + jnp.mean(jnp.square(stop(p["up"]))))
    size, count = lax.while_loop(lambda s: s[0] < goal, lambda s: (s[0] * 1.02, s[1] + 1), (1.0, 0))
    return mean_of_squares(layer(p, x) * (size / goal)) + 1e-3 * count * jnp.mean(p["bias"])


def layered(p, x):
    """A loop in each of a few layers."""

    def one(y, q):
        s = lax.while_loop(lambda s: jnp.max(jnp.abs(s)) > 0.7, lambda s: s * 0.9, stop(q["bias"]))
        return layer(q, y) * jnp.mean(jnp.exp(s)), None

    y, _ = lax.scan(one, x, p)
    return mean_of_squares(y)


def rows(p, x):
    """Rows are written one after the other, each made of the one before, until one is small."""
    q = jax.tree.map(stop, p)
    kept = jnp.zeros((12, *x.shape)).at[0].set(stop(x))

    def body(state):
        i, kept = state
        y = jnp.tanh(layer(q, kept[i])) * 0.6
        return i + 1, kept.at[i + 1].set(y)

    goes_on = lambda s: (jnp.max(jnp.abs(s[1][s[0]])) > 0.2) & (s[0] + s[1][11, 0, 0] < 10.5)
    i, kept = lax.while_loop(goes_on, body, (0, kept))
    return mean_of_squares(layer(p, kept[i]), layer(p, kept[1] + x)) + 0.01 * i


def drawn(p, x):
    """Draws again until all are small enough; then a second loop reads what the first one left."""

    def body(state):
        key, u = state
        key = jax.random.fold_in(key, 1)
        again = jax.random.uniform(key, u.shape, u.dtype)
        return key, jnp.where(u > 0.5, again, u)

    start = jax.random.key(3), jnp.ones(WIDTH)
    _, u = lax.while_loop(lambda s: jnp.any(s[1] > 0.5), body, start)
    v = lax.while_loop(lambda v: jnp.sum(v) < 10.0, lambda v: v + u, u)
    return mean_of_squares(layer(p, x * v) + u)


# Name -> loss, shapes of its parameters, width of a sample.
CASES = {
    "spectral": (spectral, layers(), WIDTH),
    "equilibrium": (equilibrium, layers(), WIDTH),
    "collatz": (collatz, layers(), WIDTH),
    "euclid": (euclid, layers(), WIDTH),
    "no_trip": (no_trip, layers(), WIDTH),
    "many": (many, layers(), WIDTH),
    "layered_whiles": (layered, layers(3), WIDTH),
    "rows": (rows, layers(), WIDTH),
    "drawn": (drawn, layers(), WIDTH),
}

# Of these the text has the derivative: it tells what `stop_gradient` stops.
DERIVED = ["spectral", "equilibrium", "layered_whiles", "rows", "many", "no_trip"]
