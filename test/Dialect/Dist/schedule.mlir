// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// A step cut into segments, and as a timeline of programs.

dist.mesh @mesh = <"pipe"=2, "tensor"=2> pipeline "pipe"

#r0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#r1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#r0t = #dist.layout<@mesh, [{}], at = {"pipe" = [0], "tensor" = [1]}>
#r1t = #dist.layout<@mesh, [{}], at = {"pipe" = [1], "tensor" = [1]}>
#r10 = #dist.layout<@mesh, [{}], at = {"pipe" = [1], "tensor" = [0]}>

// CHECK-LABEL: func.func @segments
func.func @segments(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[F:.*]]:2 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<4xf32> {
  %f:2 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<4xf32> {
    // CHECK-NEXT: dist.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
    dist.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: dist.transfer @t0 %[[F]]#0 along "pipe" 0 -> 1 : tensor<4xf32>
  %t = dist.transfer @t0 %f#0 along "pipe" 0 -> 1 : tensor<4xf32>
  // CHECK-NEXT: dist.segment chunk(1) phase(backward_weight)
  dist.segment chunk(1) phase(backward_weight) {
    // CHECK-NEXT: dist.yield
    dist.yield
  }
  // CHECK: dist.segment at(0, 1) phase(update) -> tensor<4xf32>
  %u = dist.segment at(0, 1) phase(update) -> tensor<4xf32> {
    dist.yield %t : tensor<4xf32>
  }
  return %u : tensor<4xf32>
}

// CHECK-LABEL: func.func @pinned_transfer
func.func @pinned_transfer(%x: tensor<4xf32, #r0>) -> tensor<4xf32, #r1> {
  // CHECK-NEXT: dist.transfer @t1 %{{.*}} along "pipe" 0 -> 1 : tensor<4xf32, #{{.*}}> -> tensor<4xf32, #{{.*}}>
  %t = dist.transfer @t1 %x along "pipe" 0 -> 1 : tensor<4xf32, #r0> -> tensor<4xf32, #r1>
  return %t : tensor<4xf32, #r1>
}

// Pins of other axes stay.
// CHECK-LABEL: func.func @transfer_beside
func.func @transfer_beside(%x: tensor<4xf32, #r0t>, %y: tensor<4xf32, #r1t>) {
  // CHECK-NEXT: dist.transfer @t2 %{{.*}} along "pipe" 0 -> 1 : tensor<4xf32, #{{.*}}> -> tensor<4xf32, #{{.*}}>
  %0 = dist.transfer @t2 %x along "pipe" 0 -> 1 : tensor<4xf32, #r0t> -> tensor<4xf32, #r1t>
  // CHECK-NEXT: dist.transfer @t3 %{{.*}} along "tensor" 1 -> 0 : tensor<4xf32, #{{.*}}> -> tensor<4xf32, #{{.*}}>
  %1 = dist.transfer @t3 %y along "tensor" 1 -> 0 : tensor<4xf32, #r1t> -> tensor<4xf32, #r10>
  return
}

// CHECK-LABEL: func.func @train.c0.F
// CHECK-SAME: {dist.port = #dist.port<input "tokens">}
// CHECK-SAME: {dist.port = #dist.port<buffer @w.local>}
// CHECK-SAME: (tensor<4xf32> {dist.port = #dist.port<send @t0>}, tensor<4xf32> {dist.port = #dist.port<act "x0", chunk = 0>})
func.func @train.c0.F(%mb: index {dist.port = #dist.port<microbatch>}, %tok: tensor<4xi32> {dist.port = #dist.port<input "tokens">},
                      %w: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>})
    -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}, tensor<4xf32> {dist.port = #dist.port<act "x0", chunk = 0>}) {
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}
func.func @train.c1.F(%mb: index {dist.port = #dist.port<microbatch>}, %x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) {
  return
}
func.func @train.u(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}, tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  return %w, %lr : tensor<4xf32>, tensor<f32>
}
// CHECK: dist.timeline @train microbatches(2)
// CHECK-SAME: programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@train.u, phase = update, at = [0, 1]>])
// CHECK-SAME: transfers([#dist.route<@t0 : @train.c0.F -> @train.c1.F>])
// CHECK-SAME: table(<["F0.0 F0.1 . U", ". F1.0 F1.1 U"]>)
dist.hyper @lr : tensor<f32> = <external>
dist.timeline @train microbatches(2)
    programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>,
              #dist.program<@train.c1.F, chunk = 1, phase = forward, at = [1]>,
              #dist.program<@train.u, phase = update, at = [0, 1]>])
    transfers([#dist.route<@t0: @train.c0.F -> @train.c1.F>])
    table(<["F0.0 F0.1 . U", ". F1.0 F1.1 U"]>)

// A buffer holds several boxes of one device.
dist.state @w : tensor<4x12xf32> {role = parameter}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.local of @w : tensor<4x4xf32> holds [#dist.box<@w.0, {{.*}}, [0, 0]>, #dist.box<@w.1, {{.*}}, [0, 2]>]
dist.buffer @w.local of @w : tensor<4x4xf32> holds [#dist.box<@w.0, <@mesh, [{}, {"tensor"}]>, [0, 0]>, #dist.box<@w.1, <@mesh, [{}, {"tensor"}]>, [0, 2]>]

// CHECK-LABEL: func.func @kernels
func.func @kernels(%a: tensor<4x6xf32>, %b: tensor<6x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[K:.*]]:2 = dist.launch @kernels::@k_3f2a(%{{.*}}, %{{.*}}) {scratch = 64 : i64, tied = {{\[\[}}0, 1]]} : (tensor<4x6xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4xf32>)
  %k:2 = dist.launch @kernels::@k_3f2a(%a, %c) {tied = [[0, 1]], scratch = 64} : (tensor<4x6xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4xf32>)
  // CHECK-NEXT: dist.contract %{{.*}}, %{{.*}} batch [] x [] contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
  %d = dist.contract %a, %b batch [] x [] contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: dist.contract %{{.*}}, %{{.*}} plus %[[K]]#0 batch [] x [] contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %e = dist.contract %a, %b plus %k#0 batch [] x [] contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: dist.argsort %{{.*}}, %{{.*}} dim 1 descending [true, false] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x3xi32>
  %f = dist.argsort %a, %a dim 1 descending [true, false] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x3xi32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[G:.*]] = dist.contract_groups %{{.*}}, %{{.*}}, %{{.*}} batch [] x [] contracting [0] x [0] rows 0 : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<2xi32>) -> tensor<2x6x2xf32>
  %g = dist.contract_groups %a, %c, %sizes batch [] x [] contracting [0] x [0] rows 0 : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<2xi32>) -> tensor<2x6x2xf32>
  // CHECK-NEXT: dist.contract_groups %{{.*}}, %[[G]], %{{.*}} first %{{.*}} plus %{{.*}} batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x2xf32>, tensor<2xi32>, tensor<i32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %h = dist.contract_groups %a, %g, %sizes first %first plus %c batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x2xf32>, tensor<2xi32>, tensor<i32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %e : tensor<4x2xf32>
}

// Kernels say of themselves what they take; their code stands beside them.
// CHECK-LABEL: module @formed
module @formed {
  // CHECK: dist.kernel @k_1(read tensor<24xf32>, scalar i32 below 4, readwrite tensor<6xi1>, write tensor<6xui8>) for "cpu" rows(6) scratch(64) by @k_1_cpu
  dist.kernel @k_1(read tensor<24xf32>, scalar i32 below 4, readwrite tensor<6xi1>, write tensor<6xui8>) for "cpu" rows(6) scratch(64) by @k_1_cpu
  func.func private @k_1_cpu(memref<24xf32>, index, memref<6xi8>, memref<6xi8>, index, index, memref<64xi8>)
  // CHECK: dist.kernel @k_2() for "other" launch <rows = 4, threads = 128, align = 16> by @k_2_other
  dist.kernel @k_2() for "other" rows(1) scratch(0) launch <threads = 128, rows = 4, shared = 0, align = 16> by @k_2_other
  func.func private @k_2_other(index, index, memref<0xi8>)
}
