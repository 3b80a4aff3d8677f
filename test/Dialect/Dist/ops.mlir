// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// Programs: states, hyper values, a step, entries, with their marks.

// CHECK: dist.mesh @mesh = <"pipe"=1, "data"=2> pipeline "pipe"
dist.mesh @mesh = <"pipe"=1, "data"=2> pipeline "pipe"

// CHECK: dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 2.000000e-02>}
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK: dist.state @w.m : tensor<4x4xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @w.m : tensor<4x4xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
// CHECK: dist.state @blocks.0.v : tensor<4x6xf32> {role = parameter, row = #dist.row<rest = #layout, accumulate = f32>, source = #dist.file<"w.safetensors", 128, 96>}
dist.state @blocks.0.v : tensor<4x6xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{"data"}, {}]>, accumulate = f32>, source = #dist.file<"w.safetensors", 128, 96>}
// CHECK: dist.state @blocks.0.v.1 part of @blocks.0.v box([0, 3] [4, 3]) : tensor<4x3xf32> {role = parameter}
dist.state @blocks.0.v.1 part of @blocks.0.v box([0, 3] [4, 3]) : tensor<4x3xf32> {role = parameter}
// CHECK: dist.state @counter : tensor<i32> {role = carried, source = #dist.draw<zeros>}
dist.state @counter : tensor<i32> {role = carried, source = #dist.draw<zeros>}
// CHECK: dist.state @table : tensor<2xf32> {role = constant, source = #dist.draw<uniform, -1.000000e+00, 1.000000e+00>}
dist.state @table : tensor<2xf32> {role = constant, source = #dist.draw<uniform, -1.0, 1.0>}

// CHECK: dist.state @other : tensor<4x4xf32> {role = parameter, optimizer = @sgd}
dist.state @other : tensor<4x4xf32> {role = parameter, optimizer = @sgd}

// CHECK: dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 1.000000e-03, warmup = 100, total = 1000>
dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 0.001, warmup = 100, total = 1000>
// CHECK: dist.hyper @late : tensor<f32> = <warmup_cosine, last = 5.000000e-01, total = 10>
dist.hyper @late : tensor<f32> = <warmup_cosine, last = 0.5, total = 10>
// CHECK: dist.hyper @t : tensor<i32> = <step>
dist.hyper @t : tensor<i32> = <step>

func.func @loss(%tokens: tensor<8xi32> {dist.port = #dist.port<input "tokens">},
                %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = arith.constant dense<0.0> : tensor<f32>
  return %c : tensor<f32>
}
func.func private @sgd(%p: tensor<4x4xf32> {dist.port = #dist.port<parameter>}, %g: tensor<4x4xf32> {dist.port = #dist.port<gradient>},
                       %m: tensor<4x4xf32> {dist.port = #dist.port<moment "m">},
                       %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<4x4xf32> {dist.port = #dist.port<parameter>}, tensor<4x4xf32> {dist.port = #dist.port<moment "m">}) {
  return %p, %m : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK: dist.training @recipe forward(@loss) optimizer(@sgd) microbatches(4) schedule(<1f1b>) clip(1.000000e+00) recompute(<every, 2>)
dist.training @recipe forward(@loss) optimizer(@sgd) microbatches(4) schedule(<1f1b>) clip(1.0) recompute(<every, 2>)
// A whole step needs no optimizer.
// CHECK: dist.training @whole forward(@loss) microbatches(1) schedule(<1f1b>)
dist.training @whole forward(@loss) microbatches(1) schedule(<1f1b>)

func.func @train.microbatch(%tokens: tensor<8xi32> {dist.port = #dist.port<input "tokens">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>},
                            %n: tensor<i32> {dist.port = #dist.port<carried @counter>}, %step: tensor<i32> {dist.port = #dist.port<step>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}, tensor<i32> {dist.port = #dist.port<carried @counter>}) {
  %c = arith.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>, dist.chunk = 0 : i64} dense<0.0> : tensor<f32>
  return %c, %c, %w, %n : tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<i32>
}
func.func @train.update(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<4x4xf32> {dist.port = #dist.port<optimizer @w.m>},
                        %g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>},
                        %n: tensor<f32> {dist.port = #dist.port<count>}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @w.m>},
        tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  return %w, %m, %ls : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
// CHECK: dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(4) schedule(<"zb-h1" with {chunks = 2 : i64}>) recompute(<all>) chunks([0, 0, 1]) table(<["F0.0 B0.0 U"]>)
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(4)
    schedule(<"zb-h1" with {chunks = 2}>) recompute(<all>) chunks([0, 0, 1]) table(<["F0.0  B0.0 U"]>)
// CHECK: dist.entry @forward function(@loss)
dist.entry @forward function(@loss)

// CHECK: func.func private @fed
// CHECK-SAME: tensor<4xi32> {dist.port = #dist.port<input "x", data = <"corpus", dtype = ui8, offset = 1>>}
// CHECK-SAME: tensor<4x2xf32> {dist.port = #dist.port<input "x", data = <"x", kind = array, tensor = "images", shuffle = false>>}
func.func private @fed(tensor<4xi32> {dist.port = #dist.port<input "x", data = <"corpus", dtype = ui8, offset = 1>>},
                       tensor<4x2xf32> {dist.port = #dist.port<input "x", data = <"x", kind = array, tensor = "images", shuffle = false>>})

// Sources of data: what samples there are, and in which order.
// CHECK-LABEL: func.func private @sources
// CHECK-SAME: data = <"a", kind = text, once = true, held_out = 5.000000e-02 : f64, weights = [7, 3], offset = 1, limit = 256>
// CHECK-SAME: data = <"b", kind = array, tensor = "t", shuffle = false, any_float = true>
func.func private @sources(
    tensor<4xi32> {dist.port = #dist.port<input "x", data = <"a", kind = text, once = true, held_out = 0.05 : f64, weights = [7, 3], offset = 1, limit = 256>>},
    tensor<4xf32> {dist.port = #dist.port<input "y", data = <"b", kind = array, tensor = "t", shuffle = false, any_float = true>>})

// Every kind of port, with every field that it may have.
// CHECK-LABEL: func.func private @ports
// CHECK-SAME: {dist.port = #dist.port<input "x", data = <"corpus">, layout = #{{[a-z0-9]+}}, shape = [7, 4]>}
// CHECK-SAME: {dist.port = #dist.port<hyper @lr, layout = #{{[a-z0-9]+}}>}
// CHECK-SAME: {dist.port = #dist.port<parameter @w, layout = #{{[a-z0-9]+}}, shape = [7, 4]>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @w.m>}
// CHECK-SAME: {dist.port = #dist.port<carried @counter>}
// CHECK-SAME: {dist.port = #dist.port<constant @c>}
// CHECK-SAME: {dist.port = #dist.port<step>}
// CHECK-SAME: {dist.port = #dist.port<microbatch>}
// CHECK-SAME: {dist.port = #dist.port<loss_sum, reduced, layout = #{{[a-z0-9]+}}>}
// CHECK-SAME: {dist.port = #dist.port<count>}
// CHECK-SAME: {dist.port = #dist.port<metric_sum "acc">}
// CHECK-SAME: {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w, #{{[a-z0-9]+}}, [0, 0]>]>}
// CHECK-SAME: {dist.port = #dist.port<moment "m">}
// CHECK-SAME: {dist.port = #dist.port<setting "beta", default = 9.000000e-01>}
// CHECK-SAME: {dist.port = #dist.port<buffer @w.local>}
// CHECK-SAME: {dist.port = #dist.port<act "c0.a0", chunk = 0>}
// CHECK-SAME: {dist.port = #dist.port<recv @t0>}
// CHECK-SAME: {dist.port = #dist.port<loss>}
// CHECK-SAME: {dist.port = #dist.port<metric "loss">}
// CHECK-SAME: {dist.port = #dist.port<output "acc", metric = "acc">}
// CHECK-SAME: {dist.port = #dist.port<send @t0>}
func.func private @ports(
    tensor<7x4xf32> {dist.port = #dist.port<input "x", data = #dist.data<"corpus">, layout = #dist.layout<@mesh, [{"data"}:9, {}]>, shape = [7, 4]>},
    tensor<f32> {dist.port = #dist.port<hyper @lr, layout = <@mesh, []>>},
    tensor<7x4xf32> {dist.port = #dist.port<parameter @w, shape = [7, 4], layout = <@mesh, [{"data"}:9, {}]>>},
    tensor<7x4xf32> {dist.port = #dist.port<optimizer @w.m>}, tensor<i32> {dist.port = #dist.port<carried @counter>},
    tensor<4xf32> {dist.port = #dist.port<constant @c>}, tensor<i32> {dist.port = #dist.port<step>},
    tensor<i32> {dist.port = #dist.port<microbatch>}, tensor<f32> {dist.port = #dist.port<loss_sum, layout = <@mesh, []>, reduced>},
    tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<metric_sum "acc">},
    tensor<7x4xf32> {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w, <@mesh, [{}, {}]>, [0, 0]>]>},
    tensor<1xf32> {dist.port = #dist.port<moment "m">}, tensor<f32> {dist.port = #dist.port<setting "beta", default = 0.9>},
    tensor<7x4xf32> {dist.port = #dist.port<buffer @w.local>}, tensor<4xf32> {dist.port = #dist.port<act "c0.a0", chunk = 0>},
    tensor<4xf32> {dist.port = #dist.port<recv @t0>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<f32> {dist.port = #dist.port<metric "loss">},
        tensor<f32> {dist.port = #dist.port<output "acc", metric = "acc">}, tensor<4xf32> {dist.port = #dist.port<send @t0>})

// Names of schedules are quoted where they are no plain word; 1f1b is one.
// CHECK-LABEL: func.func private @schedules
// CHECK-SAME: a = #dist.schedule<zb_h1>, b = #dist.schedule<"2f1b">, c = #dist.schedule<"_x">, d = #dist.schedule<"zb-h1">, e = #dist.schedule<1f1b>, f = #dist.schedule<"1f-1b">
func.func private @schedules() attributes {a = #dist.schedule<zb_h1>, b = #dist.schedule<"2f1b">, c = #dist.schedule<"_x">,
    d = #dist.schedule<"zb-h1">, e = #dist.schedule<"1f1b">, f = #dist.schedule<"1f-1b">}

// CHECK-LABEL: module @reordered
module @reordered {
  // CHECK-NEXT: dist.mesh @mesh = <"x"=2, "y"=2> devices [3, 0, 2, 1]
  dist.mesh @mesh = <"x"=2, "y"=2> devices [3, 0, 2, 1]
}
