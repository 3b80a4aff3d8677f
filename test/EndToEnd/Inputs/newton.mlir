// Square roots by Newton's method, until the worst one of the batch is good: how many trips that takes, the data says.
func.func @main(%w: tensor<4xf32> loc("params['w']"), %b: tensor<f32> loc("params['b']"), %x: tensor<8x4xf32> loc("x")) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %square = stablehlo.multiply %x, %x : tensor<8x4xf32>
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
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %bs = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %0#1, %ws : tensor<8x4xf32>
  %z = stablehlo.add %y, %bs : tensor<8x4xf32>
  %e = stablehlo.subtract %z, %x : tensor<8x4xf32>
  %s = stablehlo.multiply %e, %e : tensor<8x4xf32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %f) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant dense<32.0> : tensor<f32>
  %m = stablehlo.divide %r, %count : tensor<f32>
  return %m : tensor<f32>
}
