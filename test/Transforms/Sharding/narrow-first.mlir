// RUN: split-file %s %t
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --set training.precision=bf16 --set training.microbatches=1 --mesh data=2 -o - | FileCheck %t/loop.txt
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir --config %t/zero3.toml --mesh data=2 -o - | FileCheck %t/zero3.toml
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir --config %t/fsdp.toml --mesh data=2 -o - | FileCheck %t/zero3.toml
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir --config %t/zero3.toml --set training.precision=fp8 --mesh data=2 -o - | FileCheck %t/eight.txt
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --set training.precision=fp8 --mesh data=2 -o - | FileCheck %t/trips.txt
// RUN: llmc compile --compile-to=materialized %t/same.mlir --config %t/same.toml --set training.precision=bf16 --mesh data=2 -o - | FileCheck %t/same.mlir
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir --config %t/turned.toml --mesh data=2,tensor=2 -o - | FileCheck %t/turned.toml

//--- turned.toml
# What rests split by one axis and is used split by another was reduced over the
# other one, and is over the first alone.
# CHECK-LABEL: func.func private @train.microbatch
# CHECK: %[[A:.*]] = stablehlo.abs %{{.*}} : tensor<16x64xf32, #[[SPLIT:.*]]>
# CHECK: %[[R:.*]] = stablehlo.reduce(%[[A]] init: %{{.*}} : (tensor<16x64xf32, #[[SPLIT]]>, {{.*}}) -> tensor<f32,
# CHECK: %[[M:.*]] = dist.all_reduce %[[R]] over ["data"] max
# CHECK: %[[Q:.*]] = nn.quantize %{{.*}} -> tensor<16x64xf8E4M3FN, #[[SPLIT]]>
# CHECK: dist.{{all_to_all|all_gather}} %{{.*}} : tensor<16x64xf8E4M3FN,
# CHECK-LABEL: func.func private @train.update
[mesh]
axes = ["data", "tensor"]
[data.inputs]
tokens = 0
targets = 1
[[init]]
draw = "ones"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*.mlp.in.w"
rest = [["data"]]
use = [[], ["tensor"]]
[training]
precision = "fp8"

//--- eight.txt
// The greatest element is that of what each device has, and then of all of them;
// what is gathered has a byte an element.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[A:.*]] = stablehlo.abs %[[W:arg[0-9]+|[a-z0-9]+]] {{.*}} : tensor<16x48xf32, #[[SPLIT:.*]]>
// CHECK: %[[R:.*]] = stablehlo.reduce(%[[A]] init: %{{.*}} -> tensor<f32, #[[MAX:.*]]>
// CHECK: %[[M:.*]] = dist.all_reduce %[[R]] over ["data"] max {{.*}} : tensor<f32, #[[MAX]]> -> tensor<f32,
// CHECK: %[[Q:.*]] = nn.quantize %{{.*}} : (tensor<16x48xf32, #[[SPLIT]]>, tensor<f32, {{.*}}>) -> tensor<16x48xf8E4M3FN, #[[SPLIT]]>
// CHECK: dist.all_gather %[[Q]] dim 0 over ["data"]
// CHECK-NOT: dist.all_gather {{.*}} : tensor<{{16x64|64x16|16x48|16x16}}xf32,
// CHECK-LABEL: func.func private @train.update

//--- trips.txt
// So is each row of a stack, in each trip.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[ROW:.*]] = dist.enter row %{{.*}} of <"loop0", trips = 6>
// CHECK: stablehlo.abs %[[ROW]]
// CHECK: dist.all_reduce %{{.*}} over ["data"] max {{.*}} : tensor<f32,
// CHECK: %[[Q:.*]] = nn.quantize %[[ROW]], {{.*}} -> tensor<4x4xf8E4M3FN,
// CHECK: dist.all_gather %[[Q]] dim 0 over ["data"]
// CHECK-NOT: dist.all_gather {{.*}}xf32
// CHECK: dist.enter row %{{.*}} of <"loop0", trips = 6, reversed = true>
// CHECK-NOT: dist.all_gather {{.*}}xf32
// CHECK: return

