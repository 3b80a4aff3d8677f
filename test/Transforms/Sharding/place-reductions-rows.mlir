// RUN: llmc-opt %s --split-input-file --llmc-place-reductions --llmc-materialize --llmc-expand-reshards --llmc-verify-materialized | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-place-reductions --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A device holds 384 x 384 / 2 elements of the gradient, 294,912 bytes, of
// which it receives three quarters twice in an all-reduce and once in a
// reduce-scatter: once in a step, or in each of four microbatches.
// REMARK: Remark="sum over "tensor" reduced here, 4 B received, 1 time in a step"
// REMARK: Remark="sum over "data" reduced here, 442368 B received, 1 time in a step"
// REMARK: Remark="sum over "data" reduced here, 221184 B received, 1 time in a step"
// REMARK: Remark="sum over "data" reduced here, 221184 B received, 4 times in a step"
// REMARK: Remark="sum over "data" reduced here, 221184 B received, 4 times in a step"

// One weight on data = 4, tensor = 2 with four microbatches; data-parallel
// schemes are rows. Plain: the gradient crosses to the update as a sum and is
// reduced there.
// CHECK: func.func @microbatch
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: func.func @update
// CHECK: dist.all_reduce {{.*}} over ["data", "tensor"] {{.*}}tensor<f32
// CHECK: dist.all_reduce {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: dist.step
#x = #dist.layout<@mesh, [{"data"}, {}]>
#y = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#use = #dist.layout<@mesh, [{}, {"tensor"}]>
#rest = #dist.layout<@mesh, [{}, {"tensor"}]>
#gradient = #dist.layout<@mesh, [{}, {"tensor"}]>
#optimizer = #dist.layout<@mesh, [{}, {"tensor"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=4, "tensor"=2>
dist.state @W : tensor<384x384xf32> {role = parameter, row = #dist.row<rest = #use, use = #use>, source = #dist.draw<ones>}
func.func @microbatch(%x: tensor<4096x384xf32> {dist.port = #dist.port<input "x", layout = #x>}, %W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %W, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<4096x384xf32>, tensor<384x384xf32>) -> tensor<4096x384xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<4096x384xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] {dist.layouts = [#gradient]} : (tensor<4096x384xf32>, tensor<4096x384xf32>) -> tensor<384x384xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<384x384xf32>
}
func.func @update(%W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, %g: tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<384x384xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])

// -----

// ZeRO-1: the update works on split values: reduce-scatter, then all-gather.
// CHECK: func.func @microbatch
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: func.func @update
// CHECK: dist.all_reduce {{.*}} over ["data", "tensor"] {{.*}}tensor<f32
// CHECK: dist.reduce_scatter {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK: dist.all_gather {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: dist.step
#x = #dist.layout<@mesh, [{"data"}, {}]>
#y = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#use = #dist.layout<@mesh, [{}, {"tensor"}]>
#rest = #dist.layout<@mesh, [{}, {"tensor"}]>
#gradient = #dist.layout<@mesh, [{}, {"tensor"}]>
#optimizer = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=4, "tensor"=2>
dist.state @W : tensor<384x384xf32> {role = parameter, row = #dist.row<rest = #use, use = #use>, source = #dist.draw<ones>}
func.func @microbatch(%x: tensor<4096x384xf32> {dist.port = #dist.port<input "x", layout = #x>}, %W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %W, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<4096x384xf32>, tensor<384x384xf32>) -> tensor<4096x384xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<4096x384xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] {dist.layouts = [#gradient]} : (tensor<4096x384xf32>, tensor<4096x384xf32>) -> tensor<384x384xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<384x384xf32>
}
func.func @update(%W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, %g: tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<384x384xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])

// -----

// ZeRO-2: the gradient is stored split, so each microbatch scatters.
// CHECK: func.func @microbatch
// CHECK: dist.reduce_scatter {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: func.func @update
// CHECK: dist.all_reduce {{.*}} over ["data", "tensor"] {{.*}}tensor<f32
// CHECK: dist.all_gather {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: dist.step
#x = #dist.layout<@mesh, [{"data"}, {}]>
#y = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#use = #dist.layout<@mesh, [{}, {"tensor"}]>
#rest = #dist.layout<@mesh, [{}, {"tensor"}]>
#gradient = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#optimizer = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=4, "tensor"=2>
dist.state @W : tensor<384x384xf32> {role = parameter, row = #dist.row<rest = #use, use = #use, gradient = #gradient>, source = #dist.draw<ones>}
func.func @microbatch(%x: tensor<4096x384xf32> {dist.port = #dist.port<input "x", layout = #x>}, %W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %W, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<4096x384xf32>, tensor<384x384xf32>) -> tensor<4096x384xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<4096x384xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] {dist.layouts = [#gradient]} : (tensor<4096x384xf32>, tensor<4096x384xf32>) -> tensor<384x384xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<384x384xf32>
}
func.func @update(%W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, %g: tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<384x384xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])

// -----

// ZeRO-3: the weight rests split and is gathered for its use.
// CHECK: func.func @microbatch
// CHECK: dist.all_gather {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK: dist.reduce_scatter {{.*}} over ["data"] {{.*}}tensor<384x384xf32
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: func.func @update
// CHECK: dist.all_reduce {{.*}} over ["data", "tensor"] {{.*}}tensor<f32
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: dist.step
#x = #dist.layout<@mesh, [{"data"}, {}]>
#y = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#use = #dist.layout<@mesh, [{}, {"tensor"}]>
#rest = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#gradient = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#optimizer = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=4, "tensor"=2>
dist.state @W : tensor<384x384xf32> {role = parameter, row = #dist.row<rest = #rest, use = #use, gradient = #gradient>, source = #dist.draw<ones>}
func.func @microbatch(%x: tensor<4096x384xf32> {dist.port = #dist.port<input "x", layout = #x>}, %W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %W, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<4096x384xf32>, tensor<384x384xf32>) -> tensor<4096x384xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<4096x384xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] {dist.layouts = [#gradient]} : (tensor<4096x384xf32>, tensor<4096x384xf32>) -> tensor<384x384xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<384x384xf32>
}
func.func @update(%W: tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, %g: tensor<384x384xf32> {dist.port = #dist.port<gradient @W, layout = #gradient>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<384x384xf32> {dist.port = #dist.port<parameter @W, layout = #rest>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#optimizer]} : tensor<384x384xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<384x384xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])

