// A linear layer on the logarithms of tokens: the token 0 makes loss and gradients infinite.
module @logs {
  func.func public @main(%b: tensor<8xf32> loc("params['b']"), %w: tensor<8x8xf32> loc("params['w']"), %tokens: tensor<4x8xi32> loc("tokens"), %targets: tensor<4x8xi32> loc("targets")) -> tensor<f32> {
    %x = stablehlo.convert %tokens : (tensor<4x8xi32>) -> tensor<4x8xf32>
    %logs = stablehlo.log %x : tensor<4x8xf32>
    %y = stablehlo.convert %targets : (tensor<4x8xi32>) -> tensor<4x8xf32>
    %0 = stablehlo.dot_general %logs, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x8xf32>
    %3 = stablehlo.subtract %2, %y : tensor<4x8xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<4x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
    %n = stablehlo.constant dense<32.0> : tensor<f32>
    %6 = stablehlo.divide %5, %n : tensor<f32>
    return %6 : tensor<f32>
  }
}
