// SGD with heavy-ball momentum (Polyak 1964) and decoupled weight decay:
//   v' = momentum * v + g;  p' = p - lr * (v' + weight_decay * p)
// Written for a parameter of one element (see sgd.mlir).
func.func private @optimizer.momentum(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %v: tensor<1xf32> {dist.port = #dist.port<moment "v">},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %momentum: tensor<f32> {dist.port = #dist.port<setting "momentum", default = 0.9>},
    %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "v">}) {
  %keep = stablehlo.broadcast_in_dim %momentum, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %decay = stablehlo.broadcast_in_dim %weight_decay, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %keep, %v : tensor<1xf32>
  %v2 = stablehlo.add %0, %g : tensor<1xf32>
  %1 = stablehlo.multiply %decay, %p : tensor<1xf32>
  %2 = stablehlo.add %v2, %1 : tensor<1xf32>
  %3 = stablehlo.multiply %rate, %2 : tensor<1xf32>
  %p2 = stablehlo.subtract %p, %3 : tensor<1xf32>
  return %p2, %v2 : tensor<1xf32>, tensor<1xf32>
}
