// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --compile-to=import -o -
// DEFINE: %{init} = --config %t/init.toml

// The mesh is cut where parts of its axes begin and end; what names a whole axis
// names all of them, and so does what a table or [machine] says of it.
// RUN: %{import} %t/parts.mlir %{init} | FileCheck %t/parts.mlir
// RUN: %{import} %t/parts.mlir --config %t/table.toml | FileCheck %t/table.toml

// Sizes of --mesh: a part that is the whole axis, and an axis of size 1.
// RUN: %{import} %t/parts.mlir %{init} --mesh tensor=1 | FileCheck %s --check-prefix=ONE
// ONE: #[[ROW:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
// ONE: dist.mesh @mesh = <"data"=4, "tensor"=1>
// ONE: dist.state @w : {{.*}}row = #dist.row<rest = #[[ROW]]>
// RUN: %{import} %t/halves.mlir --mesh data=2 | FileCheck %s --check-prefix=HALF
// HALF: dist.mesh @mesh = <"data"=2>
// HALF: func.func public @loss({{.*}}layout = <@mesh, [{"data"}]>
// RUN: %{import} %t/halves.mlir --mesh data=6 | FileCheck %s --check-prefix=SIX
// SIX: dist.mesh @mesh = <"data:(1)2"=2, "data:(2)3"=3>
// SIX: func.func public @loss({{.*}}layout = <@mesh, [{"data:(1)2"}]>

// RUN: not %{import} %t/halves.mlir --mesh data=3 2>&1 | FileCheck %s --check-prefix=DIVIDE
// DIVIDE: {{^}}llmc: error[usage]: {{.*}}: expected a part that divides the axis "data" of size 3, got "data:(1)2"{{$}}
// RUN: not %{import} %t/chain.mlir 2>&1 | FileCheck %s --check-prefix=CHAIN
// CHAIN: {{^}}llmc: error[unsupported]: {{.*}}chain.mlir:4:{{[0-9]+}}: expected parts of the axis "data" whose ends are a chain of divisors, got "data:(1)3", by which there are ends at 2 and 3{{$}}
// RUN: not %{import} %t/halves.mlir --config %t/overlap.toml 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: {{^}}llmc: error[usage]: {{.*}}overlap.toml:3:8: expected 'layout[0].dims' to name each axis once, got "data:(1)4" and "data:(2)2"{{$}}
// RUN: not %{import} %t/halves.mlir --config %t/twice.toml 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: {{^}}llmc: error[usage]: {{.*}}twice.toml:3:8: expected 'layout[0].dims' to name each axis once, got "data:(2)2" twice{{$}}
// RUN: not %{import} %t/halves.mlir --config %t/unknown.toml 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: {{^}}llmc: error[usage]: {{.*}}unknown.toml:3:8: expected 'layout[0].dims' to name axes of 'mesh.axes' (data), got "date:(1)2", did you mean "data"?{{$}}
// RUN: not %{import} %t/halves.mlir --config %t/pipe.toml --mesh data=4,pipe=4 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: {{^}}llmc: error[usage]: {{.*}}pipe.toml:6:8: expected 'layout[0].dims' to name axes other than the pipeline axis, got "pipe:(1)2"
// RUN: not %{import} %t/halves.mlir --set 'mesh.axes=["data", "t:(1)2"]' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: {{^}}llmc: error[usage]: {{.*}}: expected names of axes that are not those of parts, got "t:(1)2"{{$}}

//--- init.toml
[[init]]
match = "*"

//--- parts.mlir
// CHECK-DAG: #[[ROW:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor:(1)2"}]>
// CHECK-DAG: #[[FREE:.*]] = #dist.layout<@mesh, [{"tensor:(2)2"}, {?}], replicated = {"data"}>
// CHECK-DAG: #[[ALL:.*]] = #dist.layout<@mesh, [{"tensor:(1)2", "tensor:(2)2", "tensor:(4)2"}, {}]>
// CHECK-DAG: #[[LARGE:.*]] = #dist.layout<@mesh, [{"tensor:(2)2", "tensor:(4)2", "data"}, {"tensor:(1)2"}]>
// CHECK: dist.mesh @mesh = <"data"=4, "tensor:(1)2"=2, "tensor:(2)2"=2, "tensor:(4)2"=2>
// CHECK: dist.state @w : {{.*}}row = #dist.row<rest = #[[ROW]]>
// CHECK: dist.constraint %arg1 to #[[FREE]] :
// CHECK-NEXT: dist.constraint %{{.*}} to #[[ALL]] :
// CHECK-NEXT: dist.constraint %{{.*}} to #[[LARGE]] :
module {
  sdy.mesh @mesh = <["data"=4, "tensor"=8]>
  func.func public @main(%w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"tensor":(1)2}]>} loc("p['w']"), %x: tensor<64x64xf32> loc("x")) -> tensor<64x64xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{"tensor":(2)2}, {?}], replicated={"data"}> : tensor<64x64xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"tensor"}, {}]> : tensor<64x64xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"tensor":(2)4, "data"}, {"tensor":(1)2}]> : tensor<64x64xf32>
    %3 = stablehlo.add %2, %w : tensor<64x64xf32>
    return %3 : tensor<64x64xf32>
  }
}

//--- table.toml
# CHECK: #[[ROW:.*]] = #dist.layout<@mesh, [{"tensor:(1)2", "tensor:(2)2", "tensor:(4)2"}, {"data:(2)2", ?}]>
# CHECK: dist.mesh @mesh = <"data:(1)2"=2, "data:(2)2"=2, "tensor:(1)2"=2, "tensor:(2)2"=2, "tensor:(4)2"=2>
# CHECK-SAME: machine <{{.*}}axes = {"data:(1)2" = "slow", "data:(2)2" = "slow"}
# CHECK: dist.state @w : {{.*}}row = #dist.row<rest = #[[ROW]]>
[[init]]
match = "*"

[[layout]]
match = "w"
rest = [["tensor"], ["data:(2)2", "?"]]

[machine]
axes = {data = "slow"}

[[machine.link]]
name = "fast"
bandwidth = 2

[[machine.link]]
name = "slow"

//--- halves.mlir
module {
  sdy.mesh @mesh = <["data"=8]>
  func.func public @main(%x: tensor<48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(1)2}]>} loc("x")) -> tensor<48xf32> {
    return %x : tensor<48xf32>
  }
}

//--- chain.mlir
module {
  sdy.mesh @mesh = <["data"=6]>
  func.func public @main(%x: tensor<48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(1)2}]>} loc("x")) -> tensor<48xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{"data":(1)3}]> : tensor<48xf32>
    return %0 : tensor<48xf32>
  }
}

//--- overlap.toml
[[layout]]
input = "x"
dims = [["data:(2)2", "data:(1)4"]]

//--- twice.toml
[[layout]]
input = "x"
dims = [["data:(2)2", "data:(2)2"]]

//--- unknown.toml
[[layout]]
input = "x"
dims = [["date:(1)2"]]

//--- pipe.toml
mesh.axes = ["pipe", "data"]
mesh.pipeline = "pipe"

[[layout]]
input = "x"
dims = [["pipe:(1)2"]]
