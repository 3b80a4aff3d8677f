// Two blocks, each of which takes square roots by Newton's method, until the
// worst one of the batch is good.
func.func @main(%w0: tensor<4xf32> loc("params['blocks'][0]['w']"), %w1: tensor<4xf32> loc("params['blocks'][1]['w']"), %x: tensor<8x4xf32> loc("x")) -> tensor<8x4xf32> {
  %y0 = call @block(%w0, %x) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y1 = call @block(%w1, %y0) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y1 : tensor<8x4xf32>
}
func.func private @block(%w: tensor<4xf32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %v = stablehlo.multiply %x, %ws : tensor<8x4xf32>
  %square = stablehlo.multiply %v, %v : tensor<8x4xf32>
  %c = stablehlo.add %square, %one : tensor<8x4xf32>
  %0:2 = stablehlo.while(%n = %c, %y = %c) : tensor<8x4xf32>, tensor<8x4xf32>
  cond {
    %yy = stablehlo.multiply %y, %y : tensor<8x4xf32>
    %d = stablehlo.subtract %yy, %n : tensor<8x4xf32>
    %a = stablehlo.abs %d : tensor<8x4xf32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %worst = stablehlo.reduce(%a init: %none) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %bar = stablehlo.constant dense<1.0e-4> : tensor<f32>
    %p = stablehlo.compare GT, %worst, %bar, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
    %q = stablehlo.divide %n, %y : tensor<8x4xf32>
    %s = stablehlo.add %y, %q : tensor<8x4xf32>
    %z = stablehlo.multiply %s, %half : tensor<8x4xf32>
    stablehlo.return %n, %z : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return %0#1 : tensor<8x4xf32>
}
