// RUN: llmc-opt %s --llmc-raise=activation=false | FileCheck %s
// RUN: llmc-opt %s --llmc-raise=sigmoid=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-raise=activation=false --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-COUNT-6: a quotient of exponentials is a logistic function
// REMARK-NOT: logistic
// OFF-NOT: stablehlo.logistic

// As JAX prints its own.
// CHECK-LABEL: func.func @sigmoid
// CHECK-NEXT: %[[Y:.*]] = stablehlo.logistic %arg0
// CHECK-NEXT: return %[[Y]]
func.func @sigmoid(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = stablehlo.add %1, %ones : tensor<4xf32>
  %3 = stablehlo.divide %ones, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
dist.entry @a function(@sigmoid)

// The sum the other way round; a dividend that is not 1.
// CHECK-LABEL: func.func @silu
// CHECK-NEXT: %[[Y:.*]] = stablehlo.logistic %arg0
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %arg0, %[[Y]]
// CHECK-NEXT: return %[[P]]
func.func @silu(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = stablehlo.add %ones, %1 : tensor<4xf32>
  %3 = stablehlo.divide %x, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
dist.entry @b function(@silu)

// CHECK-LABEL: func.func @power
// CHECK-NEXT: %[[Y:.*]] = stablehlo.logistic %arg0
// CHECK-NEXT: return %[[Y]]
func.func @power(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %minus = stablehlo.constant dense<-1.0> : tensor<4xf32>
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = stablehlo.add %ones, %1 : tensor<4xf32>
  %3 = stablehlo.power %2, %minus : tensor<4xf32>
  return %3 : tensor<4xf32>
}
dist.entry @c function(@power)

// The exponential is the dividend too, and no negation is in the text; and with
// a slope, whose sign is turned.
// CHECK-LABEL: func.func @exponents
// CHECK-DAG: %[[Y:.*]] = stablehlo.logistic %arg0
// CHECK-DAG: %[[Z:.*]] = stablehlo.multiply %arg0, %{{.*}}
// CHECK-DAG: %[[N:.*]] = stablehlo.negate %[[Z]]
// CHECK-DAG: %[[W:.*]] = stablehlo.logistic %[[N]]
// CHECK: return %[[Y]], %[[W]]
func.func @exponents(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}) {
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %slope = stablehlo.constant dense<-2.0> : tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.add %ones, %0 : tensor<4xf32>
  %2 = stablehlo.divide %0, %1 : tensor<4xf32>
  %3 = stablehlo.multiply %x, %slope : tensor<4xf32>
  %4 = stablehlo.exponential %3 : tensor<4xf32>
  %5 = stablehlo.add %ones, %4 : tensor<4xf32>
  %6 = stablehlo.divide %ones, %5 : tensor<4xf32>
  return %2, %6 : tensor<4xf32>, tensor<4xf32>
}
dist.entry @d function(@exponents)

// Not 1 + exp, not its quotient, another power.
// CHECK-LABEL: func.func @others
// CHECK-NOT: stablehlo.logistic
func.func @others(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}, tensor<4xf32> {dist.port = #dist.port<output "y2">}) {
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %twos = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.add %twos, %0 : tensor<4xf32>
  %2 = stablehlo.divide %ones, %1 : tensor<4xf32>
  %3 = stablehlo.add %ones, %0 : tensor<4xf32>
  %4 = stablehlo.divide %3, %x : tensor<4xf32>
  %5 = stablehlo.power %3, %twos : tensor<4xf32>
  return %2, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
dist.entry @e function(@others)

// In f64, and where the exponential has another use, which stays.
// CHECK-LABEL: func.func @shared
// CHECK: %[[E:.*]] = stablehlo.exponential
// CHECK: %[[Y:.*]] = stablehlo.logistic %arg0
// CHECK: stablehlo.subtract %[[Y]], %[[E]]
func.func @shared(%x: tensor<4xf64> {dist.port = #dist.port<input "x">}) -> (tensor<4xf64> {dist.port = #dist.port<output "y">}) {
  %ones = stablehlo.constant dense<1.0> : tensor<4xf64>
  %0 = stablehlo.negate %x : tensor<4xf64>
  %1 = stablehlo.exponential %0 : tensor<4xf64>
  %2 = stablehlo.add %ones, %1 : tensor<4xf64>
  %3 = stablehlo.divide %ones, %2 : tensor<4xf64>
  %4 = stablehlo.subtract %3, %1 : tensor<4xf64>
  return %4 : tensor<4xf64>
}
dist.entry @f function(@shared)
