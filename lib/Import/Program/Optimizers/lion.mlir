// Lion (Chen et al., 2302.06675, program 1), with decoupled weight decay:
//   p' = p - lr * (sign(beta1 m + (1 - beta1) g) + weight_decay * p)
//   m' = beta2 m + (1 - beta2) g
// Written for a parameter of one element (see sgd.mlir).
func.func private @optimizer.lion(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>},
    %beta1: tensor<f32> {dist.port = #dist.port<setting "beta1", default = 0.9>},
    %beta2: tensor<f32> {dist.port = #dist.port<setting "beta2", default = 0.99>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "m">}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %rest1 = stablehlo.subtract %one, %beta1 : tensor<f32>
  %rest2 = stablehlo.subtract %one, %beta2 : tensor<f32>
  %b1 = stablehlo.broadcast_in_dim %beta1, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %r1 = stablehlo.broadcast_in_dim %rest1, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %b2 = stablehlo.broadcast_in_dim %beta2, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %r2 = stablehlo.broadcast_in_dim %rest2, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %decay = stablehlo.broadcast_in_dim %weight_decay, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %b1, %m : tensor<1xf32>
  %1 = stablehlo.multiply %r1, %g : tensor<1xf32>
  %2 = stablehlo.add %0, %1 : tensor<1xf32>
  %3 = stablehlo.sign %2 : tensor<1xf32>
  %4 = stablehlo.multiply %b2, %m : tensor<1xf32>
  %5 = stablehlo.multiply %r2, %g : tensor<1xf32>
  %m2 = stablehlo.add %4, %5 : tensor<1xf32>
  %6 = stablehlo.multiply %decay, %p : tensor<1xf32>
  %7 = stablehlo.add %3, %6 : tensor<1xf32>
  %8 = stablehlo.multiply %rate, %7 : tensor<1xf32>
  %p2 = stablehlo.subtract %p, %8 : tensor<1xf32>
  return %p2, %m2 : tensor<1xf32>, tensor<1xf32>
}
