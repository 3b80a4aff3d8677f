// RUN: split-file %s %t
// DEFINE: %{to} = llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/gpt-tiny.mlir -o -
// RUN: %{to} --config %t/zero1.toml --mesh data=2 | FileCheck %t/zero1.toml
// RUN: %{to} --config %t/zero3.toml --mesh data=2 | FileCheck %t/zero3.toml
// RUN: %{to} --config %t/zero1.toml --mesh pipe=2,data=2 | FileCheck %t/zero1.toml --check-prefix=PIPE
// RUN: %{to} --config %t/zero1.toml | FileCheck %t/zero1.toml --check-prefix=ONE

//--- zero1.toml
# The table that matches first says of which type: weights of layer norms keep
# their own. Microbatches are added up before anything is rounded.
# CHECK-LABEL: func.func private @train.microbatch
# CHECK-NOT: dist.rounds_terms
# CHECK-LABEL: func.func private @train.update
# CHECK: %[[TERMS:.*]] = stablehlo.convert %arg{{[0-9]+}} {dist.phase = #dist.phase<update>, dist.rounds_terms} : (tensor<256x16xf32, #[[PARTIAL:.*]]>) -> tensor<256x16xbf16, #[[PARTIAL]]>
# CHECK: %[[SUM:.*]] = dist.reduce_scatter %[[TERMS]] {{.*}} : tensor<256x16xbf16, #[[PARTIAL]]> -> tensor<256x16xbf16, #[[SPLIT:.*]]>
# CHECK: stablehlo.convert %[[SUM]] {dist.phase = #dist.phase<update>} : (tensor<256x16xbf16, #[[SPLIT]]>) -> tensor<256x16xf32, #[[SPLIT]]>
# CHECK: dist.reduce_scatter %arg{{[0-9]+}} {{.*}} : tensor<16xf32,
# CHECK-LABEL: func.func private @evaluate

# The terms of both stages of the tied embedding are sent rounded.
# PIPE-LABEL: func.func private @train.update
# PIPE-NOT: dist.{{all_reduce|reduce_scatter|reduce|broadcast}} {{.*}}x{{[0-9]+}}xf32
# PIPE: dist.rounds_terms{{.*}} : (tensor<256x16xf32,
# PIPE-NOT: dist.{{all_reduce|reduce_scatter|reduce|broadcast}} {{.*}}x{{[0-9]+}}xf32
# PIPE-LABEL: func.func private @evaluate

# Nothing is sent, and nothing is rounded.
# ONE-NOT: xbf16
# ONE-LABEL: func.func private @train.update
# ONE-NOT: xbf16
# ONE-LABEL: func.func private @evaluate
[mesh]
axes = ["pipe", "data"]
pipeline = "pipe"
[data.inputs]
tokens = 0
targets = 1
[[init]]
draw = "ones"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*.ln*.scale"
gradient_type = "f32"
[[layout]]
match = "*"
rest = [["data"]]
use = []
gradient_type = "bf16"
[training]
microbatches = 2

//--- zero3.toml
# A row that splits the gradient has it sent in each microbatch.
# CHECK-LABEL: func.func private @train.microbatch
# CHECK: %[[TERMS:.*]] = stablehlo.convert %{{.*}} {dist.block = {{[0-9]+}} : i64, dist.phase = #dist.phase<backward_weight>, dist.rounds_terms} : (tensor<64x16xf32, #[[PARTIAL:.*]]>) -> tensor<64x16xbf16, #[[PARTIAL]]>
# CHECK: %[[SUM:.*]] = dist.reduce_scatter %[[TERMS]] {{.*}} : tensor<64x16xbf16, #[[PARTIAL]]> ->
# CHECK: stablehlo.convert %[[SUM]] {{.*}}bf16, {{.*}} -> tensor<64x16xf32,
# CHECK-NOT: dist.reduce_scatter {{.*}}xf32
# CHECK-LABEL: func.func private @train.update
# CHECK-NOT: dist.rounds_terms
# CHECK-LABEL: func.func private @evaluate
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
gradient_type = "bf16"
[training]
microbatches = 2
