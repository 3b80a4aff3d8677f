// Five layers of a recurrence over six times, which each layer hands on to the
// next one. A loop stands in each trip of another one.
func.func public @main(%u: tensor<5x4x4xf32> loc("params['u']"), %b: tensor<5x4xf32> loc("params['b']"), %x: tensor<2x4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = stablehlo.constant dense<2.0> : tensor<f32>
  %start = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<6x2x4xf32>
  %0:4 = stablehlo.while(%i = %zero, %us = %u, %bs = %b, %h = %start) : tensor<i32>, tensor<5x4x4xf32>, tensor<5x4xf32>, tensor<6x2x4xf32>
  cond {
    %end = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %w1 = stablehlo.dynamic_slice %us, %i, %c0, %c0, sizes = [1, 4, 4] : (tensor<5x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %w = stablehlo.reshape %w1 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %r1 = stablehlo.dynamic_slice %bs, %i, %c0, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %r = stablehlo.reshape %r1 : (tensor<1x4xf32>) -> tensor<4xf32>
    %before = stablehlo.constant dense<0.0> : tensor<2x4xf32>
    %empty = stablehlo.constant dense<0.0> : tensor<6x2x4xf32>
    %1:4 = stablehlo.while(%k = %c0, %hs = %h, %s = %before, %all = %empty) : tensor<i32>, tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<6x2x4xf32>
    cond {
      %end = stablehlo.constant dense<6> : tensor<i32>
      %p = stablehlo.compare LT, %k, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %v1 = stablehlo.dynamic_slice %hs, %k, %c0, %c0, sizes = [1, 2, 4] : (tensor<6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %v = stablehlo.reshape %v1 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %a = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %bias = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
      %c = stablehlo.add %a, %bias : tensor<2x4xf32>
      %d = stablehlo.add %c, %v : tensor<2x4xf32>
      %t = stablehlo.tanh %d : tensor<2x4xf32>
      %t1 = stablehlo.reshape %t : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %more = stablehlo.dynamic_update_slice %all, %t1, %k, %c0, %c0 : (tensor<6x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2x4xf32>
      %l = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %l, %hs, %t, %more : tensor<i32>, tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<6x2x4xf32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %us, %bs, %1#3 : tensor<i32>, tensor<5x4x4xf32>, tensor<5x4xf32>, tensor<6x2x4xf32>
  }
  %y = stablehlo.multiply %0#3, %0#3 : tensor<6x2x4xf32>
  %sum = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<6x2x4xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.divide %sum, %rows : tensor<f32>
  return %loss : tensor<f32>
}
