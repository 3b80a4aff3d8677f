# ===- complex_models.py - Complex parameters and data against JAX ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of models whose parameters, inputs or both are complex128: one step of plain descent against jax.grad, whose
gradient is the conjugate of the step's direction, of the text of the loss and (`NAME.derived`) of jax.value_and_grad.

    python complex_models.py --llmc llmc -o out [--only recurrence,'*.derived']
"""

import arrays
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

B, S, W = 4, 12, 8  # samples, times, width
RUNS = [("train", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("interpret", "data=2"), ("train", "data=2")]
CASES = {}


def case(shapes, real=(), isComplexData=False, samples=(B, S, W)):
    """Parameters of `real` are real ones, all others complex."""
    def add(f):
        CASES[f.__name__] = (f, shapes, real, samples, isComplexData)
        return f
    return add


def size(z):
    return jnp.mean(jnp.real(z) ** 2 + jnp.imag(z) ** 2)


@case({"modes": (4, W, W), "skip": (W, W)}, real=["skip"])
def fourier_operator(p, x):
    """A layer of a Fourier neural operator, whose spectral weights are complex."""
    kept = jnp.einsum("bmi,mio->bmo", jnp.fft.rfft(x, axis=1)[:, :4], p["modes"])
    kept = jnp.pad(kept, ((0, 0), (0, S // 2 + 1 - 4), (0, 0)))
    h = jax.nn.gelu(jnp.fft.irfft(kept, n=S, axis=1) + x @ p["skip"])
    return jnp.mean((h - x) ** 2)


@case({"eigenvalues": (W,), "in": (W, W), "out": (W, W)})
def recurrence(p, x):
    """A linear recurrent unit with complex eigenvalues, by lax.scan."""
    a = p["eigenvalues"] / (1 + jnp.abs(p["eigenvalues"]))
    given = (x @ p["in"]).swapaxes(0, 1)

    def step(state, now):
        state = a * state + now
        return state, state
    states = lax.scan(step, jnp.zeros(given.shape[1:], given.dtype), given)[1]
    return jnp.mean((jnp.real(states @ p["out"]).swapaxes(0, 1) - x) ** 2)


@case({"poles": (W,), "out": (W,), "rate": ()}, real=["rate"])
def state_space(p, x):
    """A diagonal state space as a convolution, whose kernel is a sum of powers."""
    poles = lax.complex(-jax.nn.softplus(jnp.real(p["poles"])), jnp.imag(p["poles"])) * jnp.exp(p["rate"])
    kernel = 2 * jnp.real(jnp.einsum("n,nl->l", p["out"], jnp.exp(poles[:, None] * jnp.arange(S))))
    spectrum = jnp.fft.rfft(x, n=2 * S, axis=1) * jnp.fft.rfft(kernel, n=2 * S)[None, :, None]
    return jnp.mean(jnp.tanh(jnp.fft.irfft(spectrum, n=2 * S, axis=1)[:, :S]) ** 2)


@case({"first": (W, W), "shift": (W,), "second": (W, W)}, real=["shift"], isComplexData=True, samples=(B, W))
def perceptron(p, x):
    """Complex data through complex matrices; the absolute value is rectified (modReLU)."""
    h = x @ p["first"]
    length = jnp.abs(h)
    h = h * jax.nn.relu(length + p["shift"]) / (length + 1e-3)
    return size(h @ p["second"] - jnp.conj(x))


@case({"w": (W, W), "z": (W,)}, isComplexData=True, samples=(B, W))
def functions(p, x):
    """Inverse functions, orders, loops and branches of complex numbers."""
    h = jnp.sort(x @ p["w"], axis=1) * p["z"]
    total = 0.0
    for f in [jnp.arcsin, jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.arctanh]:
        total += size(f(h / 3))
    # Where the real part is negative JAX's derivative has the wrong sign.
    total += size(jnp.arccosh(2 + jnp.tanh(h)))
    h = lax.optimization_barrier(h)
    h = lax.cond(jnp.sum(x.real) > 1e3, lambda h: h * 2j, lambda h: h - 1, h)
    return total + size(lax.fori_loop(0, 3, lambda i, h: h * p["z"] / (1 + jnp.abs(h)), h))


# Ends the name of a loss that is printed with its derivative, by jax.value_and_grad.
DERIVED = ".derived"
NAMES = [*CASES, *(n + DERIVED for n in CASES)]


def draw(random, shape, isComplex):
    drawn = random.normal(size=shape) * 0.5
    return drawn + 0.5j * random.normal(size=shape) if isComplex else np.asarray(drawn)


def parts_of(parameters):
    """By the names that llmc has for them."""
    parts = {}
    for name, value in parameters.items():
        isComplex = np.iscomplexobj(value)
        parts.update({f"{name}.real": value.real, f"{name}.imag": value.imag} if isComplex else {name: value})
    return parts


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss_name = name.removesuffix(DERIVED)
        self.loss, shapes, real, samples, isComplexData = CASES[self.loss_name]
        super().__init__(a, name, shapes, samples, one_step.CONFIGURATION.replace("microbatches = 2", "microbatches = 1"))
        random = np.random.default_rng(len(self.loss_name))
        self.parameters = {n: draw(random, s, n not in real) for n, s in shapes.items()}
        self.x = draw(random, samples, isComplexData)
        np.save(self.folder / "x.npy", self.x)
        arrays.write_safetensors(self.folder / "weights.safetensors", parts_of(self.parameters))
        f = jax.value_and_grad(self.loss) if name.endswith(DERIVED) else self.loss

        def train(params, x):
            return f(params, x)

        given = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), self.parameters)
        text = jax.jit(train).lower(given, jax.ShapeDtypeStruct(samples, self.x.dtype)).as_text(debug_info=True)
        self.write_text(text)

    def expect(self):
        loss, gradients = one_step.by_jax(self.loss, self.parameters, self.x)
        return loss, jax.tree.map(jnp.conj, gradients)


if __name__ == "__main__":
    one_step.main(__doc__, NAMES, Case, RUNS, usual=3)
