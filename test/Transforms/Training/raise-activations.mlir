// RUN: llmc-opt %s --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-raise=activation=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.
// REMARK-COUNT-9: an operand times its normal distribution
// REMARK-COUNT-3: an operand times its logistic function
// REMARK: an operand times its normal distribution
// REMARK-NOT: activation

// As the import of ONNX writes it: half the operand, then the sum.
// CHECK-LABEL: func.func @erf
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @erf(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %u = stablehlo.multiply %x, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e0 function(@erf)

// The operand divided by the root of two, 1 in front, the half last.
// CHECK-LABEL: func.func @erf_divided
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @erf_divided(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %q = stablehlo.constant dense<1.41421354> : tensor<4x8xf32>
  %u = stablehlo.divide %x, %q : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %p = stablehlo.add %one, %e : tensor<4x8xf32>
  %xp = stablehlo.multiply %p, %x : tensor<4x8xf32>
  %r = stablehlo.multiply %xp, %h : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e1 function(@erf_divided)

// As JAX prints it.
// CHECK-LABEL: func.func @erfc
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @erfc(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %hx = stablehlo.multiply %h, %x : tensor<4x8xf32>
  %m = stablehlo.negate %x : tensor<4x8xf32>
  %u = stablehlo.multiply %m, %s : tensor<4x8xf32>
  %e = chlo.erfc %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %e : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e2 function(@erfc)

// Half by a quotient.
// CHECK-LABEL: func.func @half_by_quotient
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @half_by_quotient(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4x8xf32>
  %u = stablehlo.multiply %s, %x : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %xp = stablehlo.multiply %x, %p : tensor<4x8xf32>
  %r = stablehlo.divide %xp, %two : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e3 function(@half_by_quotient)

// The cube as products.
// CHECK-LABEL: func.func @tanh_products
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 {tanh} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @tanh_products(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %k = stablehlo.constant dense<0.797884583> : tensor<4x8xf32>
  %a = stablehlo.constant dense<4.471500e-02> : tensor<4x8xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<4x8xf32>
  %x3 = stablehlo.multiply %x2, %x : tensor<4x8xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<4x8xf32>
  %in = stablehlo.add %x, %ax : tensor<4x8xf32>
  %u = stablehlo.multiply %k, %in : tensor<4x8xf32>
  %t = stablehlo.tanh %u : tensor<4x8xf32>
  %p = stablehlo.add %one, %t : tensor<4x8xf32>
  %hp = stablehlo.multiply %h, %p : tensor<4x8xf32>
  %r = stablehlo.multiply %x, %hp : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e4 function(@tanh_products)

// As a power, and the cubic term first.
// CHECK-LABEL: func.func @tanh_power
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 {tanh} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @tanh_power(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %k = stablehlo.constant dense<0.797884583> : tensor<4x8xf32>
  %a = stablehlo.constant dense<4.471500e-02> : tensor<4x8xf32>
  %three = stablehlo.constant dense<3.0> : tensor<4x8xf32>
  %x3 = stablehlo.power %x, %three : tensor<4x8xf32>
  %ax = stablehlo.multiply %x3, %a : tensor<4x8xf32>
  %in = stablehlo.add %ax, %x : tensor<4x8xf32>
  %u = stablehlo.multiply %in, %k : tensor<4x8xf32>
  %t = stablehlo.tanh %u : tensor<4x8xf32>
  %p = stablehlo.add %one, %t : tensor<4x8xf32>
  %hx = stablehlo.multiply %h, %x : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e5 function(@tanh_power)

// As the square times the operand, whose factors stand elsewhere.
// CHECK-LABEL: func.func @tanh_square
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 {tanh} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @tanh_square(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %k = stablehlo.constant dense<0.797884583> : tensor<4x8xf32>
  %a = stablehlo.constant dense<4.471500e-02> : tensor<4x8xf32>
  %x2 = chlo.square %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %ax = stablehlo.multiply %a, %x : tensor<4x8xf32>
  %ax3 = stablehlo.multiply %ax, %x2 : tensor<4x8xf32>
  %in = stablehlo.add %x, %ax3 : tensor<4x8xf32>
  %u = stablehlo.multiply %in, %k : tensor<4x8xf32>
  %t = stablehlo.tanh %u : tensor<4x8xf32>
  %p = stablehlo.add %t, %one : tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e6 function(@tanh_square)

// With the operand in front of the bracket.
// CHECK-LABEL: func.func @tanh_factored
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %arg0 {tanh} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @tanh_factored(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %k = stablehlo.constant dense<0.797884583> : tensor<4x8xf32>
  %a = stablehlo.constant dense<4.471500e-02> : tensor<4x8xf32>
  %kx = stablehlo.multiply %x, %k : tensor<4x8xf32>
  %ax = stablehlo.multiply %a, %x : tensor<4x8xf32>
  %ax2 = stablehlo.multiply %ax, %x : tensor<4x8xf32>
  %in = stablehlo.add %one, %ax2 : tensor<4x8xf32>
  %u = stablehlo.multiply %kx, %in : tensor<4x8xf32>
  %t = stablehlo.tanh %u : tensor<4x8xf32>
  %p = stablehlo.add %t, %one : tensor<4x8xf32>
  %hx = stablehlo.multiply %x, %h : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e7 function(@tanh_factored)

// The numbers as bf16 rounds them.
// CHECK-LABEL: func.func @bf16
// CHECK: %[[Y:.*]] = nn.gelu %arg0 {tanh} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @bf16(%x: tensor<4x8xbf16> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xbf16> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xbf16>
  %k = stablehlo.constant dense<7.968750e-01> : tensor<4x8xbf16>
  %a = stablehlo.constant dense<4.467770e-02> : tensor<4x8xbf16>
  %x2 = stablehlo.multiply %x, %x : tensor<4x8xbf16>
  %x3 = stablehlo.multiply %x2, %x : tensor<4x8xbf16>
  %ax = stablehlo.multiply %a, %x3 : tensor<4x8xbf16>
  %in = stablehlo.add %x, %ax : tensor<4x8xbf16>
  %u = stablehlo.multiply %k, %in : tensor<4x8xbf16>
  %t = stablehlo.tanh %u : tensor<4x8xbf16>
  %p = stablehlo.add %one, %t : tensor<4x8xbf16>
  %hp = stablehlo.multiply %h, %p : tensor<4x8xbf16>
  %r = stablehlo.multiply %x, %hp : tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}
dist.entry @e8 function(@bf16)

// Between conversions.
// CHECK-LABEL: func.func @in_f32
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg0
// CHECK-NEXT: %[[S:.*]] = nn.silu %[[W]] : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[S]]
// CHECK-NEXT: return %[[N]]
func.func @in_f32(%x: tensor<4x8xbf16> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xbf16> {dist.port = #dist.port<output "y">}) {
  %w = stablehlo.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %l = stablehlo.logistic %w : tensor<4x8xf32>
  %p = stablehlo.multiply %w, %l : tensor<4x8xf32>
  %r = stablehlo.convert %p : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}
dist.entry @e9 function(@in_f32)

// The logistic function as an op.
// CHECK-LABEL: func.func @silu
// CHECK-NEXT: %[[Y:.*]] = nn.silu %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @silu(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %l = stablehlo.logistic %x : tensor<4x8xf32>
  %r = stablehlo.multiply %l, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e10 function(@silu)

// As a quotient.
// CHECK-LABEL: func.func @silu_quotient
// CHECK-NEXT: %[[Y:.*]] = nn.silu %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @silu_quotient(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %m = stablehlo.negate %x : tensor<4x8xf32>
  %e = stablehlo.exponential %m : tensor<4x8xf32>
  %p = stablehlo.add %one, %e : tensor<4x8xf32>
  %r = stablehlo.divide %x, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e11 function(@silu_quotient)

// Of a product, which is not taken apart.
// CHECK-LABEL: func.func @of_product
// CHECK: %[[P:.*]] = stablehlo.multiply
// CHECK-NEXT: %[[Y:.*]] = nn.gelu %[[P]] :
// CHECK-NEXT: return %[[Y]]
func.func @of_product(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %h = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %z = stablehlo.multiply %x, %x : tensor<4x8xf32>
  %u = stablehlo.multiply %z, %s : tensor<4x8xf32>
  %e = chlo.erf %u : tensor<4x8xf32> -> tensor<4x8xf32>
  %hx = stablehlo.multiply %z, %h : tensor<4x8xf32>
  %p = stablehlo.add %e, %one : tensor<4x8xf32>
  %r = stablehlo.multiply %hx, %p : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e12 function(@of_product)
