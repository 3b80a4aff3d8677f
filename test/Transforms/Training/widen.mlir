// RUN: llmc-opt %s --llmc-widen=force | FileCheck %s
// RUN: llmc-opt %s --llmc-widen | FileCheck %s --check-prefix=KEEP
// KEEP-NOT: f64

// States, hyper values and everything computed change; files keep their type.
// CHECK: dist.hyper @lr : tensor<f64> = <constant, base = 1.000000e-01>
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
// CHECK: dist.state @w : tensor<2xf64> {role = parameter, source = #dist.file<"w.safetensors", 8, 8, f32>}
dist.state @w : tensor<2xf32> {role = parameter, source = #dist.file<"w.safetensors", 8, 8>}
// CHECK: dist.state @h : tensor<2xf64> {role = parameter, source = #dist.draw<ones>}
dist.state @h : tensor<2xbf16> {role = parameter, source = #dist.draw<ones>}
// CHECK: dist.state @n : tensor<i32>
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
// CHECK: func.func @f(%{{.*}}: tensor<2xf64> {{.*}}, %{{.*}}: tensor<2xf64> {{.*}}) -> (tensor<f64> {{.*}})
func.func @f(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}, %h: tensor<2xbf16> {dist.port = #dist.port<parameter @h>}) -> (tensor<f32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.constant dense<0.10000000149011612> : tensor<2xf64>
  %c = stablehlo.constant dense<0.1> : tensor<2xf32>
  // CHECK: stablehlo.constant dense<[1.000000e+00, 0.30000001192092896]> : tensor<2xf64>
  %d = stablehlo.constant dense<[1.0, 0.3]> : tensor<2xf32>
  %e = stablehlo.convert %h : (tensor<2xbf16>) -> tensor<2xf32>
  %0 = stablehlo.add %c, %d : tensor<2xf32>
  %1 = stablehlo.add %0, %w : tensor<2xf32>
  %2 = stablehlo.add %1, %e : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // The types inside of regions change, too.
  // CHECK: stablehlo.reduce{{.*}} (tensor<2xf64>, tensor<f64>) -> tensor<f64>
  %r = stablehlo.reduce(%2 init: %zero) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
  return %r : tensor<f32>
}
dist.entry @forward function(@f)

// An op on the bits of its floats keeps its types, between conversions.
// CHECK-LABEL: func.func @bits
// CHECK: %[[NARROW:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %[[WIDE:.*]] = stablehlo.convert %[[NARROW]] : (tensor<2xf32>) -> tensor<2xf64>
// CHECK-NEXT: stablehlo.add %[[WIDE]], %{{.*}} : tensor<2xf64>
// CHECK: %[[BACK:.*]] = stablehlo.convert %{{.*}} : (tensor<2xf64>) -> tensor<2xf32>
// CHECK-NEXT: stablehlo.bitcast_convert %[[BACK]] : (tensor<2xf32>) -> tensor<2xui32>
func.func @bits(%bits: tensor<2xui32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xui32>) {
  %0 = stablehlo.bitcast_convert %bits : (tensor<2xui32>) -> tensor<2xf32>
  %1 = stablehlo.add %0, %x : tensor<2xf32>
  %2 = stablehlo.bitcast_convert %1 : (tensor<2xf32>) -> tensor<2xui32>
  return %1, %2 : tensor<2xf32>, tensor<2xui32>
}
