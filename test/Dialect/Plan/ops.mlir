// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// A placed plan with every op; the unplaced one is below.

// CHECK: plan.device threads(2) seed(7) arenas([1280, 768])
plan.device threads(2) seed(7) arenas([1280, 768])
// CHECK: plan.stream @C compute
plan.stream @C compute
// CHECK: plan.stream @T collective priority(1)
plan.stream @T collective priority(1)
// CHECK: plan.frame @state state offset(0) size(512)
plan.frame @state state offset(0) size(512)
// CHECK: plan.frame @act act slots(2) slot(<mod(microbatch, 2)>) events(3) chunk(0) stages([0]) offset(512) size(128)
plan.frame @act act slots(2) slot(<mod(microbatch, 2)>) events(3) chunk(0) stages([0]) offset(512) size(128)
// CHECK: plan.frame @tmp tmp
plan.frame @tmp tmp
// CHECK: plan.buffer @state.w in @state bytes(96) offset(64)
plan.buffer @state.w in @state bytes(96) offset(64)
plan.buffer @act.x in @act bytes(64) offset(0)
// CHECK: plan.buffer @tmp.y in @tmp bytes(64)
plan.buffer @tmp.y in @tmp bytes(64)
plan.buffer @tmp.s in @tmp bytes(4096)
// CHECK: plan.part of @w origin([0, 4]) shape([4, 4]) layout("any") stages([0]) place(<@state.w, [4, 2], f32, offset = 8, strides = [6, 1]>)
plan.part of @w origin([0, 4]) shape([4, 4]) layout("any") stages([0]) place(<@state.w, [4, 2], f32, offset = 8, strides = [6, 1]>)
// CHECK: plan.object @kernels file("3f2a.so") hash(1234) features(["avx2", "fma"])
plan.object @kernels file("3f2a.so") hash(1234) features(["avx2", "fma"])
// CHECK: plan.slot of @train port("any") place(<@act.x, [4, 4], f32>) fetched
plan.slot of @train port("any") place(<@act.x, [4, 4], f32>) fetched
// CHECK: plan.slot of @train place(<@tmp.s, [4096], i8>)
plan.slot of @train place(<@tmp.s, [4096], i8>)

