// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-localize --canonicalize --cse | FileCheck %s

// Axes that are appended cut; the coordinate counts the appended axes alone.
#d = #dist.layout<@mesh, [{"d"}, {}]>
#dt = #dist.layout<@mesh, [{"d", "t"}, {}]>
dist.mesh @mesh = <"d"=2, "t"=2>
// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<8x4xf32, #d> {dist.port = #dist.port<input "x">}) -> (tensor<8x4xf32, #dt> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[C:.*]] = dist.coordinate ["t"] : tensor<i32>
  // CHECK: %[[START:.*]] = stablehlo.multiply %[[C]]
  // CHECK: stablehlo.dynamic_slice %arg0, %[[START]], %{{.*}}, sizes = [2, 4] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %0 = dist.reshard %x : tensor<8x4xf32, #d> -> tensor<8x4xf32, #dt>
  return %0 : tensor<8x4xf32, #dt>
}
dist.entry @e function(@slice) chunks([0])

// -----

// A part that is not split changes its extent for free.
#l = #dist.layout<@mesh, [{"t"}:[2, 192:195]]>
#u = #dist.layout<@mesh, [{"t"}]>
#z = #dist.layout<@mesh, [{"t", "d"}:[2, 192:195]]>
dist.mesh @mesh = <"d"=5, "t"=2>
// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<384xf32, #l> {dist.port = #dist.port<input "x">}) -> (tensor<384xf32, #u> {dist.port = #dist.port<output "y">}, tensor<384xf32, #z> {dist.port = #dist.port<output "z">}) {
  // CHECK: %[[U:.*]] = stablehlo.slice %arg0 [0:192] : (tensor<195xf32>) -> tensor<192xf32>
  %0 = dist.reshard %x : tensor<384xf32, #l> -> tensor<384xf32, #u>
  // CHECK: %[[P:.*]] = stablehlo.pad %{{.*}} low = [0], high = [3]
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, sizes = [39] : (tensor<195xf32>, tensor<i32>) -> tensor<39xf32>
  %1 = dist.reshard %0 : tensor<384xf32, #u> -> tensor<384xf32, #z>
  return %0, %1 : tensor<384xf32, #u>, tensor<384xf32, #z>
}
dist.entry @e function(@views) chunks([0])

// -----

// Kept on one coordinate: a select. Embedded: the part in zeros.
#r = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"d"}]>
#d = #dist.layout<@mesh, [{"d"}]>
dist.mesh @mesh = <"d"=2>
// CHECK-LABEL: func.func @keeps
func.func @keeps(%x: tensor<4xf32, #r> {dist.port = #dist.port<input "x">}, %y: tensor<4xf32, #d> {dist.port = #dist.port<input "y">}) -> (tensor<4xf32, #p> {dist.port = #dist.port<output "k">}, tensor<4xf32, #p> {dist.port = #dist.port<output "e">}) {
  // CHECK: %[[C:.*]] = dist.coordinate ["d"] : tensor<i32>
  // CHECK: %[[HERE:.*]] = stablehlo.compare EQ, %[[C]]
  // CHECK: stablehlo.select %[[HERE]], %arg0, %{{.*}} : tensor<i1>, tensor<4xf32>
  %0 = dist.keep %x where "d" = 1 : tensor<4xf32, #r> -> tensor<4xf32, #p>
  // CHECK: %[[START:.*]] = stablehlo.multiply %[[C]]
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %arg1, %[[START]] : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = dist.keep %y where "d" : tensor<4xf32, #d> -> tensor<4xf32, #p>
  return %0, %1 : tensor<4xf32, #p>, tensor<4xf32, #p>
}
dist.entry @e function(@keeps) chunks([0])

// -----

// A factor of a product is one elsewhere.
#r = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [product{"d"}]>
#d = #dist.layout<@mesh, [{"d"}]>
dist.mesh @mesh = <"d"=2>
// CHECK-LABEL: func.func @factors
func.func @factors(%x: tensor<4xf32, #r> {dist.port = #dist.port<input "x">}, %y: tensor<4xf32, #d> {dist.port = #dist.port<input "y">}) -> (tensor<4xf32, #p> {dist.port = #dist.port<output "k">}, tensor<4xf32, #p> {dist.port = #dist.port<output "e">}) {
  // CHECK: %[[ONES:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: stablehlo.select %{{.*}}, %arg0, %[[ONES]] : tensor<i1>, tensor<4xf32>
  %0 = dist.keep %x where "d" = 1 : tensor<4xf32, #r> -> tensor<4xf32, #p>
  // CHECK: stablehlo.dynamic_update_slice %[[ONES]], %arg1, %{{.*}} : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = dist.keep %y where "d" : tensor<4xf32, #d> -> tensor<4xf32, #p>
  return %0, %1 : tensor<4xf32, #p>, tensor<4xf32, #p>
}
dist.entry @e function(@factors) chunks([0])

// -----

