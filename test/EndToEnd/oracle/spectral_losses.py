# ===- spectral_losses.py - Losses with complex numbers against jax.grad -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of models with Fourier transforms and complex arithmetic: one step of plain descent in f64 against jax.grad,
of the text of the loss and (`NAME.derived`) of jax.value_and_grad.

    python spectral_losses.py --llmc llmc -o out [--only fourier_operator,'*.derived']
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

B, S, W = 4, 12, 8  # samples, times, width
RUNS = [("train", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("interpret", "data=2")]
LENGTHS = [1, 2, 7, 12, 30, 64, 97]
CASES = {}


def case(shapes, samples=(B, S, W)):
    def add(f):
        CASES[f.__name__] = (f, shapes, samples)
        return f
    return add


def size(z):
    return jnp.mean(jnp.real(z) ** 2 + jnp.imag(z) ** 2)


@case({"real": (4, W, W), "imag": (4, W, W), "skip": (W, W)})
def fourier_operator(p, x):
    """A layer of a Fourier neural operator: few modes mixed, all others dropped."""
    modes = jnp.fft.rfft(x, axis=1)[:, :4]
    mixed = jnp.einsum("bmi,mio->bmo", modes, lax.complex(p["real"], p["imag"]))
    mixed = jnp.pad(mixed, ((0, 0), (0, S // 2 + 1 - 4), (0, 0)))
    h = jax.nn.gelu(jnp.fft.irfft(mixed, n=S, axis=1) + x @ p["skip"])
    return jnp.mean((h - x) ** 2)


def diagonal(p):
    return jnp.exp(lax.complex(-jnp.exp(p["decay"]), p["turn"]))


@case({"decay": (W,), "turn": (W,), "in": (2, W, W), "out": (2, W, W)})
def linear_recurrence(p, x):
    """A linear recurrence with a complex diagonal, by lax.scan."""
    a, given = diagonal(p), x @ lax.complex(*p["in"])
    state = jnp.zeros((x.shape[0], W), jnp.complex128)

    def step(state, now):
        state = a * state + now
        return state, state
    states = lax.scan(step, state, given.swapaxes(0, 1))[1]
    return jnp.mean((jnp.real(states @ lax.complex(*p["out"])).swapaxes(0, 1) - x) ** 2)


@case({"decay": (W,), "turn": (W,), "in": (2, W, W)})
def parallel_recurrence(p, x):
    """The same by an associative scan."""
    given = x @ lax.complex(*p["in"])
    factors = jnp.broadcast_to(diagonal(p), given.shape)

    def join(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]
    return size(lax.associative_scan(join, (factors, given), axis=1)[1])


@case({"decay": (W,), "turn": (W,), "real": (W,), "imag": (W,)})
def state_space(p, x):
    """A diagonal state space as a convolution, whose kernel is a sum of powers."""
    powers = jnp.exp(lax.complex(-jnp.exp(p["decay"]), p["turn"])[:, None] * jnp.arange(S))
    kernel = 2 * jnp.real(jnp.einsum("n,nl->l", lax.complex(p["real"], p["imag"]), powers))
    spectrum = jnp.fft.rfft(x, n=2 * S, axis=1) * jnp.fft.rfft(kernel, n=2 * S)[None, :, None]
    return jnp.mean(jnp.tanh(jnp.fft.irfft(spectrum, n=2 * S, axis=1)[:, :S]) ** 2)


@case({"w": (W, W), "v": (W, W)})
def rotary(p, x):
    """Positions as turns of pairs, which are complex numbers."""
    turns = jnp.exp(1j * jnp.arange(S)[:, None] * 100.0 ** (-jnp.arange(W // 2) / W))

    def turn(h):
        pairs = h.reshape(*h.shape[:-1], W // 2, 2)
        z = lax.complex(pairs[..., 0], pairs[..., 1]) * turns
        return jnp.stack([z.real, z.imag], -1).reshape(h.shape)
    scores = jnp.einsum("bqd,bkd->bqk", turn(x @ p["w"]), turn(x @ p["v"]))
    return jnp.mean(jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), x) ** 2)


@case({"w": (W, W)})
def spectral_distance(p, x):
    """Distances of spectra and of their logarithms, as of sounds."""
    made, wanted = jnp.abs(jnp.fft.rfft(x @ p["w"], axis=1)), jnp.abs(jnp.fft.rfft(x, axis=1))
    near = jnp.linalg.norm(made - wanted) / jnp.linalg.norm(wanted)
    return near + jnp.mean(jnp.abs(jnp.log(made + 1e-3) - jnp.log(wanted + 1e-3)))


@case({"w": (W, W)}, samples=(B, 6, 5, W))
def pictures(p, x):
    """Two and three dimensions, and one that is not the last."""
    z = jnp.fft.fftn(x @ p["w"], axes=(1, 2, 3))
    flat = jnp.fft.irfft2(jnp.fft.rfft2(jnp.tanh(z.real), axes=(1, 2)) * z[:, :, :3, :], s=(6, 5), axes=(1, 2))
    return size(jnp.fft.ifftn(z * jnp.conj(z), axes=(1, 2, 3))) + jnp.mean(flat ** 2)


def lengths(p, x):
    """All kinds of transforms of many lengths; what of them is read differs from place to place."""
    total = 0.0
    for n in LENGTHS:
        signal = x[:, 0] @ p["w"][:, :n]
        weight = 1 + jnp.arange(n) % 5
        z = lax.complex(signal, jnp.sin(2 * signal))
        half = jnp.fft.rfft(signal) / n
        total += size(jnp.fft.fft(z) * weight) / n + size(jnp.fft.ifft(z) * weight) * n
        total += size(jnp.exp(half) * weight[: n // 2 + 1])
        total += jnp.mean(jnp.sin(jnp.fft.irfft(half * jnp.abs(half), n=n) * weight))
    return total


CASES["lengths"] = (lengths, {"w": (W, max(LENGTHS))}, (B, S, W))


@case({"w": (W, W)})
def functions(p, x):
    """Each function of complex numbers that JAX prints as an op."""
    h = x @ p["w"]
    z, w = lax.complex(h, jnp.roll(h, 1, 1)), lax.complex(jnp.cos(h), jnp.roll(h, 2, 1))
    total = size(z / w) + size(lax.pow(z, w / 4)) + jnp.mean(jnp.abs(z)) + jnp.mean(jnp.angle(z))
    for f in [jnp.exp, jnp.expm1, jnp.log, jnp.log1p, jnp.sqrt, lax.rsqrt, jnp.tanh, jnp.tan, lax.sign]:
        total += size(f(z / 2))
    for f in [jnp.sin, jnp.cos, lax.logistic]:
        total += jnp.mean(jnp.real(f(z / 2)) - jnp.imag(f(w)))
    return total + jnp.mean(jnp.where(jnp.real(z) > 0, z, w * w).imag)


@case({"w": (W, W)})
def sums(p, x):
    """Sums, products and places: reductions, cumulative sums, gathers, updates, sorted values."""
    z = lax.complex(x @ p["w"], x)
    picked = jnp.take(z, jnp.array([3, 0, 3]), axis=1).at[:, 1].add(z[:, 2] * 1j).at[:, 0].set(2.0 + 1j)
    total = size(jnp.cumsum(z, 1)) + size(jnp.prod(z[:, :5] / 2, axis=1)) + size(picked)
    last = lax.dynamic_slice_in_dim(z, jnp.argmax(x[0, :, 0]), 2, 1)
    return total + size(last @ jnp.conj(last).swapaxes(1, 2)) + jnp.sum(jnp.mean(z, 1)).real


@case({"w": (W, W)})
def at_zero(p, x):
    """Absolute values at 0, where their derivative is 0."""
    h = x @ p["w"] * (jnp.arange(W) // 2 % 2)
    return jnp.mean(jnp.abs(lax.complex(h, jnp.roll(h, 1, 1))))


# Ends the name of a loss that is printed with its derivative, by jax.value_and_grad.
DERIVED = ".derived"
NAMES = [*CASES, *(n + DERIVED for n in CASES)]


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss_name = name.removesuffix(DERIVED)
        self.loss, shapes, samples = CASES[self.loss_name]
        # Norms and ratios are of the whole batch.
        super().__init__(a, name, shapes, samples, one_step.CONFIGURATION.replace("microbatches = 2", "microbatches = 1"))
        f = jax.value_and_grad(self.loss) if name.endswith(DERIVED) else self.loss

        def train(params, x):
            return f(params, x)

        given = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in shapes.items()}
        self.write_text(jax.jit(train).lower(given, jax.ShapeDtypeStruct(samples, np.float64)).as_text(debug_info=True))

    def expect(self):
        return one_step.by_jax(self.loss, self.parameters, self.x)


if __name__ == "__main__":
    one_step.main(__doc__, NAMES, Case, RUNS, usual=3)
