// RUN: llmc-opt %s --split-input-file --llmc-phase-ordered | FileCheck %s

// Where values lie: in their slots where that is legal, else copied there.

dist.mesh @mesh = <"data"=1>
dist.state @a : tensor<4xf32> {role = carried, source = #dist.draw<zeros>}
dist.buffer @a.local of @a : tensor<4xf32> holds [#dist.box<@a, <@mesh, [{}]>, [0]>]
dist.state @b : tensor<4xf32> {role = carried, source = #dist.draw<ones>}
dist.buffer @b.local of @b : tensor<4xf32> holds [#dist.box<@b, <@mesh, [{}]>, [0]>]
module @kernels {
  dist.kernel @k_one(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_one_cpu
  func.func private @k_one_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @k_two(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_two_cpu
  func.func private @k_two_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}

// The new value of a is made from b, and the old a is read before: in its slot.
// CHECK-LABEL: plan.program @f.c0.F
// CHECK-NEXT: plan.kernel on @C @kernels::@k_one operands([#plan.use<read, <@state.a.local, [4], f32>>, #plan.use<write, <@f.output0.z, [4], f32>>])
// CHECK-NEXT: plan.signal on @C @f.output0 event(1)
// CHECK-NEXT: plan.kernel on @C @kernels::@k_one operands([#plan.use<read, <@state.b.local, [4], f32>>, #plan.use<write, <@state.a.local, [4], f32>>])
func.func private @f.c0.F(%a: tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}, %b: tensor<4xf32> {dist.port = #dist.port<buffer @b.local>})
    -> (tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}, tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %a2 = dist.launch @kernels::@k_one(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %z = dist.launch @kernels::@k_one(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %a2, %z : tensor<4xf32>, tensor<4xf32>
}

// The kernel reads the old a: its result is made apart, then copied.
// CHECK-LABEL: plan.program @g.c0.F
// CHECK-NEXT: plan.kernel on @C @kernels::@k_one operands([#plan.use<read, <@state.a.local, [4], f32>>, #plan.use<write, <@g.c0.F.tmp.0, [4], f32>>])
// CHECK-NEXT: plan.copy on @C to(<@state.a.local, [4], f32>) from(<@g.c0.F.tmp.0, [4], f32>)
func.func private @g.c0.F(%a: tensor<4xf32> {dist.port = #dist.port<buffer @a.local>})
    -> (tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}) {
  %a2 = dist.launch @kernels::@k_one(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %a2 : tensor<4xf32>
}

// Two states change places: both are saved before either is overwritten.
// CHECK-LABEL: plan.program @h.c0.F
// CHECK-DAG: plan.copy on @C to(<@h.c0.F.tmp.0, [4], f32>) from(<@state.a.local, [4], f32>)
// CHECK-DAG: plan.copy on @C to(<@h.c0.F.tmp.1, [4], f32>) from(<@state.b.local, [4], f32>)
// CHECK: plan.copy on @C to(<@state.{{[ab]}}.local, [4], f32>) from(<@h.c0.F.tmp.{{[01]}}, [4], f32>)
// CHECK-NEXT: plan.copy on @C to(<@state.{{[ab]}}.local, [4], f32>) from(<@h.c0.F.tmp.{{[01]}}, [4], f32>)
func.func private @h.c0.F(%a: tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}, %b: tensor<4xf32> {dist.port = #dist.port<buffer @b.local>})
    -> (tensor<4xf32> {dist.port = #dist.port<buffer @b.local>}, tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}) {
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// What reads through a fence runs after the values that the fence names.
// CHECK-LABEL: plan.program @i.c0.F
// CHECK-NEXT: plan.kernel on @C @kernels::@k_one operands([#plan.use<read, <@state.b.local, [4], f32>>, #plan.use<write, <@i.c0.F.tmp.[[late:[01]]], [4], f32>>])
// CHECK-NEXT: plan.kernel on @C @kernels::@k_one operands([#plan.use<read, <@state.a.local, [4], f32>>
// CHECK-NEXT: plan.kernel on @C @kernels::@k_two
func.func private @i.c0.F(%a: tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}, %b: tensor<4xf32> {dist.port = #dist.port<buffer @b.local>})
    -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %late = dist.launch @kernels::@k_one(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %f = dist.fence(%a) after(%late) : tensor<4xf32> after tensor<4xf32>
  %c = dist.launch @kernels::@k_one(%f) : (tensor<4xf32>) -> tensor<4xf32>
  %z = dist.launch @kernels::@k_two(%c, %late) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
dist.timeline @g microbatches(1) programs([#dist.program<@g.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
dist.timeline @h microbatches(1) programs([#dist.program<@h.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
dist.timeline @i microbatches(1) programs([#dist.program<@i.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// Two arguments in one slot are one buffer, and a fence after an argument waits
// for nothing. A module without a name takes none.
dist.mesh @mesh = <"data"=1>
dist.state @a : tensor<4xf32> {role = carried, source = #dist.draw<zeros>}
dist.buffer @a.local of @a : tensor<4xf32> holds [#dist.box<@a, <@mesh, [{}]>, [0]>]
module @kernels {
  dist.kernel @k_two(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_two_cpu
  func.func private @k_two_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
module {
}
// CHECK-LABEL: plan.program @j.c0.F
// CHECK-NEXT: plan.kernel on @C @kernels::@k_two operands([#plan.use<read, <@state.a.local, [4], f32>>, #plan.use<read, <@state.a.local, [4], f32>>, #plan.use<write, <@j.output0.z, [4], f32>>])
func.func private @j.c0.F(%a: tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}, %again: tensor<4xf32> {dist.port = #dist.port<buffer @a.local>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %f = dist.fence(%a) after(%again) : tensor<4xf32> after tensor<4xf32>
  %z = dist.launch @kernels::@k_two(%f, %again) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @j microbatches(1) programs([#dist.program<@j.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
