// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --set 'training.drop=["result1"]' --compile-to=import -o -
// RUN: %{import} %t/empty.mlir | FileCheck %t/empty.mlir
// RUN: %{import} %t/split.mlir --config %t/init.toml | FileCheck %t/split.mlir
// RUN: %{import} %t/split.mlir --config %t/init.toml --mesh tensor=4 | FileCheck %s --check-prefix=SIZE
// SIZE: dist.mesh @mesh = <"data"=2, "tensor"=4>
// RUN: %{import} %t/split.mlir --config %t/axes.toml --mesh data=2 | FileCheck %t/axes.toml
// RUN: %{import} %t/split.mlir --config %t/axes.toml | FileCheck %s --check-prefix=ONE
// ONE-NOT: #dist.layout
// ONE-NOT: dist.constraint
// RUN: %{import} %t/split.mlir --config %t/layout.toml | FileCheck %t/layout.toml
// RUN: %{import} %t/split.mlir --config %t/optimizer.toml | FileCheck %t/optimizer.toml
// RUN: not %{import} %t/split.mlir --config %t/init.toml --set 'mesh.axes=["date","tensor"]' 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: llmc: error[usage]: {{.*}}: expected a sharding by axes of 'mesh.axes' (date, tensor), got "data", did you mean "date"?
// RUN: not %{import} %t/split.mlir --config %t/init.toml --set mesh.pipeline=data 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: llmc: error[usage]: {{.*}}: expected a sharding by axes other than the pipeline axis, got "data"
// RUN: not %{import} %t/split.mlir --config %t/init.toml --set 'mesh.axes=["qqqqqqqq","tensor"]' 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: {{: }}expected a sharding by axes of 'mesh.axes' (qqqqqqqq, tensor), got "data"{{$}}
// RUN: %{import} %t/split.mlir --config %t/input.toml | FileCheck %t/input.toml
// RUN: not %{import} %t/absent.mlir --config %t/init.toml 2>&1 | FileCheck %t/absent.mlir
// RUN: not %{import} %t/two.mlir 2>&1 | FileCheck %t/two.mlir
// RUN: not %{import} %t/unreduced.mlir 2>&1 | FileCheck %t/unreduced.mlir

//--- empty.mlir
// Constraints on a mesh without axes say nothing; they and the mesh go.
// CHECK-NOT: sdy
// CHECK: func.func public @loss
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.reduce(%arg0 init:
// CHECK-NOT: sdy
module @jit_f {
  sdy.mesh @empty_mesh = <[]>
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>} loc("x")) -> tensor<f32> {
    %0 = sdy.sharding_constraint %arg0 <@empty_mesh, [{}]> : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@empty_mesh, []>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

//--- split.mlir
// Without [mesh] the text's own mesh is taken. Arguments give layouts at rest
// and of inputs, ops and results constraints.
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
// CHECK-DAG: #[[OPEN:.*]] = #dist.layout<@mesh, [{"data", ?}p1, {?}]>
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
// CHECK-DAG: #[[FREE:.*]] = #dist.layout<@mesh, [{}, {}], replicated = {"data"}>
// CHECK-NOT: sdy
// CHECK: dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK: dist.state @w : {{.*}}row = #dist.row<rest = #[[COLUMNS]]>
// CHECK: func.func public @loss({{.*}}layout = <@mesh, [{"data"}, {}]>
// CHECK: %[[X:.*]] = dist.constraint %arg1 to {{#[^ ]+|<@mesh, \[{"data", \?}p1, {\?}\]>}} : tensor<8x4xf32>
// CHECK: %[[Y:.*]] = stablehlo.dot_general %[[X]],
// CHECK: %[[Z:.*]] = dist.constraint %[[Y]] to
// CHECK: %[[T:.*]] = stablehlo.tanh %[[Z]]
// CHECK: stablehlo.reduce(%[[T]]
// CHECK: %[[OUT:.*]] = dist.constraint %[[T]] to
// CHECK-NOT: dist.constraint
// CHECK: return %{{.*}}, %[[OUT]]
// CHECK-NOT: sdy
module @jit_f {
  sdy.mesh @mesh = <["data"=2, "tensor"=2]>
  func.func public @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tensor"}]>} loc("p['w']"), %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x")) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"data"}>}) {
    %0 = sdy.sharding_constraint %arg1 <@mesh, [{"data", ?}p1, {?}]> : tensor<8x4xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"tensor"}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %2 = stablehlo.tanh %1 : tensor<8x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
    return %3, %2 : tensor<f32>, tensor<8x6xf32>
  }
}

//--- init.toml
[[init]]
match = "*"

//--- axes.toml
# Axes are those of the configuration, by name; sizes come from --mesh.
# CHECK-NOT: "tensor"}
# CHECK: dist.mesh @mesh = <"pipe"=1, "data"=2, "tensor"=1> pipeline "pipe"
# CHECK: dist.constraint
[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"

[[init]]
match = "*"

//--- layout.toml
# A layout of the configuration goes before that of the text.
# CHECK: #[[ROWS:.*]] = #dist.layout<@mesh, [{"tensor"}, {}]>
# CHECK: dist.state @w : {{.*}}row = #dist.row<rest = #[[ROWS]]>
[[init]]
match = "*"

[[layout]]
match = "w"
rest = [["tensor"]]

//--- input.toml
# So does that of an input.
# CHECK: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
# CHECK: func.func public @loss({{.*}}#dist.port<input "x", data = <"data">, layout = #[[COLUMNS]]>
[[init]]
match = "*"

[[layout]]
input = "x"
dims = [[], ["tensor"]]

//--- absent.mlir
// CHECK: {{^}}llmc: error[malformed]: {{.*}}absent.mlir:4:3: 'func.func' op argument #1 expected a mesh of that name, got @nope{{$}}
module @jit_f {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"), %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@nope, [{}]>} loc("y")) -> tensor<8x4xf32> {
    return %arg0 : tensor<8x4xf32>
  }
}

//--- optimizer.toml
# The text gives the layout at rest, the configuration that of the optimizer's states.
# CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
# CHECK-DAG: #[[ROWS:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
# CHECK: dist.state @w : {{.*}}row = #dist.row<rest = #[[COLUMNS]], optimizer = #[[ROWS]]>
[[init]]
match = "*"

[[layout]]
match = "w"
optimizer = [["data"]]

//--- two.mlir
// CHECK: llmc: error[unsupported]: {{.*}}two.mlir:7:{{[0-9]+}}: expected one mesh in all shardings, got two with different axes
module @jit_f {
  sdy.mesh @mesh = <["data"=4]>
  sdy.mesh @other = <["model"=4]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x")) -> tensor<f32> {
    // The place of the other:
    %0 = sdy.sharding_constraint %arg0 <@other, [{"model"}, {}]> : tensor<8x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    return %zero : tensor<f32>
  }
}

//--- unreduced.mlir
// CHECK: llmc: error[unsupported]: {{.*}}unreduced.mlir:6:{{[0-9]+}}: expected a sharding without unreduced axes
module @jit_f {
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%arg0: tensor<8x4xf32> loc("x")) -> tensor<f32> {
    // The place:
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {}], unreduced={"data"}> : tensor<8x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    return %zero : tensor<f32>
  }
}