// CHECK-LABEL: plan.program @sub other parameters(1)
plan.program @sub other parameters(1) {
  // CHECK-NEXT: plan.fill on @C <@tmp.y, [16], f32, expr = <mul(4, parameter(0))>> pattern(1)
  plan.fill on @C <@tmp.y, [16], f32, expr = <mul(4, parameter(0))>> pattern(1)
}
// CHECK-LABEL: plan.program @train.c0.F forward chunk(0)
plan.program @train.c0.F forward chunk(0) {
  // CHECK-NEXT: plan.wait on @C @act event(0)
  plan.wait on @C @act event(0)
  // CHECK-NEXT: plan.copy on @C to(<@act.x, [4, 4], f32>) host input name("tokens")
  plan.copy on @C to(<@act.x, [4, 4], f32>) host input name("tokens")
  // CHECK-NEXT: plan.copy on @C to(<@act.x, [4, 4], f32>) from(<@tmp.y, [16], f32>)
  plan.copy on @C to(<@act.x, [4, 4], f32>) from(<@tmp.y, [16], f32>)
  // CHECK-NEXT: plan.kernel on @C @k::@a operands([#plan.use<read, <@act.x, [16], f32>>, #plan.use<readwrite, <@tmp.y, [16], f32>>]) scalars([#plan.expr<add(coordinate("data"), 1)>]) scratch(<@tmp.s, [64], i8>)
  plan.kernel on @C @k::@a operands([#plan.use<read, <@act.x, [16], f32>>, #plan.use<readwrite, <@tmp.y, [16], f32>>]) scalars([#plan.expr<add(coordinate("data"), 1)>]) scratch(<@tmp.s, [64], i8>)
  // CHECK-NEXT: plan.library on @C #plan.contraction<[<m, 4, a = 4, c = 4>, <n, 4, b = 1, c = 1>, <k, 4, a = 1, b = 4>], accumulate = f32, beta = 1> operands([#plan.use<read, <@act.x, [4, 4], f32>>, #plan.use<read, <@state.w, [4, 4], f32>>, #plan.use<readwrite, <@tmp.y, [4, 4], f32>>]) workspace_bytes(64) workspace(<@tmp.s, [128], i8>) form(1)
  plan.library on @C #plan.contraction<[<m, 4, a = 4, c = 4>, <n, 4, b = 1, c = 1>, <k, 4, a = 1, b = 4>], accumulate = f32, beta = 1>
      operands([#plan.use<read, <@act.x, [4, 4], f32>>, #plan.use<read, <@state.w, [4, 4], f32>>, #plan.use<readwrite, <@tmp.y, [4, 4], f32>>])
      workspace_bytes(64) workspace(<@tmp.s, [128], i8>) form(1)
  // CHECK-NEXT: plan.library on @C #plan.contraction<[<batch, 2>, <m, 4, a = 4, c = 4>, <n, 4, b = 1, c = 1, bias = 1>, <k, 4, a = 1, b = 4>], accumulate = f64, alpha = 5.000000e-01 : f64, has_bias = true, activation = gelu_tanh> operands([
  plan.library on @C #plan.contraction<[<batch, 2>, <m, 4, a = 4, c = 4>, <n, 4, b = 1, c = 1, bias = 1>, <k, 4, a = 1, b = 4>], accumulate = f64, alpha = 0.5 : f64, has_bias = true, activation = gelu_tanh>
      operands([#plan.use<read, <@act.x, [4, 4], f32>>, #plan.use<read, <@state.w, [4, 4], f32>>, #plan.use<read, <@tmp.s, [4], f32>>, #plan.use<write, <@tmp.y, [4, 4], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.convolution<[<m, 2, a = 8, c = 4>, <n, 2, b = 1, c = 1>, <k, 2, a = 1, b = 2>], windows = [<sizes = [4, 3, 2], strides = [2, 4, 2], steps = [1, 1, 2], low = 1>], accumulate = f32> operands([
  plan.library on @C #plan.convolution<[<m, 2, a = 8, c = 4>, <n, 2, b = 1, c = 1>, <k, 2, a = 1, b = 2>], windows = [<sizes = [4, 3, 2], strides = [2, 4, 2], steps = [1, 1, 2], low = 1>], accumulate = f32>
      operands([#plan.use<read, <@act.x, [4, 4], f32>>, #plan.use<read, <@state.w, [3, 4], f32>>, #plan.use<write, <@tmp.y, [2, 4], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.convolution<[<m, 4, a = 4, c = 4>, <n, 4, b = 1, c = 1, bias = 1>, <k, 4, a = 1, b = 4>], windows = [], accumulate = f64, has_bias = true> operands([
  plan.library on @C #plan.convolution<[<m, 4, a = 4, c = 4>, <n, 4, b = 1, c = 1, bias = 1>, <k, 4, a = 1, b = 4>], windows = [], accumulate = f64, has_bias = true>
      operands([#plan.use<read, <@act.x, [4, 4], f32>>, #plan.use<read, <@state.w, [4, 4], f32>>, #plan.use<read, <@tmp.s, [4], f32>>, #plan.use<write, <@tmp.y, [4, 4], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.attention<[<batch, 2, q = 4, k = 4, v = 4, out = 4, rows = 2>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, scale = 5.000000e-01 : f64, causal = true, shift = -3> operands([
  plan.library on @C #plan.attention<[<batch, 2, q = 4, k = 4, v = 4, out = 4, rows = 2>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, scale = 5.000000e-01 : f64, causal = true, shift = -3>
      operands([#plan.use<read, <@act.x, [2, 2, 2], f32>>, #plan.use<read, <@act.x, [2, 2, 2], f32>>, #plan.use<read, <@act.x, [2, 2, 2], f32>>, #plan.use<write, <@tmp.y, [2, 2, 2], f32>>, #plan.use<write, <@tmp.s, [2, 2], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.attention<[<row, 2, q = 2, bias = 2, out = 2, rows = 1, dq = 2>, <column, 2, k = 2, v = 2, bias = 1, dk = 2, dv = 2>, <depth, 2, q = 1, k = 1, dq = 1, dk = 1>, <value, 2, v = 1, out = 1, dv = 1>], accumulate = f64, gradient = true, causal = true, has_offset = true, has_bias = true> operands([
  plan.library on @C #plan.attention<[<row, 2, q = 2, bias = 2, out = 2, rows = 1, dq = 2>, <column, 2, k = 2, v = 2, bias = 1, dk = 2, dv = 2>, <depth, 2, q = 1, k = 1, dq = 1, dk = 1>, <value, 2, v = 1, out = 1, dv = 1>], accumulate = f64, gradient = true, causal = true, has_offset = true, has_bias = true>
      operands([#plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<read, <@act.x, [2, 2], f16>>, #plan.use<read, <@tmp.s, [], i32>>, #plan.use<read, <@act.x, [2], f64>>, #plan.use<read, <@act.x, [2], f64>>, #plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<write, <@tmp.y, [2, 2], f32>>, #plan.use<write, <@tmp.y, [2, 2], f32>>, #plan.use<write, <@tmp.y, [2, 2], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1, bits = 2>, <column, 2, k = 2, v = 2, bits = 1>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, dropout = <threefry from 18446744073709551615 factor 2.000000e+00>> operands([
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1, bits = 2>, <column, 2, k = 2, v = 2, bits = 1>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, dropout = <threefry from 18446744073709551615 factor 2.000000e+00>>
      operands([#plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<read, <@act.x, [2, 2], f32>>, #plan.use<read, <@tmp.s, [2], ui64>>, #plan.use<write, <@tmp.y, [2, 2], f32>>, #plan.use<write, <@tmp.s, [2], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.argsort<outer = 2, size = 8, inner = 1, count = 3, descending = [true, false]> operands([
  plan.library on @C #plan.argsort<outer = 2, size = 8, inner = 1, count = 3, descending = [true, false]>
      operands([#plan.use<read, <@act.x, [2, 8], f32>>, #plan.use<read, <@act.x, [2, 8], ui8>>, #plan.use<write, <@tmp.s, [2, 3], i32>>])
  // CHECK-NEXT: plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 0, num_sizes = 2, groups = 2, stride = 8> operands([
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 0, num_sizes = 2, groups = 2, stride = 8>
      operands([#plan.use<read, <@act.x, [4, 2], f32>>, #plan.use<read, <@state.w, [2, 2, 4], f32>>, #plan.use<read, <@tmp.s, [2], i32>>, #plan.use<write, <@tmp.y, [4, 4], f32>>])
  // CHECK-NEXT: plan.library on @C #plan.grouped_contraction<product = <[<k, 4, a = 2, b = 2>, <m, 2, a = 1, c = 2>, <n, 2, b = 1, c = 1>], accumulate = f32, beta = 1>, rows = 0, num_sizes = 3, groups = 4, stride = 4, has_own_sizes = true, has_first = true> operands([
  plan.library on @C #plan.grouped_contraction<product = <[<k, 4, a = 2, b = 2>, <m, 2, a = 1, c = 2>, <n, 2, b = 1, c = 1>], accumulate = f32, beta = 1>, rows = 0, num_sizes = 3, groups = 4, stride = 4, has_own_sizes = true, has_first = true>
      operands([#plan.use<read, <@act.x, [4, 2], f32>>, #plan.use<read, <@act.x, [4, 2], f32>>, #plan.use<read, <@tmp.s, [3], i32>>, #plan.use<read, <@tmp.s, [], i32>>, #plan.use<readwrite, <@tmp.y, [4, 2, 2], f32>>])
  // CHECK-NEXT: plan.signal on @C @act event(1)
  plan.signal on @C @act event(1)
  // CHECK-NEXT: plan.collective on @T @c1 all_reduce reduction sum axes(["tensor"]) inputs([#plan.operand<@tmp.y, [16], f32>]) outputs([#plan.operand<@tmp.y, [16], f32>])
  plan.collective on @T @c1 all_reduce reduction sum axes(["tensor"]) inputs([#plan.operand<@tmp.y, [16], f32>]) outputs([#plan.operand<@tmp.y, [16], f32>])
  // CHECK-NEXT: plan.collective on @T @c3 ragged_all_to_all axes(["data"]) inputs({{.*}}) outputs({{.*}}) counts(<@tmp.s, [4, 2], i64>)
  plan.collective on @T @c3 ragged_all_to_all axes(["data"]) inputs([#plan.operand<@tmp.y, [16], f32>]) outputs([#plan.operand<@tmp.y, [16], f32>]) counts(<@tmp.s, [4, 2], i64>)
  // CHECK-NEXT: plan.collective on @T @c2 broadcast axes(["pipe", "data"]) stages([0, 1]) dim(1) peer(<0>) inputs({{.*}}) outputs({{.*}})
  plan.collective on @T @c2 broadcast axes(["pipe", "data"]) stages([0, 1]) dim(1) peer(<0>) inputs([#plan.operand<@tmp.y, [16], f32>]) outputs([#plan.operand<@tmp.y, [16], f32>])
  // CHECK-NEXT: plan.send on @T <@t0, peer = <add(coordinate("pipe"), 1)>, operands = [<@tmp.y, [16], f32>]>
  plan.send on @T <@t0, peer = <add(coordinate("pipe"), 1)>, operands = [<@tmp.y, [16], f32>]>
  // CHECK-NEXT: plan.receive on @T <@t1, peer = <1>, operands = [<@tmp.y, [8], f32>, <@tmp.y, [8], f32, offset = 32>]>
  plan.receive on @T <@t1, peer = <1>, operands = [<@tmp.y, [8], f32>, <@tmp.y, [8], f32, offset = 32>]>
  // CHECK-NEXT: plan.exchange on @T sends([#plan.message<@t0, peer = <1>, operands = [<@tmp.y, [16], f32>]>]) receives([])
  plan.exchange on @T sends([#plan.message<@t0, peer = <1>, operands = [<@tmp.y, [16], f32>]>]) receives([])
  // CHECK-NEXT: plan.exchange on @T sends([]) receives([#plan.message<@t0, peer = <1>, operands = [<@tmp.y, [16], f32>]>])
  plan.exchange on @T sends([]) receives([#plan.message<@t0, peer = <1>, operands = [<@tmp.y, [16], f32>]>])
  // CHECK-NEXT: plan.call on @C @sub microbatch(<microbatch>) arguments([#plan.expr<floordiv(7, 2)>])
  plan.call on @C @sub microbatch(<microbatch>) arguments([#plan.expr<floordiv(7, 2)>])
  // CHECK-NEXT: plan.copy on @C from(<@tmp.y, [], f32>) host metric name("loss")
  plan.copy on @C from(<@tmp.y, [], f32>) host metric name("loss")
}
// CHECK: plan.table @train.table programs([@train.c0.F]) rows(<["0.0 .", "0.1 0.0"]>)
plan.table @train.table programs([@train.c0.F]) rows(<["0.0 .", "0.1 0.0"]>)
// CHECK: plan.entry @train train microbatches(2) chunks(1) reorder prologue([unit, unit]) table(@train.table) epilogue([@sub, unit]) inputs([#plan.input<"tokens", tensor<8x4xi32>, stages = [0], data = #dist.data<"data", offset = 1>>]) hypers([@lr]) metrics([#plan.metric<"loss", f32>]) fetches([#plan.fetch<"x", tensor<4xf32>, each_microbatch = true>])
plan.entry @train train microbatches(2) chunks(1) reorder prologue([unit, unit]) table(@train.table) epilogue([@sub, unit])
    inputs([#plan.input<"tokens", tensor<8x4xi32>, stages = [0], data = #dist.data<"data", offset = 1>>]) hypers([@lr])
    metrics([#plan.metric<"loss", f32>]) fetches([#plan.fetch<"x", tensor<4xf32>, each_microbatch = true>])

// CHECK: plan.program @trip other
plan.program @trip other {
}

// CHECK: plan.program @trips other parameters(2)
plan.program @trips other parameters(2) {
}

// The last is reserved: parsed and printed, refused by the loader.
// CHECK-LABEL: plan.program @reserved update
plan.program @reserved update {
  // CHECK-NEXT: plan.loop on @C 3 times @sub
  plan.loop on @C 3 times @sub
  // CHECK-NEXT: plan.loop on @C 3 times @trips arguments([#plan.expr<7>])
  plan.loop on @C 3 times @trips arguments([#plan.expr<7>])
  // CHECK-NEXT: plan.while on @C <@tmp.s, [], i1> do @trip
  plan.while on @C <@tmp.s, [], i1> do @trip
  // CHECK-NEXT: plan.if on @C <@tmp.s, [], i1> then @sub
  plan.if on @C <@tmp.s, [], i1> then @sub
}

// Every kind of element that the runtime stores.
// CHECK: plan.part of @half origin([0]) shape([4]) place(<@tmp.s, [4], f16>)
plan.part of @half origin([0]) shape([4]) place(<@tmp.s, [4], f16>)
// CHECK: plan.part of @short origin([0]) shape([4]) place(<@tmp.s, [4], i16>)
plan.part of @short origin([0]) shape([4]) place(<@tmp.s, [4], i16>)
// CHECK: plan.part of @bytes origin([0]) shape([4]) place(<@tmp.s, [4], ui8>)
plan.part of @bytes origin([0]) shape([4]) place(<@tmp.s, [4], ui8>)

// Operands that end where their buffer ends, the second of no element.
// CHECK: plan.part of @end origin([0]) shape([16]) place(<@tmp.s, [16], i64, offset = 3968>)
plan.part of @end origin([0]) shape([16]) place(<@tmp.s, [16], i64, offset = 3968>)
// CHECK: plan.part of @none origin([0]) shape([0]) place(<@tmp.s, [0], i64, offset = 4096>)
plan.part of @none origin([0]) shape([0]) place(<@tmp.s, [0], i64, offset = 4096>)

// A box at each end of its tensor, and of the whole of it.
// CHECK: fetches([#plan.fetch<"a", tensor<4x4xf32>, part_of = "x", origin = [0, 4], whole = [4, 8]>, #plan.fetch<"b", tensor<4x8xf32>, part_of = "x", origin = [0, 0], whole = [4, 8]>])
plan.entry @boxes forward microbatches(2) chunks(1) prologue([unit, unit]) table(@train.table) epilogue([unit, unit]) inputs([]) hypers([]) metrics([])
    fetches([#plan.fetch<"a", tensor<4x4xf32>, part_of = "x", origin = [0, 4], whole = [4, 8]>, #plan.fetch<"b", tensor<4x8xf32>, part_of = "x", origin = [0, 0], whole = [4, 8]>])

// The deepest expression.
// CHECK: plan.frame @deep tmp slots(2) slot(<{{(add\(0, )+1\)+}}>)
plan.frame @deep tmp slots(2) slot(<add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, add(0, 1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))>)
