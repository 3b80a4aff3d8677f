// Stochastic gradient descent with decoupled weight decay:
//   p' = p - lr * (g + weight_decay * p)
// Written for a parameter of one element: every value of that shape takes the
// shape of the parameter for which the function is instantiated.
func.func private @optimizer.sgd(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %weight_decay: tensor<f32> {dist.port = #dist.port<setting "weight_decay", default = 0.0>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %decay = stablehlo.broadcast_in_dim %weight_decay, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %decay, %p : tensor<1xf32>
  %1 = stablehlo.add %g, %0 : tensor<1xf32>
  %2 = stablehlo.multiply %rate, %1 : tensor<1xf32>
  %3 = stablehlo.subtract %p, %2 : tensor<1xf32>
  return %3 : tensor<1xf32>
}
