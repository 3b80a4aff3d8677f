// A scale and a shift of tokens: a loss without products of matrices.
module @scales {
  func.func public @main(%b: tensor<8xf32> loc("params['b']"), %w: tensor<8xf32> loc("params['w']"), %tokens: tensor<4x8xi32> loc("tokens"), %targets: tensor<4x8xi32> loc("targets")) -> tensor<f32> {
    %x = stablehlo.convert %tokens : (tensor<4x8xi32>) -> tensor<4x8xf32>
    %y = stablehlo.convert %targets : (tensor<4x8xi32>) -> tensor<4x8xf32>
    %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<4x8xf32>
    %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x8xf32>
    %4 = stablehlo.subtract %3, %y : tensor<4x8xf32>
    %5 = stablehlo.tanh %4 : tensor<4x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
    return %6 : tensor<f32>
  }
}
