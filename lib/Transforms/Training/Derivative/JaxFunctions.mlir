// JAX's own functions whose derivative by JAX is not that of the ops which JAX
// prints for them, or whose text says that they have a rule of their own. Each
// stands for one element: @f has the ops as printed, @f.derivative takes the
// arguments of @f, its result and the result's cotangent, and returns the
// cotangents of the arguments. What comes first is tried first.
//
//   named    only where the function's name says that it is JAX's: the same op
//            may stand elsewhere, with another derivative
//   marked   only where a constant's location says that a rule exists: people
//            write the same ops by hand
//
// Of one without ops the name alone counts, in the location of a constant that
// says that a rule exists: the derivative is that of its ops.
//
// KnownFunctions.cpp finds them; docs/derivatives.md lists them, and a test
// compares each with jax.grad.

// jax.nn.relu: 0 at 0, where maximum gives a half.
func.func private @relu(%x: tensor<f64>) -> tensor<f64> attributes {named} {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %y = stablehlo.maximum %x, %zero : tensor<f64>
  return %y : tensor<f64>
}
func.func private @relu.derivative(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %p = stablehlo.compare GT, %x, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %dx = stablehlo.select %p, %g, %zero : tensor<i1>, tensor<f64>
  return %dx : tensor<f64>
}

// jax.nn.relu6: 0 at 0 and at 6.
func.func private @relu6(%x: tensor<f64>) -> tensor<f64> attributes {named} {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %six = stablehlo.constant dense<6.0> : tensor<f64>
  %up = stablehlo.maximum %x, %zero : tensor<f64>
  %y = stablehlo.minimum %up, %six : tensor<f64>
  return %y : tensor<f64>
}
func.func private @relu6.derivative(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %six = stablehlo.constant dense<6.0> : tensor<f64>
  %p = stablehlo.compare GT, %x, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %q = stablehlo.compare LT, %x, %six, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %inside = stablehlo.and %p, %q : tensor<i1>
  %dx = stablehlo.select %inside, %g, %zero : tensor<i1>, tensor<f64>
  return %dx : tensor<f64>
}

