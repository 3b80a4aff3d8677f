// A loss of a least, a greatest element and a product along the dim that `w` splits, of a mean, and of a weight `v` that
// rests in parts over all axes: collectives of each kind, padded over 4. Samples are bytes of a corpus.
#x = loc("tokens")
#t = loc("targets")
#w = loc("params['w']")
#v = loc("params['v']")
module @kinds {
  func.func public @main(%v: tensor<8x6xf32> loc(#v), %w: tensor<8x6xf32> loc(#w), %tokens: tensor<8x8xi32> loc(#x), %targets: tensor<8x8xi32> loc(#t)) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %most = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %scale = stablehlo.constant dense<256.0> : tensor<8x8xf32>
    %five = stablehlo.constant dense<5.0> : tensor<8x6xf32>
    %size = stablehlo.constant dense<8.0> : tensor<f32>
    %0 = stablehlo.convert %tokens : (tensor<8x8xi32>) -> tensor<8x8xf32>
    %x = stablehlo.divide %0, %scale : tensor<8x8xf32>
    %1 = stablehlo.convert %targets : (tensor<8x8xi32>) -> tensor<8x8xf32>
    %2 = stablehlo.divide %1, %scale : tensor<8x8xf32>
    %t = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %z = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %below = stablehlo.subtract %y, %five : tensor<8x6xf32>
    %above = stablehlo.add %y, %five : tensor<8x6xf32>
    %hi = stablehlo.reduce(%below init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %lo = stablehlo.reduce(%above init: %most) applies stablehlo.minimum across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.multiply %hi, %lo : tensor<8xf32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %tenth = stablehlo.constant dense<0.1> : tensor<8x6xf32>
    %ones = stablehlo.constant dense<1.0> : tensor<8x6xf32>
    %8 = stablehlo.multiply %y, %tenth : tensor<8x6xf32>
    %9 = stablehlo.add %8, %ones : tensor<8x6xf32>
    %all = stablehlo.reduce(%9 init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %10 = stablehlo.multiply %sum, %all : tensor<8xf32>
    %4 = stablehlo.add %3, %10 : tensor<8xf32>
    %5 = stablehlo.subtract %4, %t : tensor<8xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<8xf32>
    %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %loss = stablehlo.divide %7, %size : tensor<f32>
    return %loss : tensor<f32>
  }
}
