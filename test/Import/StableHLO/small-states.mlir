// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile %t/model.mlir --compile-to=import -o - --mesh data=2,tensor=2 --remarks=%t/remarks --config
// RUN: cat %t/model.toml %t/zero.toml > %t/all.toml && %{import} %t/all.toml | FileCheck %t/zero.toml
// RUN: FileCheck %t/zero.toml --check-prefix=REMARK --input-file=%t/remarks
// RUN: cat %t/model.toml %t/annotations.toml > %t/all.toml && %{import} %t/all.toml | FileCheck %t/annotations.toml
// RUN: cat %t/model.toml %t/least.toml > %t/all.toml && %{import} %t/all.toml | FileCheck %t/least.toml
// RUN: count 0 < %t/remarks
// RUN: cat %t/model.toml %t/input.toml > %t/all.toml && not %{import} %t/all.toml 2>&1 | FileCheck %t/input.toml
// RUN: cat %t/model.toml %t/negative.toml > %t/all.toml && not %{import} %t/all.toml 2>&1 | FileCheck %t/negative.toml

// A matrix of 96 bytes, vectors of 24.

//--- zero.toml
# Of a row with a use, what is small rests and is updated as it is used; a table
# that names a state counts whatever its size, and so does a kind of layout of
# another table.
# CHECK-DAG: #[[HALF:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
# CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
# CHECK-DAG: #[[NAMED:.*]] = #dist.layout<@mesh, [{"data"}]>
# CHECK-DAG: #[[VECTOR:.*]] = #dist.layout<@mesh, [{}]>
# CHECK: dist.state @a.w : {{.*}}row = #dist.row<rest = #[[HALF]], use = #[[WHOLE]], gradient = #[[HALF]], optimizer = #[[HALF]]>
# CHECK: dist.state @a.b : {{.*}}row = #dist.row<rest = #[[VECTOR]], use = #[[VECTOR]]>
# CHECK: dist.state @c.b : {{.*}}row = #dist.row<rest = #[[NAMED]], use = #[[VECTOR]], optimizer = #[[NAMED]]>
# REMARK: {{^}}small: rest, gradient and optimizer of layout[2] do not count for 2 states of 48 B in all, since its whole_below is 96: a.b, c.b
# REMARK-NOT: {{.}}
[[layout]]
input = "x"
dims = [["data"]]

[[layout]]
match = "c.b"
rest = [["data"]]
optimizer = [["data"]]

[[layout]]
match = "*"
rest = [["data"]]
use = []
gradient = [["data"]]
optimizer = [["data"]]
whole_below = 96

//--- annotations.toml
# Of a row without a use, what is small rests without the axes that split inputs;
# others stay.
# CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{"tensor", "data"}, {}]>
# CHECK-DAG: #[[TENSOR:.*]] = #dist.layout<@mesh, [{"tensor"}]>
# CHECK: dist.state @a.w : {{.*}}row = #dist.row<rest = #[[BOTH]]>
# CHECK: dist.state @a.b : {{.*}}row = #dist.row<rest = #[[TENSOR]], use = #[[TENSOR]]>
[[layout]]
input = "x"
dims = [["data"]]

[[layout]]
match = "*"
rest = [["tensor", "data"]]
whole_below = 25

//--- least.toml
# What has just as many bytes is not small.
# CHECK: #[[DATA:.*]] = #dist.layout<@mesh, [{"data"}]>
# CHECK: dist.state @a.b : {{.*}}row = #dist.row<optimizer = #[[DATA]]>
[[layout]]
match = "*.b"
optimizer = [["data"]]
whole_below = 24

//--- input.toml
# CHECK: llmc: error[usage]: {{.*}}all.toml:{{[0-9:]+}}: expected 'whole_below' to be bytes of states, at least 0, got 8 for an input
[[layout]]
input = "x"
dims = [["data"]]
whole_below = 8

//--- negative.toml
# CHECK: llmc: error[usage]: {{.*}}all.toml:{{[0-9:]+}}: expected 'whole_below' to be bytes of states, at least 0, got -1
[[layout]]
match = "*"
rest = [["data"]]
whole_below = -1

//--- model.toml
[mesh]
axes = ["data", "tensor"]

[data.inputs]
x = 0

[[init]]
match = "*"

//--- model.mlir
func.func public @main(%arg0: tensor<4x6xf32> loc("p['a']['w']"), %arg1: tensor<6xf32> loc("p['a']['b']"), %arg2: tensor<6xf32> loc("p['c']['b']"), %arg3: tensor<8x4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x6xf32>
  %3 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<8x6xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}
