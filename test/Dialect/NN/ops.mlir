// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// CHECK-LABEL: func.func @cross_entropy
// CHECK-NEXT: %[[L:.*]], %[[S:.*]] = nn.softmax_cross_entropy %{{.*}}, %{{.*}} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: nn.softmax_cross_entropy_grad %{{.*}}, %{{.*}}, %[[S]], %[[L]] : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
func.func @cross_entropy(%x: tensor<8x10xf32>, %t: tensor<8xi32>) -> tensor<8x10xf32> {
  %l, %s = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %d = nn.softmax_cross_entropy_grad %x, %t, %s, %l : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return %d : tensor<8x10xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK: %[[Y:.*]], %[[S:.*]] = nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 causal -1 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} offset %{{.*}} scale 1.000000e+00 causal 0 safe :
// CHECK: nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %[[S]], %[[S]], %[[Y]] bias %{{.*}} scale 1.250000e-01 safe :
func.func @attention(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %b: tensor<2x1x8x1xf32>, %o: tensor<i32>) -> tensor<2x3x8x4xf32> {
  %y, %s = nn.attention %q, %k, %v scale 0.125 causal -1
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  %y1, %s1 = nn.attention %q, %k, %v bias %b offset %o scale 1.0 causal 0 safe
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x1x8x1xf32>, tensor<i32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %s, %s, %y bias %b scale 0.125 safe
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8x6xf32>, tensor<2x1x8x1xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>)
  return %dq : tensor<2x3x8x4xf32>
}

// CHECK-LABEL: func.func @dropout
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [192, 64, 8, 1] <jax32 below 3865470566 factor 1.250000e+00> scale 1.250000e-01 :
// CHECK: nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [0, 0, 8, 1] <threefry from 18446744073709551615 factor 1.1111111640930176> scale 1.250000e-01 causal 0 :
func.func @dropout(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %s: tensor<2xui64>) -> tensor<2x3x8x4xf32> {
  %y, %l = nn.attention %q, %k, %v dropout %s strides [192, 64, 8, 1] <jax32 below 3865470566 factor 1.25> scale 0.125
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2xui64>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %l, %y dropout %s strides [0, 0, 8, 1] <threefry from 18446744073709551615 factor 1.1111111640930176> scale 0.125 causal 0
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8x6xf32>, tensor<2xui64>) -> (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>)
  return %dq : tensor<2x3x8x4xf32>
}

// CHECK-LABEL: func.func @norms
// CHECK-NEXT: %[[Y:.*]], %[[R:.*]] = nn.layer_norm %{{.*}} {dims = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<8xf32>)
// CHECK-NEXT: %[[D:.*]] = nn.layer_norm_grad %[[Y]], %[[R]], %{{.*}} {dims = 1 : i64} : (tensor<8x10xbf16>, tensor<8xf32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[Z:.*]], %[[S:.*]] = nn.rms_norm %[[D]] {dims = 2 : i64, epsilon = 0.000000e+00 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<f32>)
// CHECK-NEXT: nn.rms_norm_grad %[[Z]], %[[S]], %[[D]] {dims = 2 : i64} : (tensor<8x10xbf16>, tensor<f32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
func.func @norms(%x: tensor<8x10xbf16>) -> tensor<8x10xbf16> {
  %y, %r = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<8xf32>)
  %d = nn.layer_norm_grad %y, %r, %x {dims = 1 : i64} : (tensor<8x10xbf16>, tensor<8xf32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %z, %s = nn.rms_norm %d {dims = 2 : i64, epsilon = 0.0 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<f32>)
  %e = nn.rms_norm_grad %z, %s, %d {dims = 2 : i64} : (tensor<8x10xbf16>, tensor<f32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  return %e : tensor<8x10xbf16>
}

// CHECK-LABEL: func.func @batch_norm
// CHECK-NEXT: %[[Y:.*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %arg1, %arg1 {dim = 1 : i64, epsilon = 1.000000e-05 : f64, squares} : (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>)
// CHECK-NEXT: nn.batch_norm_grad %arg0, %arg1, %[[M]], %[[V]], %[[Y]] {dim = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10x4xbf16>) -> (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>)
func.func @batch_norm(%x: tensor<8x10x4xbf16>, %s: tensor<10xf32>) -> tensor<8x10x4xbf16> {
  %y, %m, %v = nn.batch_norm %x, %s, %s {dim = 1 : i64, epsilon = 1.0e-5 : f64, squares}
      : (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>)
  %d:3 = nn.batch_norm_grad %x, %s, %m, %v, %y {dim = 1 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10x4xbf16>) -> (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>)
  return %d#0 : tensor<8x10x4xbf16>
}

// CHECK-LABEL: func.func @rotary
// CHECK-NEXT: nn.rotary %arg0, %arg1, %arg1 : (tensor<8x10x4xbf16>, tensor<1x10x2xbf16>, tensor<1x10x2xbf16>) -> tensor<8x10x4xbf16>
func.func @rotary(%x: tensor<8x10x4xbf16>, %t: tensor<1x10x2xbf16>) -> tensor<8x10x4xbf16> {
  %y = nn.rotary %x, %t, %t : (tensor<8x10x4xbf16>, tensor<1x10x2xbf16>, tensor<1x10x2xbf16>) -> tensor<8x10x4xbf16>
  return %y : tensor<8x10x4xbf16>
}

// CHECK-LABEL: func.func @grouped_dot
// CHECK-NEXT: %[[Y:.*]] = nn.grouped_dot %arg0, %arg1, %arg2 batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
// CHECK-NEXT: nn.grouped_dot %arg0, %[[Y]], %arg2 first %arg3 batch [] x [] contracting [0] x [0] rows 0 : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<2xi32>, tensor<i32>) -> tensor<7x6x3xf32>
func.func @grouped_dot(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>, %f: tensor<i32>) -> tensor<7x6x3xf32> {
  %y = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  %g = nn.grouped_dot %x, %y, %s first %f batch [] x [] contracting [0] x [0] rows 0 : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<2xi32>, tensor<i32>) -> tensor<7x6x3xf32>
  return %g : tensor<7x6x3xf32>
}