// Collectives and transfers have local types; a value without a term elsewhere
// is joined alone.
#at0 = #dist.layout<@mesh, [{"d"}], at = {"pipe" = [0]}>
#full0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#full1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#sum = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2, "d"=2> pipeline "pipe"
// CHECK-LABEL: func.func @crossings
func.func @crossings(%x: tensor<4xf32, #at0> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #full1> {dist.port = #dist.port<output "k">}, tensor<4xf32, #sum> {dist.port = #dist.port<output "e">}) {
  // CHECK: %[[G:.*]] = dist.all_gather %arg0 dim 0 over ["d"] : tensor<2xf32> -> tensor<4xf32>
  %0 = dist.all_gather %x dim 0 over ["d"] : tensor<4xf32, #at0> -> tensor<4xf32, #full0>
  // CHECK: dist.transfer @t0 %[[G]] along "pipe" 0 -> 1 : tensor<4xf32>
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32, #full0> -> tensor<4xf32, #full1>
  // CHECK: dist.join %[[G]] over "pipe" {dist.at = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dist.reshard %0 : tensor<4xf32, #full0> -> tensor<4xf32, #sum>
  return %1, %2 : tensor<4xf32, #full1>, tensor<4xf32, #sum>
}
dist.entry @e function(@crossings) chunks([0])

// -----

#d = #dist.layout<@mesh, [{"d"}]>
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"d"=2>
func.func @gathers(%x: tensor<8xf32, #d> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32, #r> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a change of layout that moves nothing in dim 0, got}}
  %0 = dist.reshard %x : tensor<8xf32, #d> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}
dist.entry @e function(@gathers) chunks([0])

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"d"}]>
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"d"=2>
func.func @reduces(%x: tensor<8xf32, #p> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32, #r> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a change of layout that moves nothing, got}}
  %0 = dist.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}
dist.entry @e function(@reduces) chunks([0])

// -----

// What is done to a value of two stages is done at each, in front of the join:
// ops of a microbatch run at one stage.
#a0 = #dist.layout<@mesh, [{}], partial = [sum{"d"}], at = {"pipe" = [0]}>
#a1 = #dist.layout<@mesh, [{}], partial = [sum{"d"}], at = {"pipe" = [1]}>
#s = #dist.layout<@mesh, [{}], partial = [sum{"d", "pipe"}], at = {"pipe" = [0, 1]}>
#v = #dist.layout<@mesh, [{}:6], partial = [sum{"d", "pipe"}], at = {"pipe" = [0, 1]}>
#r = #dist.layout<@mesh, [{"d"}:6], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2, "d"=2> pipeline "pipe"
// CHECK-LABEL: func.func @terms
func.func @terms(%x: tensor<5xf32, #a0> {dist.port = #dist.port<input "x">}, %y: tensor<5xf32, #a1> {dist.port = #dist.port<input "y">}) -> (tensor<5xf32, #r> {dist.port = #dist.port<output "k">}) {
  %a = stablehlo.negate %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<5xf32, #a0>
  %b = stablehlo.negate %y {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5xf32, #a1>
  %0 = dist.join %a, %b over "pipe" {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<5xf32, #a0>, tensor<5xf32, #a1>) -> tensor<5xf32, #s>
  // CHECK-DAG: %[[A:.*]] = stablehlo.pad %{{.*}}dist.block = 0
  // CHECK-DAG: %[[B:.*]] = stablehlo.pad %{{.*}}dist.block = 1
  // CHECK-DAG: %[[RA:.*]] = dist.reduce_scatter %[[A]] dim 0 over ["d"] sum {dist.block = 0
  // CHECK-DAG: %[[RB:.*]] = dist.reduce_scatter %[[B]] dim 0 over ["d"] sum {dist.block = 1
  // CHECK: %[[J:.*]] = dist.join %[[RA]], %[[RB]] over "pipe" {dist.at = array<i64: 0, 1>
  // CHECK-NEXT: return %[[J]]
  %1 = dist.reshard %0 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5xf32, #s> -> tensor<5xf32, #v>
  %2 = dist.reduce_scatter %1 dim 0 over ["d"] sum {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5xf32, #v> -> tensor<5xf32, #r>
  return %2 : tensor<5xf32, #r>
}
dist.entry @e function(@terms) chunks([0, 1])

// -----

// Zeros need no select, being a term anywhere; what has a zero in front does.
#whole = #dist.layout<@mesh, [{}]>
#partial = #dist.layout<@mesh, [{}], partial = [sum{"d"}]>
dist.mesh @mesh = <"d"=2>
// CHECK-LABEL: func.func @zeros
// CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[C:.*]] = stablehlo.constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %[[C]], %[[Z]]
// CHECK-NEXT: return %[[Z]], %[[S]]
func.func @zeros() -> (tensor<2xf32, #partial> {dist.port = #dist.port<output "y">}, tensor<2xf32, #partial> {dist.port = #dist.port<output "z">}) {
  %z = stablehlo.constant dense<0.0> : tensor<2xf32, #whole>
  %c = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32, #whole>
  %0 = dist.keep %z where "d" = 0 : tensor<2xf32, #whole> -> tensor<2xf32, #partial>
  %1 = dist.keep %c where "d" = 0 : tensor<2xf32, #whole> -> tensor<2xf32, #partial>
  return %0, %1 : tensor<2xf32, #partial>, tensor<2xf32, #partial>
}
dist.entry @e function(@zeros) chunks([0])
