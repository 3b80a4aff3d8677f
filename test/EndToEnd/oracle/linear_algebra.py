# ===- linear_algebra.py - Losses of factors and triangles against jax.grad -=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with factors of matrices and triangular equations: one step of plain descent in f64 against jax.grad, of the
text of the loss and (`NAME.derived`) of jax.value_and_grad.

    python linear_algebra.py --llmc llmc -o out [--only kalman,'*.derived']
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import cho_solve, solve_triangular

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

B, S, W = 4, 8, 8  # samples, rows of each, width
RUNS = [("train", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("interpret", "data=2")]
CASES = {}


def case(shapes, samples=(B, S, W)):
    def add(f):
        CASES[f.__name__] = (f, shapes, samples)
        return f
    return add


def definite(x):
    """A symmetric positive definite matrix, of each sample."""
    return x @ x.swapaxes(-1, -2) + 2 * jnp.eye(x.shape[-2])


def square(y):
    """A weighted mean of squares: each place of a sample has a weight of its own, so that their order counts."""
    return jnp.mean(y**2 * np.linspace(1, 2, int(np.prod(y.shape[1:]))).reshape(y.shape[1:]))


@case({"scale": (W,), "y": (S,), "noise": ()})
def gaussian_process(p, x):
    """The marginal likelihood of each sample, whose rows are the points."""
    z = x * p["scale"]
    d = jnp.sum((z[:, :, None] - z[:, None]) ** 2, -1)
    factor = jnp.linalg.cholesky(jnp.exp(-0.5 * d) + (0.1 + p["noise"] ** 2) * jnp.eye(S))
    y = jnp.broadcast_to(p["y"], x.shape[:2])[..., None]
    fit = jnp.sum(y * cho_solve((factor, True), y), (1, 2))
    return jnp.mean(0.5 * fit + jnp.sum(jnp.log(jnp.diagonal(factor, axis1=1, axis2=2)), -1))


@case({"f": (W, W), "q": (W, W), "r": (W, W)})
def kalman(p, x):
    """The likelihood of a series by prediction and correction, in a scan over its times."""
    q, r = definite(p["q"]), definite(p["r"])

    def step(carry, y):
        mean, cov = carry
        mean, cov = p["f"] @ mean, p["f"] @ cov @ p["f"].T + q
        factor = jnp.linalg.cholesky(cov + r)
        gain = cho_solve((factor, True), cov).T
        rest = y - mean
        white = solve_triangular(factor, rest, lower=True)
        nll = 0.5 * jnp.sum(white**2) + jnp.sum(jnp.log(jnp.diagonal(factor)))
        return (mean + gain @ rest, cov - gain @ cov), nll

    start = (jnp.zeros(W), jnp.eye(W))
    return jnp.mean(jax.vmap(lambda series: jnp.sum(lax.scan(step, start, series)[1]))(x))


@case({"mean": (3, W), "cov": (3, W, W), "logit": (3,)})
def mixture(p, x):
    """Normal distributions with full covariances."""
    rows = x.reshape(-1, W)
    of = jax.vmap(jax.scipy.stats.multivariate_normal.logpdf, (None, 0, 0), 1)(rows, p["mean"], definite(p["cov"]))
    return -jnp.mean(jax.nn.logsumexp(of + jax.nn.log_softmax(p["logit"]), -1))


@case({"w": (W, W), "out": (W, W)})
def whitening(p, x):
    """Rows of a sample with unit covariance, and a layer after them."""
    y = x @ p["w"]
    y = y - jnp.mean(y, 1, keepdims=True)
    cov = jnp.einsum("bsi,bsj->bij", y, y) / S + 0.1 * jnp.eye(W)
    white = lax.linalg.triangular_solve(jnp.linalg.cholesky(cov), y, left_side=False, lower=True, transpose_a=True)
    return square(jnp.tanh(white) @ p["out"])


@case({"a": (5, 5), "b": (W, 5)})
def forms(p, x):
    """Every form of a triangular equation, on both sides."""
    rows = x @ p["b"]
    a, total = 0.3 * p["a"] + jnp.eye(5), 0.0
    for number in range(16):
        left, lower, transposed, unit = (bool(number >> k & 1) for k in range(4))
        b = rows.swapaxes(1, 2) if left else rows
        y = lax.linalg.triangular_solve(jnp.broadcast_to(a, (x.shape[0], 5, 5)), b, left_side=left, lower=lower,
                                        transpose_a=transposed, unit_diagonal=unit)
        total = total + square(y) * (1 + number)
    return total


@case({"w": (33, W)})
def sizes(p, x):
    """Matrices of 1, 2, 5 and 33 rows, of which the largest does not depend on the sample; upper factors too."""
    whole = definite(p["w"])
    total = jnp.sum(jnp.linalg.cholesky(whole, upper=True) * np.linspace(1, 2, 33))
    for n in (1, 2, 5):
        y = jnp.linalg.cholesky(definite(x[:, :n] @ p["w"][:W]))
        total = total + square(solve_triangular(y, x[:, :n], lower=True))
        # Of the triangle alone, as SciPy has it: what stands above is not read.
        total = total + square(jax.scipy.linalg.cholesky(definite(x[:, :n] * p["w"][0]), lower=n == 2))
    return total


@case({"w": (131, W), "y": (131, 3)})
def blocks(p, x):
    """Matrices of more rows than a block (Matrices.h), of lower and upper factors, and equations on both sides. JAX's own
    calls of LAPACK for batches of such sizes may wait for each other for ever where there are two processors."""
    total = 0.0
    for n, upper in ((65, True), (131, False)):
        factor = jnp.linalg.cholesky(definite(p["w"][:n]) + x[0, 0, 0] ** 2 * np.eye(n), upper=upper)
        right = p["y"][:n]
        total = total + square(factor) + square(solve_triangular(factor, right, lower=not upper, trans=int(upper)))
        other = lax.linalg.triangular_solve(factor, right.T, lower=not upper, transpose_a=upper)
        total = total + square(other)
    return total


@case({"w": (67, 67)})
def panels(p, x):
    """Matrices of more columns than a panel (Matrices.h), all of whose rows are exchanged."""
    factors, order, permutation = lax.linalg.lu(turned(p["w"]) + x[0, 0, 0] ** 2 * np.eye(67))
    return square(factors) + jnp.mean((order + permutation**2) * np.linspace(0, 1, 67))


@case({"w": (W, W)})
def not_definite(p, x):
    """A matrix that has no factor has a triangle of NaN, whichever of its pivots is the first that is not positive."""
    less = np.zeros((4, W))
    less[1], less[2, W // 2], less[3, -1] = 1e3, 1e3, 1e3
    factor = jnp.linalg.cholesky(definite(p["w"]) - less[:, None] * jnp.eye(W))
    lost = jnp.where(jnp.isnan(factor), np.linspace(1, 2, factor.size).reshape(factor.shape), 0.0)
    rows = np.arange(130)
    large = jnp.linalg.cholesky(np.eye(130) - 2 * np.diag(rows == 69) + 0 * p["w"][0, 0])
    lost = jnp.sum(lost) + jnp.sum(jnp.isnan(large) * np.linspace(1, 2, 130))
    return square(x @ p["w"]) + lost


@case({"w": (2, W, W), "out": (2, W // 2, W), "mean": (W,), "root": (W, W)})
def glow(p, x):
    """Two steps of a flow on rows, a full matrix, whose determinant counts, and a coupling of halves, to a normal
    distribution with a full covariance."""
    z, total = x.reshape(-1, W), 0.0
    for w, out in zip(p["w"], p["out"]):
        a, b = jnp.split(z @ w, 2, -1)
        shift, scale = jnp.split(jnp.tanh(a @ out), 2, -1)
        z = jnp.concatenate([a, b * jnp.exp(scale) + shift], -1)
        total = total + jnp.linalg.slogdet(w)[1] + jnp.mean(jnp.sum(scale, -1))
    z, cov = z - p["mean"], definite(p["root"])
    fit = jnp.sum(z * jnp.linalg.solve(cov, z.T).T, -1)
    return jnp.mean(fit) / 2 + jnp.linalg.slogdet(cov)[1] / 2 - total


@case({"a": (5, 5), "b": (W, 5)})
def implicit(p, x):
    """Steps of an equation whose next state stands on both sides, in a scan over times."""
    def step(h, drive):
        h = jnp.linalg.solve(jnp.eye(5) - 0.1 * p["a"] * jnp.tanh(h[None]), h + drive)
        return h, h

    return jnp.mean(jax.vmap(lambda series: square(lax.scan(step, jnp.zeros(5), series @ p["b"])[1]))(x))


@case({"w": (W, W)})
def inverses(p, x):
    """An inverse and a determinant of each sample, whose diagonals are 0 and so are no pivots."""
    y = jnp.einsum("bsi,bsj->bij", x @ p["w"], x) * (1 - np.eye(W))
    return square(jnp.linalg.inv(y)) + square(jnp.tanh(1e-2 * jnp.linalg.det(y))[:, None])


def turned(x):
    """A matrix whose greatest elements stand beside its diagonal, in the first row at its end."""
    return jnp.roll(0.2 * x + jnp.eye(x.shape[-1]), 1, -2)


@case({"w": (33, 33), "u": (5, 5)})
def pivots(p, x):
    """Matrices of 1, 2, 5 and 33 rows, all of whose rows are exchanged."""
    factors, order, _ = lax.linalg.lu(turned(p["w"]))
    total = square(factors) + jnp.mean(order * np.arange(33.0))
    for n in (1, 2):
        total = total + square(lax.linalg.lu(turned(p["u"][:n, :n] + x[:, :n, :n]))[0])
    of = jax.scipy.linalg.lu_factor(turned(p["u"] + x[:, :5, :5]))
    return total + square(jax.scipy.linalg.lu_solve(of, x[:, :5, :3], trans=1))


@case({"w": (W, W)})
def singular(p, x):
    """Factors of matrices of which some pivots are 0, and of ties: those that are 0, of ones, of a diagonal, of few rows."""
    less = np.stack([np.zeros((4, 4)), np.ones((4, 4)), np.diag([1.0, 0, 2, 0]), np.arange(16.0).reshape(4, 4) // 4])
    factors, order, permutation = lax.linalg.lu(0 * x[0, 0, 0] + less)
    return square(x @ p["w"]) + square(factors) + jnp.mean((order + permutation**2) * np.arange(4.0))


# Ends the name of a loss that is printed with its derivative, by jax.value_and_grad.
DERIVED = ".derived"
NAMES = [*CASES, *(n + DERIVED for n in CASES)]


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss_name = name.removesuffix(DERIVED)
        self.loss, shapes, samples = CASES[self.loss_name]
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
