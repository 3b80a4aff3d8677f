// RUN: llmc-opt %s --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: no activation: 1 is not added to it, or it has other uses
// REMARK: no activation: 1 is not added to it, or it has other uses
// REMARK: no activation: it is not multiplied by half the operand, or has other uses
// REMARK: no activation: it is not multiplied by half the operand, or has other uses
// REMARK: no activation: it is not multiplied by half the operand, or has other uses
// REMARK: no activation: it has other uses
// REMARK-NOT: activation

// Another number in the erf.
// CHECK-LABEL: func.func @other_slope
// CHECK-NOT: nn.
// CHECK: return
func.func @other_slope(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %q = stablehlo.constant dense<0.70> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %q : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e13 function(@other_slope)

// The erfc of the operand itself.
// CHECK-LABEL: func.func @positive_erfc
// CHECK-NOT: nn.
// CHECK: return
func.func @positive_erfc(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erfc %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %e : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e14 function(@positive_erfc)

// A square in place of the cube.
// CHECK-LABEL: func.func @other_cube
// CHECK-NOT: nn.
// CHECK: return
func.func @other_cube(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %k = stablehlo.constant dense<0.797884583> : tensor<4x8xf32>
  %a = stablehlo.constant dense<4.471500e-02> : tensor<4x8xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<4x8xf32>
  %ax = stablehlo.multiply %a, %x2 : tensor<4x8xf32>
  %in = stablehlo.add %x, %ax : tensor<4x8xf32>
  %u = stablehlo.multiply %k, %in : tensor<4x8xf32>
  %t = stablehlo.tanh %u : tensor<4x8xf32>
  %p = stablehlo.add %one, %t : tensor<4x8xf32>
  %hp = stablehlo.multiply %h, %p : tensor<4x8xf32>
  %r = stablehlo.multiply %x, %hp : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e15 function(@other_cube)

// One minus the erf.
// CHECK-LABEL: func.func @difference
// CHECK-NOT: nn.
// CHECK: return
func.func @difference(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %p = stablehlo.subtract %one, %e : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e16 function(@difference)

// The erf is read by something else.
// CHECK-LABEL: func.func @erf_used
// CHECK-NOT: nn.
// CHECK: return
func.func @erf_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %g = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  %r = stablehlo.add %g, %e : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e17 function(@erf_used)

// The sum is read by something else.
// CHECK-LABEL: func.func @sum_used
// CHECK-NOT: nn.
// CHECK: return
func.func @sum_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %z = stablehlo.add %p, %x : tensor<4x8xf32>
  %g = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  %r = stablehlo.add %g, %z : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e18 function(@sum_used)

// Half of another operand.
// CHECK-LABEL: func.func @other_operand
// CHECK-NOT: nn.
// CHECK: return
func.func @other_operand(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %o, %h : tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e19 function(@other_operand)

// Without the half.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: nn.
// CHECK: return
func.func @whole(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %r = stablehlo.multiply %x, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e20 function(@whole)

// The logistic function of another operand: nothing looks like a silu.
// CHECK-LABEL: func.func @gate
// CHECK-NOT: nn.
// CHECK: return
func.func @gate(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %l = stablehlo.logistic %o : tensor<4x8xf32>
  %r = stablehlo.multiply %l, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e21 function(@gate)

// The logistic function is read by something else.
// CHECK-LABEL: func.func @logistic_used
// CHECK-NOT: nn.
// CHECK: return
func.func @logistic_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %l = stablehlo.logistic %x : tensor<4x8xf32>
  %g = stablehlo.multiply %l, %x : tensor<4x8xf32>
  %r = stablehlo.add %g, %l : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e22 function(@logistic_used)
