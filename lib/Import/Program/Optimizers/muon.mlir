// Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"), with
// Nesterov's momentum and its bias correction; t counts from 1. The momentum of a matrix is
// made nearly orthogonal by five Newton-Schulz steps, on the smaller of its two sides:
//   m' = momentum m + (1 - momentum) g
//   h  = momentum m' / (1 - momentum^(t+1)) + (1 - momentum) g / (1 - momentum^t)
//   x0 = h / (|h| + eps);  a = x x^T;  x' = 3.4445 x + (-4.775 a + 2.0315 a a) x
//   p' = p - lr * (sqrt(max(1, columns / rows)) * x5 + weight_decay * p)
// Sizes of the first two functions stand for those of the parameter (`dist.sizes`): wide
// matrices have at most as many rows as columns. Parameters that are no matrices are
// AdamW's (see adamw.mlir).
func.func private @optimizer.muon.wide(
    %p: tensor<2x3xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2x3xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<2x3xf32> {dist.port = #dist.port<moment "m">}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>},
    %momentum: tensor<f32> {dist.port = #dist.port<setting "momentum", default = 0.95>},
    %eps: tensor<f32> {dist.port = #dist.port<setting "eps", default = 1.0e-8>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<2x3xf32> {dist.port = #dist.port<parameter>}, tensor<2x3xf32> {dist.port = #dist.port<moment "m">})
    attributes {dist.sizes = "wide"} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rest = stablehlo.subtract %one, %momentum : tensor<f32>
  %kept = stablehlo.broadcast_in_dim %momentum, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %new = stablehlo.broadcast_in_dim %rest, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %0 = stablehlo.multiply %kept, %m : tensor<2x3xf32>
  %1 = stablehlo.multiply %new, %g : tensor<2x3xf32>
  %m2 = stablehlo.add %0, %1 : tensor<2x3xf32>
  %2 = stablehlo.add %t, %one : tensor<f32>
  %3 = stablehlo.power %momentum, %2 : tensor<f32>
  %4 = stablehlo.subtract %one, %3 : tensor<f32>
  %5 = stablehlo.power %momentum, %t : tensor<f32>
  %6 = stablehlo.subtract %one, %5 : tensor<f32>
  %7 = stablehlo.divide %momentum, %4 : tensor<f32>
  %8 = stablehlo.divide %rest, %6 : tensor<f32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %11 = stablehlo.multiply %9, %m2 : tensor<2x3xf32>
  %12 = stablehlo.multiply %10, %g : tensor<2x3xf32>
  %ahead = stablehlo.add %11, %12 : tensor<2x3xf32>
  %13 = stablehlo.multiply %ahead, %ahead : tensor<2x3xf32>
  %14 = stablehlo.reduce(%13 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %15 = stablehlo.sqrt %14 : tensor<f32>
  %16 = stablehlo.add %15, %eps : tensor<f32>
  %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %x0 = stablehlo.divide %ahead, %17 : tensor<2x3xf32>
  %c0 = stablehlo.constant dense<3.4445> : tensor<2x3xf32>
  %c1 = stablehlo.constant dense<-4.775> : tensor<2x2xf32>
  %c2 = stablehlo.constant dense<2.0315> : tensor<2x2xf32>
  %a0 = stablehlo.dot_general %x0, %x0, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %18 = stablehlo.dot_general %a0, %a0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %19 = stablehlo.multiply %c1, %a0 : tensor<2x2xf32>
  %20 = stablehlo.multiply %c2, %18 : tensor<2x2xf32>
  %21 = stablehlo.add %19, %20 : tensor<2x2xf32>
  %22 = stablehlo.dot_general %21, %x0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = stablehlo.multiply %c0, %x0 : tensor<2x3xf32>
  %x1 = stablehlo.add %23, %22 : tensor<2x3xf32>
  %a1 = stablehlo.dot_general %x1, %x1, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %24 = stablehlo.dot_general %a1, %a1, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %25 = stablehlo.multiply %c1, %a1 : tensor<2x2xf32>
  %26 = stablehlo.multiply %c2, %24 : tensor<2x2xf32>
  %27 = stablehlo.add %25, %26 : tensor<2x2xf32>
  %28 = stablehlo.dot_general %27, %x1, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %29 = stablehlo.multiply %c0, %x1 : tensor<2x3xf32>
  %x2 = stablehlo.add %29, %28 : tensor<2x3xf32>
  %a2 = stablehlo.dot_general %x2, %x2, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %30 = stablehlo.dot_general %a2, %a2, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %31 = stablehlo.multiply %c1, %a2 : tensor<2x2xf32>
  %32 = stablehlo.multiply %c2, %30 : tensor<2x2xf32>
  %33 = stablehlo.add %31, %32 : tensor<2x2xf32>
  %34 = stablehlo.dot_general %33, %x2, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %35 = stablehlo.multiply %c0, %x2 : tensor<2x3xf32>
  %x3 = stablehlo.add %35, %34 : tensor<2x3xf32>
  %a3 = stablehlo.dot_general %x3, %x3, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %36 = stablehlo.dot_general %a3, %a3, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %37 = stablehlo.multiply %c1, %a3 : tensor<2x2xf32>
  %38 = stablehlo.multiply %c2, %36 : tensor<2x2xf32>
  %39 = stablehlo.add %37, %38 : tensor<2x2xf32>
  %40 = stablehlo.dot_general %39, %x3, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %41 = stablehlo.multiply %c0, %x3 : tensor<2x3xf32>
  %x4 = stablehlo.add %41, %40 : tensor<2x3xf32>
  %a4 = stablehlo.dot_general %x4, %x4, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %42 = stablehlo.dot_general %a4, %a4, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %43 = stablehlo.multiply %c1, %a4 : tensor<2x2xf32>
  %44 = stablehlo.multiply %c2, %42 : tensor<2x2xf32>
  %45 = stablehlo.add %43, %44 : tensor<2x2xf32>
  %46 = stablehlo.dot_general %45, %x4, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %47 = stablehlo.multiply %c0, %x4 : tensor<2x3xf32>
  %x5 = stablehlo.add %47, %46 : tensor<2x3xf32>
  %48 = stablehlo.get_dimension_size %p, dim = 0 : (tensor<2x3xf32>) -> tensor<i32>
  %49 = stablehlo.convert %48 : (tensor<i32>) -> tensor<f32>
  %50 = stablehlo.get_dimension_size %p, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %51 = stablehlo.convert %50 : (tensor<i32>) -> tensor<f32>
  %52 = stablehlo.divide %51, %49 : tensor<f32>
  %53 = stablehlo.sqrt %52 : tensor<f32>
  %54 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %55 = stablehlo.multiply %54, %x5 : tensor<2x3xf32>
  %56 = stablehlo.broadcast_in_dim %weight_decay, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %57 = stablehlo.multiply %56, %p : tensor<2x3xf32>
  %58 = stablehlo.add %55, %57 : tensor<2x3xf32>
  %59 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %60 = stablehlo.multiply %59, %58 : tensor<2x3xf32>
  %p2 = stablehlo.subtract %p, %60 : tensor<2x3xf32>
  return %p2, %m2 : tensor<2x3xf32>, tensor<2x3xf32>
}

func.func private @optimizer.muon.tall(
    %p: tensor<3x2xf32> {dist.port = #dist.port<parameter>}, %g: tensor<3x2xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<3x2xf32> {dist.port = #dist.port<moment "m">}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>},
    %momentum: tensor<f32> {dist.port = #dist.port<setting "momentum", default = 0.95>},
    %eps: tensor<f32> {dist.port = #dist.port<setting "eps", default = 1.0e-8>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<3x2xf32> {dist.port = #dist.port<parameter>}, tensor<3x2xf32> {dist.port = #dist.port<moment "m">})
    attributes {dist.sizes = "tall"} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rest = stablehlo.subtract %one, %momentum : tensor<f32>
  %kept = stablehlo.broadcast_in_dim %momentum, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %new = stablehlo.broadcast_in_dim %rest, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %0 = stablehlo.multiply %kept, %m : tensor<3x2xf32>
  %1 = stablehlo.multiply %new, %g : tensor<3x2xf32>
  %m2 = stablehlo.add %0, %1 : tensor<3x2xf32>
  %2 = stablehlo.add %t, %one : tensor<f32>
  %3 = stablehlo.power %momentum, %2 : tensor<f32>
  %4 = stablehlo.subtract %one, %3 : tensor<f32>
  %5 = stablehlo.power %momentum, %t : tensor<f32>
  %6 = stablehlo.subtract %one, %5 : tensor<f32>
  %7 = stablehlo.divide %momentum, %4 : tensor<f32>
  %8 = stablehlo.divide %rest, %6 : tensor<f32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %11 = stablehlo.multiply %9, %m2 : tensor<3x2xf32>
  %12 = stablehlo.multiply %10, %g : tensor<3x2xf32>
  %ahead = stablehlo.add %11, %12 : tensor<3x2xf32>
  %13 = stablehlo.multiply %ahead, %ahead : tensor<3x2xf32>
  %14 = stablehlo.reduce(%13 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
  %15 = stablehlo.sqrt %14 : tensor<f32>
  %16 = stablehlo.add %15, %eps : tensor<f32>
  %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %x0 = stablehlo.divide %ahead, %17 : tensor<3x2xf32>
  %c0 = stablehlo.constant dense<3.4445> : tensor<3x2xf32>
  %c1 = stablehlo.constant dense<-4.775> : tensor<2x2xf32>
  %c2 = stablehlo.constant dense<2.0315> : tensor<2x2xf32>
  %a0 = stablehlo.dot_general %x0, %x0, contracting_dims = [0] x [0] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %18 = stablehlo.dot_general %a0, %a0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %19 = stablehlo.multiply %c1, %a0 : tensor<2x2xf32>
  %20 = stablehlo.multiply %c2, %18 : tensor<2x2xf32>
  %21 = stablehlo.add %19, %20 : tensor<2x2xf32>
  %22 = stablehlo.dot_general %x0, %21, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %23 = stablehlo.multiply %c0, %x0 : tensor<3x2xf32>
  %x1 = stablehlo.add %23, %22 : tensor<3x2xf32>
  %a1 = stablehlo.dot_general %x1, %x1, contracting_dims = [0] x [0] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %24 = stablehlo.dot_general %a1, %a1, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %25 = stablehlo.multiply %c1, %a1 : tensor<2x2xf32>
  %26 = stablehlo.multiply %c2, %24 : tensor<2x2xf32>
  %27 = stablehlo.add %25, %26 : tensor<2x2xf32>
  %28 = stablehlo.dot_general %x1, %27, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %29 = stablehlo.multiply %c0, %x1 : tensor<3x2xf32>
  %x2 = stablehlo.add %29, %28 : tensor<3x2xf32>
  %a2 = stablehlo.dot_general %x2, %x2, contracting_dims = [0] x [0] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %30 = stablehlo.dot_general %a2, %a2, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %31 = stablehlo.multiply %c1, %a2 : tensor<2x2xf32>
  %32 = stablehlo.multiply %c2, %30 : tensor<2x2xf32>
  %33 = stablehlo.add %31, %32 : tensor<2x2xf32>
  %34 = stablehlo.dot_general %x2, %33, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %35 = stablehlo.multiply %c0, %x2 : tensor<3x2xf32>
  %x3 = stablehlo.add %35, %34 : tensor<3x2xf32>
  %a3 = stablehlo.dot_general %x3, %x3, contracting_dims = [0] x [0] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %36 = stablehlo.dot_general %a3, %a3, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %37 = stablehlo.multiply %c1, %a3 : tensor<2x2xf32>
  %38 = stablehlo.multiply %c2, %36 : tensor<2x2xf32>
  %39 = stablehlo.add %37, %38 : tensor<2x2xf32>
  %40 = stablehlo.dot_general %x3, %39, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %41 = stablehlo.multiply %c0, %x3 : tensor<3x2xf32>
  %x4 = stablehlo.add %41, %40 : tensor<3x2xf32>
  %a4 = stablehlo.dot_general %x4, %x4, contracting_dims = [0] x [0] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %42 = stablehlo.dot_general %a4, %a4, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %43 = stablehlo.multiply %c1, %a4 : tensor<2x2xf32>
  %44 = stablehlo.multiply %c2, %42 : tensor<2x2xf32>
  %45 = stablehlo.add %43, %44 : tensor<2x2xf32>
  %46 = stablehlo.dot_general %x4, %45, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %47 = stablehlo.multiply %c0, %x4 : tensor<3x2xf32>
  %x5 = stablehlo.add %47, %46 : tensor<3x2xf32>
  %48 = stablehlo.broadcast_in_dim %weight_decay, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %49 = stablehlo.multiply %48, %p : tensor<3x2xf32>
  %50 = stablehlo.add %x5, %49 : tensor<3x2xf32>
  %51 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %52 = stablehlo.multiply %51, %50 : tensor<3x2xf32>
  %p2 = stablehlo.subtract %p, %52 : tensor<3x2xf32>
  return %p2, %m2 : tensor<3x2xf32>, tensor<3x2xf32>
}

func.func private @optimizer.muon(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}, %v: tensor<1xf32> {dist.port = #dist.port<moment "v">},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>},
    %beta1: tensor<f32> {dist.port = #dist.port<setting "beta1", default = 0.9>},
    %beta2: tensor<f32> {dist.port = #dist.port<setting "beta2", default = 0.999>},
    %eps: tensor<f32> {dist.port = #dist.port<setting "eps", default = 1.0e-8>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "m">}, tensor<1xf32> {dist.port = #dist.port<moment "v">}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %rest1 = stablehlo.subtract %one, %beta1 : tensor<f32>
  %rest2 = stablehlo.subtract %one, %beta2 : tensor<f32>
  %power1 = stablehlo.power %beta1, %t : tensor<f32>
  %power2 = stablehlo.power %beta2, %t : tensor<f32>
  %bias1 = stablehlo.subtract %one, %power1 : tensor<f32>
  %bias2 = stablehlo.subtract %one, %power2 : tensor<f32>
  %b1 = stablehlo.broadcast_in_dim %beta1, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %b2 = stablehlo.broadcast_in_dim %beta2, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %r1 = stablehlo.broadcast_in_dim %rest1, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %r2 = stablehlo.broadcast_in_dim %rest2, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %c1 = stablehlo.broadcast_in_dim %bias1, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %c2 = stablehlo.broadcast_in_dim %bias2, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %epsilon = stablehlo.broadcast_in_dim %eps, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %decay = stablehlo.broadcast_in_dim %weight_decay, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %b1, %m : tensor<1xf32>
  %1 = stablehlo.multiply %r1, %g : tensor<1xf32>
  %m2 = stablehlo.add %0, %1 : tensor<1xf32>
  %2 = stablehlo.multiply %g, %g : tensor<1xf32>
  %3 = stablehlo.multiply %b2, %v : tensor<1xf32>
  %4 = stablehlo.multiply %r2, %2 : tensor<1xf32>
  %v2 = stablehlo.add %3, %4 : tensor<1xf32>
  %mean = stablehlo.divide %m2, %c1 : tensor<1xf32>
  %square = stablehlo.divide %v2, %c2 : tensor<1xf32>
  %root = stablehlo.sqrt %square : tensor<1xf32>
  %5 = stablehlo.add %root, %epsilon : tensor<1xf32>
  %6 = stablehlo.divide %mean, %5 : tensor<1xf32>
  %7 = stablehlo.multiply %decay, %p : tensor<1xf32>
  %8 = stablehlo.add %6, %7 : tensor<1xf32>
  %9 = stablehlo.multiply %rate, %8 : tensor<1xf32>
  %p2 = stablehlo.subtract %p, %9 : tensor<1xf32>
  return %p2, %m2, %v2 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
}
