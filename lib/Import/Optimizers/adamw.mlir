// AdamW (Loshchilov and Hutter, 1711.05101, algorithm 2; t counts from 1):
//   m' = beta1 m + (1 - beta1) g;  v' = beta2 v + (1 - beta2) g^2
//   p' = p - lr * ((m' / (1 - beta1^t)) / (sqrt(v' / (1 - beta2^t)) + eps) + weight_decay * p)
// Written for a parameter of one element (see sgd.mlir).
func.func private @optimizer.adamw(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}, %v: tensor<1xf32> {dist.port = #dist.port<moment "v">},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>},
    %beta1: tensor<f32> {dist.port = #dist.port<setting "beta1", default = 0.9>},
    %beta2: tensor<f32> {dist.port = #dist.port<setting "beta2", default = 0.95>},
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
