// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile %t/model.mlir --compile-to=import -o - --config
// DEFINE: %{mesh} = --mesh data=2,tensor=2
// RUN: %{import} %t/good.toml %{mesh} | FileCheck %t/good.toml
// RUN: %{import} %t/good.toml --mesh tensor=2 | FileCheck %t/good.toml --check-prefix=TENSOR
// RUN: %{import} %t/good.toml | FileCheck %t/good.toml --check-prefix=ONE
// RUN: llmc compile %t/model.mlir --compile-to=training -o - --config %t/good.toml %{mesh} | FileCheck %t/good.toml --check-prefix=STEP
// RUN: not %{import} %t/axis.toml %{mesh} 2>&1 | FileCheck %t/axis.toml
// RUN: not %{import} %t/pipe.toml %{mesh} 2>&1 | FileCheck %t/pipe.toml
// RUN: not %{import} %t/twice.toml %{mesh} 2>&1 | FileCheck %t/twice.toml
// RUN: not %{import} %t/rank.toml %{mesh} 2>&1 | FileCheck %t/rank.toml
// RUN: not %{import} %t/nothing.toml 2>&1 | FileCheck %t/nothing.toml
// RUN: not %{import} %t/input.toml 2>&1 | FileCheck %t/input.toml
// RUN: not %{import} %t/both.toml 2>&1 | FileCheck %t/both.toml
// RUN: not %{import} %t/none.toml 2>&1 | FileCheck %t/none.toml
// RUN: not %{import} %t/kind.toml 2>&1 | FileCheck %t/kind.toml
// RUN: not %{import} %t/given.toml 2>&1 | FileCheck %t/given.toml
// RUN: not %{import} %t/empty.toml 2>&1 | FileCheck %t/empty.toml
// RUN: not %{import} %t/open.toml %{mesh} 2>&1 | FileCheck %t/open.toml
// RUN: not %{import} %t/no-dims.toml 2>&1 | FileCheck %t/no-dims.toml
// RUN: not %{import} %t/sent.toml 2>&1 | FileCheck %t/sent.toml
// RUN: %{import} %t/use.toml %{mesh} | FileCheck %t/use.toml
// RUN: not llmc compile %t/four.mlir --compile-to=import -o - --config %t/shown.toml 2>&1 | FileCheck %t/shown.toml --check-prefix=FOUR
// RUN: not llmc compile %t/five.mlir --compile-to=import -o - --config %t/shown.toml 2>&1 | FileCheck %t/shown.toml --check-prefix=FIVE

// RUN: %{import} %t/dims.toml %{mesh} | FileCheck %t/dims.toml

//--- dims.toml
# A glob with two lists is about matrices; the next table that matches gives vectors their layout.
# CHECK-DAG: #[[MATRIX:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
# CHECK-DAG: #[[VECTOR:.*]] = #dist.layout<@mesh, [{"data"}]>
# CHECK-DAG: dist.state @a.w : {{.*}}rest = #[[MATRIX]]>
# CHECK-DAG: dist.state @a.b : {{.*}}rest = #[[VECTOR]]>
# CHECK-DAG: dist.state @c.w : {{.*}}rest = #[[MATRIX]]>
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "*"
rest = [[], ["tensor"]]

[[layout]]
match = "*"
rest = [["data"]]

//--- model.mlir
func.func public @main(%arg0: tensor<4x6xf32> loc("p['a']['w']"), %arg1: tensor<6xf32> loc("p['a']['b']"), %arg2: tensor<6x4xf32> loc("p['c']['w']"), %arg3: tensor<8x4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x6xf32>
  %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}

//--- good.toml
# For each kind the first match counts; an open dim ends in "?"; axes of size 1
# drop out, and nothing is left on one device.
# CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
# CHECK-DAG: #[[GRADIENT:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
# CHECK-DAG: #[[OPEN:.*]] = #dist.layout<@mesh, [{"tensor", ?}]>
# CHECK: dist.state @a.w : tensor<4x6xf32> {{.*}}row = #dist.row<rest = #[[COLUMNS]], use = #{{[a-z0-9]+}}, gradient = #[[GRADIENT]], optimizer = #[[GRADIENT]]>
# CHECK: dist.state @a.b : tensor<6xf32> {{.*}}row = #dist.row<rest = #[[OPEN]]>
# CHECK-NOT: optimizer_rest
# CHECK: dist.state @c.w : tensor<6x4xf32> {{.*}}row = #dist.row<rest = #{{.*}}, use = #
# CHECK: func.func public @loss(
# CHECK-SAME: #dist.port<input {{.*}}layout = <@mesh, [{"data"}, {}]>
# TENSOR-DAG: #{{.*}} = #dist.layout<@mesh, [{}, {"tensor"}]>
# TENSOR-NOT: "data"}
# ONE-NOT: #dist.layout
# ONE-NOT: optimizer = #
# Optimizer states take the layout of their own or that at rest.
# STEP-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
# STEP-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
# STEP-DAG: #[[OPEN:.*]] = #dist.layout<@mesh, [{"tensor", ?}]>
# STEP-NOT: optimizer_rest
# STEP: dist.state @a.w : tensor<4x6xf32> {{.*}}row = #dist.row<rest = #[[COLUMNS]], use = #{{[a-z0-9]+}}, gradient = #[[BOTH]]>
# STEP: dist.state @a.w.m : tensor<4x6xf32> {{.*}}row = #dist.row<rest = #[[BOTH]]>
# STEP: dist.state @a.b.v : tensor<6xf32> {{.*}}row = #dist.row<rest = #[[OPEN]]>
# STEP: func.func private @train.microbatch({{.*}}layout = <@mesh, [{"data"}, {}]>
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
input = "*"
dims = [["data"]]