// CHECK-LABEL: func.func @argsort
// CHECK-NEXT: nn.argsort %arg0, %arg1 dim 1 descending [false, true] : (tensor<8x10x4xbf16>, tensor<8x10x4xui8>) -> tensor<8x3x4xi32>
func.func @argsort(%x: tensor<8x10x4xbf16>, %y: tensor<8x10x4xui8>) -> tensor<8x3x4xi32> {
  %p = nn.argsort %x, %y dim 1 descending [false, true] : (tensor<8x10x4xbf16>, tensor<8x10x4xui8>) -> tensor<8x3x4xi32>
  return %p : tensor<8x3x4xi32>
}

// CHECK-LABEL: func.func @log_sum_exp
// CHECK-NEXT: %[[Y:.*]] = nn.log_sum_exp %arg0 {dims = array<i64: 0, 2>, safe} : (tensor<8x10x4xbf16>) -> tensor<10xf32>
// CHECK-NEXT: nn.log_sum_exp_grad %arg0, %[[Y]], %[[Y]] {dims = array<i64: 0, 2>} : (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>) -> tensor<8x10x4xbf16>
func.func @log_sum_exp(%x: tensor<8x10x4xbf16>) -> tensor<8x10x4xbf16> {
  %y = nn.log_sum_exp %x {dims = array<i64: 0, 2>, safe} : (tensor<8x10x4xbf16>) -> tensor<10xf32>
  %d = nn.log_sum_exp_grad %x, %y, %y {dims = array<i64: 0, 2>} : (tensor<8x10x4xbf16>, tensor<10xf32>, tensor<10xf32>) -> tensor<8x10x4xbf16>
  return %d : tensor<8x10x4xbf16>
}

// CHECK-LABEL: func.func @unary
// CHECK-NEXT: %[[A:.*]] = nn.gelu %arg0 : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[B:.*]] = nn.gelu %[[A]] {tanh} : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[C:.*]] = nn.gelu_grad %[[B]], %[[A]] {tanh} : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[D:.*]] = nn.silu %[[C]] : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[E:.*]] = nn.silu_grad %[[D]], %[[A]] : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[F:.*]] = nn.softmax %[[E]] {dim = 1 : i64} : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[G:.*]] = nn.softmax_grad %[[F]], %[[A]] {dim = 1 : i64} : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[H:.*]] = nn.log_softmax %[[G]] {dim = 0 : i64} : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: nn.log_softmax_grad %[[H]], %[[A]] {dim = 0 : i64} : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
func.func @unary(%x: tensor<8x10xbf16>) -> tensor<8x10xbf16> {
  %a = nn.gelu %x : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %b = nn.gelu %a {tanh} : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %c = nn.gelu_grad %b, %a {tanh} : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %d = nn.silu %c : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %e = nn.silu_grad %d, %a : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %f = nn.softmax %e {dim = 1 : i64} : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %g = nn.softmax_grad %f, %a {dim = 1 : i64} : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %h = nn.log_softmax %g {dim = 0 : i64} : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %i = nn.log_softmax_grad %h, %a {dim = 0 : i64} : (tensor<8x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  return %i : tensor<8x10xbf16>
}

// CHECK-LABEL: func.func @quantize
// CHECK-NEXT: nn.quantize %arg0, %arg1 : (tensor<8x10xbf16>, tensor<f32>) -> tensor<8x10xf8E5M2>
func.func @quantize(%x: tensor<8x10xbf16>, %scale: tensor<f32>) -> tensor<8x10xf8E5M2> {
  %q = nn.quantize %x, %scale : (tensor<8x10xbf16>, tensor<f32>) -> tensor<8x10xf8E5M2>
  return %q : tensor<8x10xf8E5M2>
}
