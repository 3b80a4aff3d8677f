// RUN: llmc compile %s --compile-to=import -o - --set data.inputs.x=0 | FileCheck %s

// Few integers of constants are computed, also where floats go into them; what
// only they read is gone. Floats, many integers, and what comes from an argument
// stay as they are.
// CHECK: func.func public @{{.*}}(%[[X:.*]]: tensor<4xi32>
// CHECK-NEXT: %[[SIX:.*]] = stablehlo.constant dense<6> : tensor<i32>
// CHECK-NEXT: %[[TRUE:.*]] = stablehlo.constant dense<true> : tensor<i1>
// CHECK-NEXT: %[[LIST:.*]] = stablehlo.constant dense<[3, 2, 1]> : tensor<3xui8>
// CHECK-NEXT: %[[F:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[G:.*]] = stablehlo.multiply %[[F]], %[[F]] : tensor<f32>
// CHECK-NEXT: %[[M:.*]] = stablehlo.constant dense<1> : tensor<65xi32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.add %[[M]], %[[M]] : tensor<65xi32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[X]], %[[X]] : tensor<4xi32>
// CHECK-NEXT: return %[[SIX]], %[[TRUE]], %[[LIST]], %[[G]], %[[N]], %[[A]]

func.func public @main(%x: tensor<4xi32> loc("x")) -> (tensor<i32>, tensor<i1>, tensor<3xui8>, tensor<f32>, tensor<65xi32>, tensor<4xi32>) {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %six = stablehlo.multiply %two, %three : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %less = stablehlo.compare LE, %one, %one, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %list = stablehlo.constant dense<[1, 2, 3]> : tensor<3xui8>
  %reversed = stablehlo.reverse %list, dims = [0] : tensor<3xui8>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %product = stablehlo.multiply %half, %half : tensor<f32>
  %many = stablehlo.constant dense<1> : tensor<65xi32>
  %sums = stablehlo.add %many, %many : tensor<65xi32>
  %doubled = stablehlo.add %x, %x : tensor<4xi32>
  return %six, %less, %reversed, %product, %sums, %doubled : tensor<i32>, tensor<i1>, tensor<3xui8>, tensor<f32>, tensor<65xi32>, tensor<4xi32>
}
