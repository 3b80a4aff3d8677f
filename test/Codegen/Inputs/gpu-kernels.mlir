func.func @softmax(%x: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<8x1024xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x1024xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8x1024xf32>
  %3 = stablehlo.divide %0, %2 : tensor<8x1024xf32>
  return %3 : tensor<8x1024xf32>
}
