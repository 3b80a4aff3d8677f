// Adafactor (Shazeer and Stern, 1804.04235, algorithms 4 and 5; t counts from 1), with
// decoupled weight decay. The second moment of a matrix is kept as the means of its rows
// and columns, that of another parameter whole:
//   k  = 1 - t^-decay;  s = g^2 + eps
//   r' = k r + (1 - k) mean of rows(s);  c' = k c + (1 - k) mean of columns(s)
//   u  = g / sqrt(r' c' / mean(r'))          (matrices)      u = g / sqrt(v')   (others)
//   p' = p - lr * (max(1e-3, rms(p)) * u / max(1, rms(u) / clip) + weight_decay * p)
// The sizes of the first function stand for those of the parameter (`dist.sizes`). The
// second one is for a parameter of one element (see sgd.mlir), and sums over all.
func.func private @optimizer.adafactor.matrix(
    %p: tensor<2x3xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2x3xf32> {dist.port = #dist.port<gradient>},
    %r: tensor<2xf32> {dist.port = #dist.port<moment "r">}, %c: tensor<3xf32> {dist.port = #dist.port<moment "c">},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>},
    %decay: tensor<f32> {dist.port = #dist.port<setting "decay", default = 0.8>},
    %eps: tensor<f32> {dist.port = #dist.port<setting "eps", default = 1.0e-30>},
    %clip: tensor<f32> {dist.port = #dist.port<setting "clip", default = 1.0>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<2x3xf32> {dist.port = #dist.port<parameter>}, tensor<2xf32> {dist.port = #dist.port<moment "r">}, tensor<3xf32> {dist.port = #dist.port<moment "c">})
    attributes {dist.sizes = "any"} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %decay : tensor<f32>
  %1 = stablehlo.power %t, %0 : tensor<f32>
  %kept = stablehlo.subtract %one, %1 : tensor<f32>
  %new = stablehlo.subtract %one, %kept : tensor<f32>
  %2 = stablehlo.get_dimension_size %p, dim = 0 : (tensor<2x3xf32>) -> tensor<i32>
  %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<f32>
  %4 = stablehlo.get_dimension_size %p, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %5 = stablehlo.convert %4 : (tensor<i32>) -> tensor<f32>
  %count = stablehlo.multiply %3, %5 : tensor<f32>
  %6 = stablehlo.broadcast_in_dim %eps, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %7 = stablehlo.multiply %g, %g : tensor<2x3xf32>
  %square = stablehlo.add %7, %6 : tensor<2x3xf32>
  %8 = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %9 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %10 = stablehlo.divide %8, %9 : tensor<2xf32>
  %11 = stablehlo.broadcast_in_dim %kept, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %12 = stablehlo.broadcast_in_dim %new, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %13 = stablehlo.multiply %11, %r : tensor<2xf32>
  %14 = stablehlo.multiply %12, %10 : tensor<2xf32>
  %r2 = stablehlo.add %13, %14 : tensor<2xf32>
  %15 = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %16 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %17 = stablehlo.divide %15, %16 : tensor<3xf32>
  %18 = stablehlo.broadcast_in_dim %kept, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %19 = stablehlo.broadcast_in_dim %new, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %20 = stablehlo.multiply %18, %c : tensor<3xf32>
  %21 = stablehlo.multiply %19, %17 : tensor<3xf32>
  %c2 = stablehlo.add %20, %21 : tensor<3xf32>
  %22 = stablehlo.reduce(%r2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %23 = stablehlo.divide %22, %3 : tensor<f32>
  %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %25 = stablehlo.divide %r2, %24 : tensor<2xf32>
  %26 = stablehlo.rsqrt %25 : tensor<2xf32>
  %27 = stablehlo.rsqrt %c2 : tensor<3xf32>
  %28 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %29 = stablehlo.broadcast_in_dim %27, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %30 = stablehlo.multiply %g, %28 : tensor<2x3xf32>
  %u = stablehlo.multiply %30, %29 : tensor<2x3xf32>
  %31 = stablehlo.multiply %u, %u : tensor<2x3xf32>
  %32 = stablehlo.reduce(%31 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %33 = stablehlo.divide %32, %count : tensor<f32>
  %34 = stablehlo.sqrt %33 : tensor<f32>
  %35 = stablehlo.divide %34, %clip : tensor<f32>
  %36 = stablehlo.maximum %one, %35 : tensor<f32>
  %least = stablehlo.constant dense<1.0e-3> : tensor<f32>
  %37 = stablehlo.multiply %p, %p : tensor<2x3xf32>
  %38 = stablehlo.reduce(%37 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %39 = stablehlo.divide %38, %count : tensor<f32>
  %40 = stablehlo.sqrt %39 : tensor<f32>
  %41 = stablehlo.maximum %least, %40 : tensor<f32>
  %42 = stablehlo.multiply %lr, %41 : tensor<f32>
  %43 = stablehlo.divide %42, %36 : tensor<f32>
  %44 = stablehlo.broadcast_in_dim %43, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %45 = stablehlo.multiply %44, %u : tensor<2x3xf32>
  %46 = stablehlo.multiply %lr, %weight_decay : tensor<f32>
  %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %48 = stablehlo.multiply %47, %p : tensor<2x3xf32>
  %49 = stablehlo.add %45, %48 : tensor<2x3xf32>
  %p2 = stablehlo.subtract %p, %49 : tensor<2x3xf32>
  return %p2, %r2, %c2 : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>
}

func.func private @optimizer.adafactor(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %v: tensor<1xf32> {dist.port = #dist.port<moment "v">},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>},
    %decay: tensor<f32> {dist.port = #dist.port<setting "decay", default = 0.8>},
    %eps: tensor<f32> {dist.port = #dist.port<setting "eps", default = 1.0e-30>},
    %clip: tensor<f32> {dist.port = #dist.port<setting "clip", default = 1.0>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "v">}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %decay : tensor<f32>
  %1 = stablehlo.power %t, %0 : tensor<f32>
  %kept = stablehlo.subtract %one, %1 : tensor<f32>
  %new = stablehlo.subtract %one, %kept : tensor<f32>
  %2 = stablehlo.get_dimension_size %p, dim = 0 : (tensor<1xf32>) -> tensor<i32>
  %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<f32>
  %4 = stablehlo.broadcast_in_dim %eps, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %5 = stablehlo.multiply %g, %g : tensor<1xf32>
  %square = stablehlo.add %5, %4 : tensor<1xf32>
  %6 = stablehlo.broadcast_in_dim %kept, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %7 = stablehlo.broadcast_in_dim %new, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %8 = stablehlo.multiply %6, %v : tensor<1xf32>
  %9 = stablehlo.multiply %7, %square : tensor<1xf32>
  %v2 = stablehlo.add %8, %9 : tensor<1xf32>
  %10 = stablehlo.rsqrt %v2 : tensor<1xf32>
  %u = stablehlo.multiply %g, %10 : tensor<1xf32>
  %11 = stablehlo.multiply %u, %u : tensor<1xf32>
  %12 = stablehlo.reduce(%11 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %13 = stablehlo.divide %12, %3 : tensor<f32>
  %14 = stablehlo.sqrt %13 : tensor<f32>
  %15 = stablehlo.divide %14, %clip : tensor<f32>
  %16 = stablehlo.maximum %one, %15 : tensor<f32>
  %least = stablehlo.constant dense<1.0e-3> : tensor<f32>
  %17 = stablehlo.multiply %p, %p : tensor<1xf32>
  %18 = stablehlo.reduce(%17 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %19 = stablehlo.divide %18, %3 : tensor<f32>
  %20 = stablehlo.sqrt %19 : tensor<f32>
  %21 = stablehlo.maximum %least, %20 : tensor<f32>
  %22 = stablehlo.multiply %lr, %21 : tensor<f32>
  %23 = stablehlo.divide %22, %16 : tensor<f32>
  %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %25 = stablehlo.multiply %24, %u : tensor<1xf32>
  %26 = stablehlo.multiply %lr, %weight_decay : tensor<f32>
  %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %28 = stablehlo.multiply %27, %p : tensor<1xf32>
  %29 = stablehlo.add %25, %28 : tensor<1xf32>
  %p2 = stablehlo.subtract %p, %29 : tensor<1xf32>
  return %p2, %v2 : tensor<1xf32>, tensor<1xf32>
}
