func.func public @main(%b: tensor<4xf32> loc("params['b']"), %w: tensor<6x4x4xf32> loc("params['w']"), %x: tensor<2x4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%B = %b, %W = %w, %i = %zero, %c = %x) : tensor<4xf32>, tensor<6x4x4xf32>, tensor<i32>, tensor<2x4xf32>
  cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %box = stablehlo.dynamic_slice %W, %i, %none, %none, sizes = [1, 4, 4] : (tensor<6x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %bs = stablehlo.broadcast_in_dim %B, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %z = stablehlo.add %y, %bs : tensor<2x4xf32>
    %t = stablehlo.tanh %z : tensor<2x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %B, %W, %j, %t : tensor<4xf32>, tensor<6x4x4xf32>, tensor<i32>, tensor<2x4xf32>
  }
  %s = stablehlo.multiply %0#3, %0#3 : tensor<2x4xf32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %f) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %m = stablehlo.divide %r, %n : tensor<f32>
  return %m : tensor<f32>
}
