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

// CHECK: dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 1.000000e-03, warmup = 100, total = 1000>
dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 0.001, warmup = 100, total = 1000>
// CHECK: dist.hyper @t : tensor<i32> = <step>
dist.hyper @t : tensor<i32> = <step>

func.func @loss(%tokens: tensor<8xi32> {dist.role = "input", dist.input = "tokens"},
                %w: tensor<4x4xf32> {dist.role = "parameter", dist.reads = @w}) -> (tensor<f32> {dist.role = "loss"}) {
  %c = arith.constant dense<0.0> : tensor<f32>
  return %c : tensor<f32>
}
func.func private @sgd(%p: tensor<4x4xf32> {dist.role = "parameter"}, %g: tensor<4x4xf32> {dist.role = "gradient"},
                       %m: tensor<4x4xf32> {dist.role = "optimizer", dist.moment = "m"},
                       %lr: tensor<f32> {dist.hyper = @lr})
    -> (tensor<4x4xf32> {dist.role = "parameter"}, tensor<4x4xf32> {dist.role = "optimizer", dist.moment = "m"}) {
  return %p, %m : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK: dist.training @recipe forward(@loss) optimizer(@sgd) microbatches(4) schedule(<1f1b>) clip(1.000000e+00) recompute(<every, 2>)
dist.training @recipe forward(@loss) optimizer(@sgd) microbatches(4) schedule(<1f1b>) clip(1.0) recompute(<every, 2>)

func.func @train.microbatch(%tokens: tensor<8xi32> {dist.role = "input"}, %w: tensor<4x4xf32> {dist.reads = @w},
                            %n: tensor<i32> {dist.reads = @counter}, %step: tensor<i32> {dist.role = "step"})
    -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"},
        tensor<4x4xf32> {dist.gradient_of = @w}, tensor<i32> {dist.writes = @counter}) {
  %c = arith.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>, dist.chunk = 0 : i64} dense<0.0> : tensor<f32>
  return %c, %c, %w, %n : tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<i32>
}
func.func @train.update(%w: tensor<4x4xf32> {dist.reads = @w}, %m: tensor<4x4xf32> {dist.reads = @w.m},
                        %g: tensor<4x4xf32> {dist.gradient_of = @w}, %ls: tensor<f32> {dist.role = "loss_sum"},
                        %n: tensor<f32> {dist.role = "count"}, %lr: tensor<f32> {dist.hyper = @lr})
    -> (tensor<4x4xf32> {dist.writes = @w}, tensor<4x4xf32> {dist.writes = @w.m},
        tensor<f32> {dist.role = "metric", dist.metric = "loss"}) {
  return %w, %m, %ls : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
// CHECK: dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(4) schedule(<"zb-h1" with {chunks = 2 : i64}>) recompute(<all>) chunks([0, 0, 1]) table(<["F0.0 B0.0 U"]>)
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(4)
    schedule(<"zb-h1" with {chunks = 2}>) recompute(<all>) chunks([0, 0, 1]) table(<["F0.0  B0.0 U"]>)
// CHECK: dist.entry @forward function(@loss)
dist.entry @forward function(@loss)

// CHECK: func.func private @fed
// CHECK-SAME: tensor<4xi32> {dist.data = #dist.data<"corpus", dtype = ui8, offset = 1>}
// CHECK-SAME: tensor<4x2xf32> {dist.data = #dist.data<"x", kind = array, tensor = "images", shuffle = false>}
func.func private @fed(tensor<4xi32> {dist.data = #dist.data<"corpus", dtype = ui8, offset = 1>},
                       tensor<4x2xf32> {dist.data = #dist.data<"x", kind = array, tensor = "images", shuffle = false>})