[[layout]]
match = "a.w"
rest = [[], ["tensor"]]
gradient = [["data"], ["tensor"]]
optimizer = [["data"], ["tensor"]]

[[layout]]
match = "*.b"
rest = [["tensor", "?"]]

[[layout]]
match = "*.w"
rest = [["tensor", "data"]]
use = [["tensor"]]

//--- axis.toml
# CHECK: llmc: error[usage]: {{.*}}axis.toml:13:8: expected 'layout[0].rest' to name axes of 'mesh.axes' (data, tensor), got "tesnor", did you mean "tensor"?
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
rest = [[], ["tesnor"]]

//--- pipe.toml
# CHECK: llmc: error[usage]: {{.*}}pipe.toml:14:8: expected 'layout[0].rest' to name axes other than the pipeline axis, got "tensor" (stages follow from the blocks of the model)
[mesh]
axes = ["data", "tensor"]
pipeline = "tensor"

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
rest = [[], ["tensor"]]

//--- twice.toml
# CHECK: llmc: error[usage]: {{.*}}twice.toml:13:7: expected 'layout[0].use' to name each axis once, got "data" twice
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
use = [["data"], ["data"]]

//--- rank.toml
# CHECK: llmc: error[usage]: {{.*}}rank.toml:13:8: expected 'layout[0].rest' to have at most 1 lists, one for each dimension of 'a.b', got 2
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.b"
rest = [[], ["tensor"]]

//--- nothing.toml
# CHECK: llmc: error[usage]: {{.*}}nothing.toml:9:9: expected 'layout[0].match' to match a state, got "a.v", which matches none (did you mean 'a.w'?)
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.v"
rest = [["data"]]

//--- input.toml
# CHECK: llmc: error[usage]: {{.*}}input.toml:9:9: expected 'layout[0].input' to match an input, got "tokens", which matches none (there are x)
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
input = "tokens"
dims = [["data"]]

//--- both.toml
# CHECK: llmc: error[usage]: {{.*}}both.toml:8:1: expected 'layout[0]' to have one of 'match' (states) and 'input', got both
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
input = "x"
dims = [["data"]]

//--- none.toml
# CHECK: llmc: error[usage]: {{.*}}none.toml:8:1: expected 'layout[0]' to have one of 'match' (states) and 'input', got none
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
rest = [["data"]]

//--- kind.toml
# CHECK: llmc: error[usage]: {{.*}}kind.toml:10:8: expected 'dims' for an input, got 'rest'
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
input = "x"
rest = [["data"]]

//--- given.toml
# CHECK: llmc: error[usage]: {{.*}}given.toml:10:8: expected 'rest', 'use', 'gradient' or 'optimizer' for states, got 'dims'
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
dims = [["data"]]

//--- empty.toml
# CHECK: llmc: error[usage]: {{.*}}empty.toml:8:1: expected 'layout[0]' to give a layout (rest, use, gradient or optimizer) or a 'gradient_type', got none
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"

//--- open.toml
# CHECK: llmc: error[usage]: {{.*}}open.toml:13:8: expected 'layout[0].rest' to name axes of 'mesh.axes' (data, tensor), got "?"
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
rest = [["?", "data"]]

//--- sent.toml
# CHECK: llmc: error[usage]: {{.*}}sent.toml:{{[0-9:]+}}: expected 'gradient_type' of states, got it for an input
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
input = "x"
gradient_type = "bf16"

//--- no-dims.toml
# CHECK: {{^}}llmc: error[usage]: {{.*}}no-dims.toml:12:1: expected 'layout[1]' to give a layout (dims), got none{{$}}
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
input = "x"
dims = [[]]

[[layout]]
input = "x"

//--- use.toml
# One kind of layout alone is enough for a row.
# CHECK-DAG: #[[ROWS:.*]] = #dist.layout<@mesh, [{"data"}]>
# CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
# CHECK-DAG: dist.state @a.w : tensor<4x6xf32> {role = parameter, row = #dist.row<use = #[[COLUMNS]]>, source
# CHECK-DAG: dist.state @a.b : tensor<6xf32> {role = parameter, row = #dist.row<gradient = #[[ROWS]]>, source
# CHECK-DAG: dist.state @c.w : tensor<6x4xf32> {role = parameter, source
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "a.w"
use = [[], ["tensor"]]

[[layout]]
match = "a.b"
gradient = [["data"]]

//--- shown.toml
# Four names at most are shown.
# FOUR: {{^}}llmc: error[usage]: {{.*}}shown.toml:11:9: expected 'layout[0].match' to match a state, got "qqqqqqqq", which matches none (there are ab, bc, cd, de){{$}}
# FIVE: {{^}}llmc: error[usage]: {{.*}}shown.toml:11:9: expected 'layout[0].match' to match a state, got "qqqqqqqq", which matches none (there are ab, bc, cd, de, ...){{$}}
[data.inputs]
x = 0

[[init]]
match = "*"

[[layout]]
match = "qqqqqqqq"
use = [[]]

//--- four.mlir
func.func public @main(%a: tensor<4xf32> loc("p['ab']"), %b: tensor<4xf32> loc("p['bc']"), %c: tensor<4xf32> loc("p['cd']"), %d: tensor<4xf32> loc("p['de']"), %x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- five.mlir
func.func public @main(%a: tensor<4xf32> loc("p['ab']"), %b: tensor<4xf32> loc("p['bc']"), %c: tensor<4xf32> loc("p['cd']"), %d: tensor<4xf32> loc("p['de']"), %e: tensor<4xf32> loc("p['ef']"), %x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
