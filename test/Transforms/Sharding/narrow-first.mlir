// RUN: split-file %s %t
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --set training.precision=bf16 --mesh data=2 -o - | FileCheck %t/loop.txt
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir --config %t/zero3.toml --mesh data=2 -o - | FileCheck %t/zero3.toml
// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir --config %t/fsdp.toml --mesh data=2 -o - | FileCheck %t/zero3.toml

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
