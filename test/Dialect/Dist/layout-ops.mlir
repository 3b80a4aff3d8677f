// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// Changes of layout as values.

dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"

#b0 = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>
#p0 = #dist.layout<@mesh, [{"data"}, {}], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
#t0 = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
#g0 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0]}>
#g1 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1]}>
#g = #dist.layout<@mesh, [{}, {}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
#g0q = #dist.layout<@mesh, [{}, {}], at = {"data" = [1], "pipe" = [0]}>
#g1q = #dist.layout<@mesh, [{}, {}], at = {"data" = [1], "pipe" = [1]}>
#gq = #dist.layout<@mesh, [{}, {}], partial = [sum{"pipe"}], at = {"data" = [1], "pipe" = [0, 1]}>
#dt = #dist.layout<@mesh, [{}, {"data", "tensor"}:[3:4, 1]]>
#dp = #dist.layout<@mesh, [{}, {"data"}:[3:4, 1]], partial = [sum{"tensor"}]>
#prod = #dist.layout<@mesh, [{"data"}, {}], partial = [product{"tensor"}], at = {"pipe" = [0]}>

// CHECK-LABEL: func.func @constraint
func.func @constraint(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: dist.constraint %{{.*}} to #{{.*}} : tensor<8x4xf32>
  %y = dist.constraint %x to <@mesh, [{"data", ?}, {}p1]> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @reshard
func.func @reshard(%x: tensor<8x4xf32, #p0>) -> tensor<8x4xf32, #b0> {
  // CHECK-NEXT: dist.reshard %{{.*}} : tensor<8x4xf32, #{{.*}}> -> tensor<8x4xf32, #{{.*}}>
  %y = dist.reshard %x : tensor<8x4xf32, #p0> -> tensor<8x4xf32, #b0>
  return %y : tensor<8x4xf32, #b0>
}

// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<8x4xf32, #b0>, %dt: tensor<8x3xf32, #dt>, %t: tensor<8x4xf32, #t0>, %l: tensor<4xf32>) {
  // CHECK-NEXT: dist.keep %{{.*}} where "tensor" = 1 : tensor<8x4xf32, #{{.*}}> -> tensor<8x4xf32, #{{.*}}>
  %k = dist.keep %x where "tensor" = 1 : tensor<8x4xf32, #b0> -> tensor<8x4xf32, #p0>
  // CHECK-NEXT: dist.keep %{{.*}} where "tensor" = 0 : tensor<8x4xf32, #{{.*}}> -> tensor<8x4xf32, #{{.*}}>
  %p = dist.keep %x where "tensor" = 0 : tensor<8x4xf32, #b0> -> tensor<8x4xf32, #prod>
  // Embedded in zeros: the axis splits dim 1.
  // CHECK-NEXT: dist.keep %{{.*}} where "tensor" : tensor<8x4xf32, #{{.*}}> -> tensor<8x4xf32, #{{.*}}>
  %e = dist.keep %t where "tensor" : tensor<8x4xf32, #t0> -> tensor<8x4xf32, #p0>
  // CHECK-NEXT: dist.keep %{{.*}} where "tensor" : tensor<8x3xf32, #{{.*}}> -> tensor<8x3xf32, #{{.*}}>
  %m = dist.keep %dt where "tensor" : tensor<8x3xf32, #dt> -> tensor<8x3xf32, #dp>
  // Local: a select.
  // CHECK-NEXT: dist.keep %{{.*}} where "data" = 0 : tensor<4xf32> -> tensor<4xf32>
  %s = dist.keep %l where "data" = 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @join
func.func @join(%a: tensor<8x4xf32, #g1>, %b: tensor<8x4xf32, #g0>) -> tensor<8x4xf32, #g> {
  // CHECK-NEXT: dist.join %{{.*}}, %{{.*}} over "pipe" : (tensor<8x4xf32, #{{.*}}>, tensor<8x4xf32, #{{.*}}>) -> tensor<8x4xf32, #{{.*}}>
  %g = dist.join %a, %b over "pipe" : (tensor<8x4xf32, #g1>, tensor<8x4xf32, #g0>) -> tensor<8x4xf32, #g>
  return %g : tensor<8x4xf32, #g>
}

// Pins of other axes stay; where no operand lives there are zeros.
// CHECK-LABEL: func.func @join_beside
func.func @join_beside(%a: tensor<8x4xf32, #g1q>, %b: tensor<8x4xf32, #g0q>) {
  // CHECK-NEXT: dist.join %{{.*}}, %{{.*}} over "pipe"
  %g = dist.join %a, %b over "pipe" : (tensor<8x4xf32, #g1q>, tensor<8x4xf32, #g0q>) -> tensor<8x4xf32, #gq>
  // CHECK-NEXT: dist.join %{{.*}} over "pipe"
  %h = dist.join %a over "pipe" : (tensor<8x4xf32, #g1q>) -> tensor<8x4xf32, #gq>
  return
}

// Local: segments say where the operands live; one alone is zero elsewhere.
// CHECK-LABEL: func.func @local_join
func.func @local_join(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: dist.join %{{.*}}, %{{.*}} over "pipe" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = dist.join %a, %b over "pipe" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dist.join %{{.*}} over "pipe" {dist.at = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %l = dist.join %a over "pipe" {dist.at = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// CHECK-LABEL: func.func @fence
func.func @fence(%x: tensor<4xf32>, %d: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  // CHECK-NEXT: dist.fence(%{{.*}}, %{{.*}}) after(%{{.*}}) : tensor<4xf32>, tensor<2xf32> after tensor<2xf32>
  %f:2 = dist.fence(%x, %d) after(%d) : tensor<4xf32>, tensor<2xf32> after tensor<2xf32>
  // CHECK-NEXT: dist.fence(%{{.*}}) : tensor<4xf32>
  %g = dist.fence(%f#0) : tensor<4xf32>
  return %g, %f#1 : tensor<4xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @coordinate
func.func @coordinate() -> (tensor<i32>, tensor<i64>) {
  // CHECK-NEXT: dist.coordinate ["tensor"] : tensor<i32>
  %a = dist.coordinate ["tensor"] : tensor<i32>
  // CHECK-NEXT: dist.coordinate ["data", "tensor"] on @mesh : tensor<i64>
  %b = dist.coordinate ["data", "tensor"] on @mesh : tensor<i64>
  return %a, %b : tensor<i32>, tensor<i64>
}