// jax.nn.log1mexp: its other branch is NaN at 0 and below.
func.func private @log1mexp(%x: tensor<f64>) -> tensor<f64> attributes {named} {
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %c = stablehlo.log %two : tensor<f64>
  %p = stablehlo.compare LT, %x, %c, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %0 = stablehlo.negate %x : tensor<f64>
  %1 = stablehlo.exponential_minus_one %0 : tensor<f64>
  %2 = stablehlo.negate %1 : tensor<f64>
  %3 = stablehlo.log %2 : tensor<f64>
  %4 = stablehlo.negate %x : tensor<f64>
  %5 = stablehlo.exponential %4 : tensor<f64>
  %6 = stablehlo.negate %5 : tensor<f64>
  %7 = stablehlo.log_plus_one %6 : tensor<f64>
  %y = stablehlo.select %p, %3, %7 : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @log1mexp.derivative(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.exponential_minus_one %x : tensor<f64>
  %dx = stablehlo.divide %g, %0 : tensor<f64>
  return %dx : tensor<f64>
}

// jax.numpy.logaddexp, jax.nn.softplus: the absolute value has no derivative at
// 0, and the difference of equal infinities is NaN. JAX takes infinity for 0.
func.func private @logaddexp(%x: tensor<f64>, %z: tensor<f64>) -> tensor<f64> {
  %max = stablehlo.maximum %x, %z : tensor<f64>
  %0 = stablehlo.subtract %x, %z : tensor<f64>
  %p = stablehlo.compare NE, %0, %0, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %1 = stablehlo.add %x, %z : tensor<f64>
  %2 = stablehlo.abs %0 : tensor<f64>
  %3 = stablehlo.negate %2 : tensor<f64>
  %4 = stablehlo.exponential %3 : tensor<f64>
  %5 = stablehlo.log_plus_one %4 : tensor<f64>
  %6 = stablehlo.add %max, %5 : tensor<f64>
  %y = stablehlo.select %p, %1, %6 : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @logaddexp.derivative(%x: tensor<f64>, %z: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %inf = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
  %px = stablehlo.compare EQ, %x, %inf, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %sx = stablehlo.select %px, %zero, %x : tensor<i1>, tensor<f64>
  %pz = stablehlo.compare EQ, %z, %inf, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %sz = stablehlo.select %pz, %zero, %z : tensor<i1>, tensor<f64>
  %py = stablehlo.compare EQ, %y, %inf, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %sy = stablehlo.select %py, %zero, %y : tensor<i1>, tensor<f64>
  %0 = stablehlo.subtract %sx, %sy : tensor<f64>
  %1 = stablehlo.exponential %0 : tensor<f64>
  %dx = stablehlo.multiply %g, %1 : tensor<f64>
  %2 = stablehlo.subtract %sz, %sy : tensor<f64>
  %3 = stablehlo.exponential %2 : tensor<f64>
  %dz = stablehlo.multiply %g, %3 : tensor<f64>
  return %dx, %dz : tensor<f64>, tensor<f64>
}

// jax.numpy.logaddexp2.
func.func private @logaddexp2(%x: tensor<f64>, %z: tensor<f64>) -> tensor<f64> {
  %ln2 = stablehlo.constant dense<0.6931471805599453> : tensor<f64>
  %invln2 = stablehlo.constant dense<1.4426950408889634> : tensor<f64>
  %max = stablehlo.maximum %x, %z : tensor<f64>
  %0 = stablehlo.subtract %x, %z : tensor<f64>
  %p = stablehlo.compare NE, %0, %0, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %1 = stablehlo.add %x, %z : tensor<f64>
  %2 = stablehlo.abs %0 : tensor<f64>
  %3 = stablehlo.negate %2 : tensor<f64>
  %4 = stablehlo.multiply %ln2, %3 : tensor<f64>
  %5 = stablehlo.exponential %4 : tensor<f64>
  %6 = stablehlo.log_plus_one %5 : tensor<f64>
  %7 = stablehlo.multiply %invln2, %6 : tensor<f64>
  %8 = stablehlo.add %max, %7 : tensor<f64>
  %y = stablehlo.select %p, %1, %8 : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @logaddexp2.derivative(%x: tensor<f64>, %z: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %ln2 = stablehlo.constant dense<0.6931471805599453> : tensor<f64>
  %inf = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
  %px = stablehlo.compare EQ, %x, %inf, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %sx = stablehlo.select %px, %zero, %x : tensor<i1>, tensor<f64>
  %pz = stablehlo.compare EQ, %z, %inf, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %sz = stablehlo.select %pz, %zero, %z : tensor<i1>, tensor<f64>
  %py = stablehlo.compare EQ, %y, %inf, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %sy = stablehlo.select %py, %zero, %y : tensor<i1>, tensor<f64>
  %0 = stablehlo.subtract %sx, %sy : tensor<f64>
  %1 = stablehlo.multiply %ln2, %0 : tensor<f64>
  %2 = stablehlo.exponential %1 : tensor<f64>
  %dx = stablehlo.multiply %g, %2 : tensor<f64>
  %3 = stablehlo.subtract %sz, %sy : tensor<f64>
  %4 = stablehlo.multiply %ln2, %3 : tensor<f64>
  %5 = stablehlo.exponential %4 : tensor<f64>
  %dz = stablehlo.multiply %g, %5 : tensor<f64>
  return %dx, %dz : tensor<f64>, tensor<f64>
}

// Inside jax.scipy.special.entr and rel_entr: x log x.
func.func private @xlogx(%x: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.compare NE, %x, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %1 = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %p = stablehlo.or %0, %1 : tensor<i1>
  %2 = stablehlo.log %x : tensor<f64>
  %3 = stablehlo.multiply %x, %2 : tensor<f64>
  %y = stablehlo.select %p, %3, %zero : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @xlogx.derivative(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.log %x : tensor<f64>
  %1 = stablehlo.add %0, %one : tensor<f64>
  %dx = stablehlo.multiply %g, %1 : tensor<f64>
  return %dx : tensor<f64>
}

// jax.scipy.special.xlogy: the derivative at 0 is that of x log z.
func.func private @xlogy(%x: tensor<f64>, %z: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.compare NE, %x, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %1 = stablehlo.compare NE, %z, %z, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %p = stablehlo.or %0, %1 : tensor<i1>
  %2 = stablehlo.log %z : tensor<f64>
  %3 = stablehlo.multiply %x, %2 : tensor<f64>
  %y = stablehlo.select %p, %3, %zero : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @xlogy.derivative(%x: tensor<f64>, %z: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %0 = stablehlo.log %z : tensor<f64>
  %dx = stablehlo.multiply %g, %0 : tensor<f64>
  %1 = stablehlo.divide %g, %z : tensor<f64>
  %dz = stablehlo.multiply %1, %x : tensor<f64>
  return %dx, %dz : tensor<f64>, tensor<f64>
}

// jax.scipy.special.xlog1py.
func.func private @xlog1py(%x: tensor<f64>, %z: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.compare NE, %x, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %1 = stablehlo.compare NE, %z, %z, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %p = stablehlo.or %0, %1 : tensor<i1>
  %2 = stablehlo.log_plus_one %z : tensor<f64>
  %3 = stablehlo.multiply %x, %2 : tensor<f64>
  %y = stablehlo.select %p, %3, %zero : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @xlog1py.derivative(%x: tensor<f64>, %z: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.log_plus_one %z : tensor<f64>
  %dx = stablehlo.multiply %g, %0 : tensor<f64>
  %1 = stablehlo.add %one, %z : tensor<f64>
  %2 = stablehlo.divide %g, %1 : tensor<f64>
  %dz = stablehlo.multiply %2, %x : tensor<f64>
  return %dx, %dz : tensor<f64>, tensor<f64>
}

// jax.scipy.special.logit: infinite at 0 and 1, where its ops give NaN.
func.func private @logit(%x: tensor<f64>) -> tensor<f64> attributes {marked} {
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.subtract %one, %x : tensor<f64>
  %1 = stablehlo.divide %x, %0 : tensor<f64>
  %y = stablehlo.log %1 : tensor<f64>
  return %y : tensor<f64>
}
func.func private @logit.derivative(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.subtract %one, %x : tensor<f64>
  %1 = stablehlo.multiply %x, %0 : tensor<f64>
  %dx = stablehlo.divide %g, %1 : tensor<f64>
  return %dx : tensor<f64>
}

// jax.scipy.special.log_ndtr, whose bounds depend on the type: below the lower
// one it is a short series, and its derivative still the density over its value.
func.func private @log_ndtr(%x: tensor<f64>, %upper: tensor<f64>, %lower: tensor<f64>) -> tensor<f64> attributes {marked} {
  %root = stablehlo.constant dense<0.7071067811865476> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %half = stablehlo.constant dense<0.5> : tensor<f64>
  %minushalf = stablehlo.constant dense<-0.5> : tensor<f64>
  %c = stablehlo.constant dense<0.9189385332046727> : tensor<f64>
  %three = stablehlo.constant dense<3.0> : tensor<f64>
  %fifteen = stablehlo.constant dense<15.0> : tensor<f64>
  %0 = stablehlo.compare GT, %x, %upper, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %1 = stablehlo.negate %x : tensor<f64>
  %2 = stablehlo.maximum %x, %lower : tensor<f64>
  %3 = stablehlo.select %0, %1, %2 : tensor<i1>, tensor<f64>
  %4 = stablehlo.multiply %3, %root : tensor<f64>
  %5 = stablehlo.abs %4 : tensor<f64>
  %6 = stablehlo.compare LT, %5, %root, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %7 = chlo.erf %4 : tensor<f64> -> tensor<f64>
  %8 = stablehlo.add %one, %7 : tensor<f64>
  %9 = stablehlo.compare GT, %4, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %10 = chlo.erfc %5 : tensor<f64> -> tensor<f64>
  %11 = stablehlo.subtract %two, %10 : tensor<f64>
  %12 = chlo.erfc %5 : tensor<f64> -> tensor<f64>
  %13 = stablehlo.select %9, %11, %12 : tensor<i1>, tensor<f64>
  %14 = stablehlo.select %6, %8, %13 : tensor<i1>, tensor<f64>
  %15 = stablehlo.multiply %half, %14 : tensor<f64>
  %16 = stablehlo.negate %15 : tensor<f64>
  %17 = stablehlo.compare GT, %x, %lower, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %18 = stablehlo.log %15 : tensor<f64>
  %19 = stablehlo.minimum %x, %lower : tensor<f64>
  %20 = chlo.square %19 : tensor<f64> -> tensor<f64>
  %21 = stablehlo.multiply %minushalf, %20 : tensor<f64>
  %22 = stablehlo.negate %19 : tensor<f64>
  %23 = stablehlo.log %22 : tensor<f64>
  %24 = stablehlo.subtract %21, %23 : tensor<f64>
  %25 = stablehlo.subtract %24, %c : tensor<f64>
  %26 = chlo.square %19 : tensor<f64> -> tensor<f64>
  %27 = stablehlo.divide %one, %26 : tensor<f64>
  %28 = stablehlo.add %zero, %27 : tensor<f64>
  %29 = stablehlo.multiply %26, %26 : tensor<f64>
  %30 = stablehlo.divide %three, %29 : tensor<f64>
  %31 = stablehlo.add %zero, %30 : tensor<f64>
  %32 = stablehlo.multiply %29, %26 : tensor<f64>
  %33 = stablehlo.divide %fifteen, %32 : tensor<f64>
  %34 = stablehlo.add %28, %33 : tensor<f64>
  %35 = stablehlo.add %one, %31 : tensor<f64>
  %36 = stablehlo.subtract %35, %34 : tensor<f64>
  %37 = stablehlo.log %36 : tensor<f64>
  %38 = stablehlo.add %25, %37 : tensor<f64>
  %39 = stablehlo.select %17, %18, %38 : tensor<i1>, tensor<f64>
  %y = stablehlo.select %0, %16, %39 : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}
func.func private @log_ndtr.derivative(%x: tensor<f64>, %upper: tensor<f64>, %lower: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %half = stablehlo.constant dense<0.5> : tensor<f64>
  %c = stablehlo.constant dense<1.8378770664093453> : tensor<f64>
  %0 = stablehlo.multiply %x, %x : tensor<f64>
  %1 = stablehlo.add %c, %0 : tensor<f64>
  %2 = stablehlo.multiply %1, %half : tensor<f64>
  %3 = stablehlo.add %2, %y : tensor<f64>
  %4 = stablehlo.negate %3 : tensor<f64>
  %5 = stablehlo.exponential %4 : tensor<f64>
  %dx = stablehlo.multiply %g, %5 : tensor<f64>
  return %dx, %zero, %zero : tensor<f64>, tensor<f64>, tensor<f64>
}

// Inside jax.numpy.sinc: its value at 0. The derivative is that of the ops.
func.func private @sinc(%x: tensor<f64>) -> tensor<f64> attributes {marked} {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.multiply %x, %zero : tensor<f64>
  %y = stablehlo.add %0, %one : tensor<f64>
  return %y : tensor<f64>
}
func.func private @sinc.derivative(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %dx = stablehlo.multiply %g, %zero : tensor<f64>
  return %dx : tensor<f64>
}

// Of jax.numpy.linalg: their rules solve with the factors, of which the ops have
// the derivative.
func.func private @det()
func.func private @slogdet()