//--- loop.txt
// Each row is converted in the part that a device has, and then gathered.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[ROW:.*]] = dist.enter row %{{.*}} of <"loop0", trips = 6>
// CHECK: %[[NARROW:.*]] = stablehlo.convert %[[ROW]]
// CHECK: %[[WHOLE:.*]] = dist.all_gather %[[NARROW]] dim 0 over ["data"] {{.*}} : tensor<4x4xbf16, #{{.*}}> ->
// CHECK: stablehlo.dot_general %{{.*}}, %[[WHOLE]]
// CHECK: %[[BACK:.*]] = dist.enter row %{{.*}} of <"loop0", trips = 6, reversed = true>
// CHECK: %[[AGAIN:.*]] = stablehlo.convert %[[BACK]]
// CHECK: dist.all_gather %[[AGAIN]] dim 0 over ["data"] {{.*}} : tensor<4x4xbf16,
// CHECK-NOT: dist.all_gather
// CHECK: return

//--- same.mlir
// What all trips read as it is, is narrow before it is gathered in front of
// the loops, once for both directions.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[NARROW:.*]] = stablehlo.convert %arg0 {{.*}} -> tensor<4x4xbf16,
// CHECK: %[[WHOLE:.*]] = dist.all_gather %[[NARROW]] dim 0 over ["data"] {{.*}} : tensor<4x4xbf16,
// CHECK-NOT: dist.all_gather
// CHECK: %[[SAME:.*]] = dist.enter same %[[WHOLE]] of <"loop0", trips = 6>
// CHECK: stablehlo.dot_general %{{.*}}, %[[SAME]],
// CHECK: %[[BACK:.*]] = dist.enter same %[[WHOLE]] of <"loop0", trips = 6, reversed = true>
// CHECK: stablehlo.dot_general %{{.*}}, %[[BACK]],
// CHECK-LABEL: func.func private @train.update
func.func public @main(%w: tensor<4x4xf32> loc("params['w']"), %x: tensor<2x4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%W = %w, %i = %zero, %c = %x) : tensor<4x4xf32>, tensor<i32>, tensor<2x4xf32>
  cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.dot_general %c, %W, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %t = stablehlo.tanh %y : tensor<2x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %W, %j, %t : tensor<4x4xf32>, tensor<i32>, tensor<2x4xf32>
  }
  %s = stablehlo.multiply %0#2, %0#2 : tensor<2x4xf32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %f) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %m = stablehlo.divide %r, %n : tensor<f32>
  return %m : tensor<f32>
}

//--- same.toml
[mesh]
axes = ["data"]
[data.x]
kind = "array"
file = "x.npy"
[[init]]
draw = "ones"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "w"
rest = [["data"]]
use = []

//--- zero3.toml
# Of each weight half the bytes are gathered, once for forward and backward, of
# the fused projection too; the embedding, whose rows are looked up wide, is
# gathered wide, and rounded where it is multiplied.
# CHECK-LABEL: func.func private @train.microbatch
# CHECK-DAG: dist.all_gather %{{.*}} : tensor<256x16xf32,
# CHECK-DAG: dist.all_gather %{{.*}} : tensor<64x16xbf16,
# CHECK-DAG: dist.all_gather %{{.*}} : tensor<16x64xbf16,
# CHECK-DAG: dist.all_gather %{{.*}} : tensor<16x16xbf16,
# CHECK-NOT: dist.all_gather {{.*}} : tensor<{{16x64|64x16|16x48|16x16}}xf32,
# CHECK-NOT: dist.all_gather {{.*}} : tensor<{{256x16|16x256}}x
# CHECK-LABEL: func.func private @train.update
[mesh]
axes = ["data"]
[data.inputs]
tokens = 0
targets = 1
[[init]]
draw = "ones"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*"
rest = [["data"]]
use = []
gradient = [["data"]]
[training]
precision = "bf16"

//--- fsdp.toml
[mesh]
axes = ["data"]
[data.inputs]
tokens = 0
targets = 1
[[init]]
draw = "ones"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*"
rest = [["data"]]
[training]
precision = "bf16"
