// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --compile-to=import -o -
// DEFINE: %{mesh} = --config %t/mesh.toml --mesh data=2,tensor=4
// RUN: %{import} %t/forms.mlir --set data.inputs.y=0 %{mesh} | FileCheck %t/forms.mlir
// RUN: %{import} %t/forms.mlir --set data.inputs.y=0 --config %t/mesh.toml --mesh data=2,tensor=4,pipe=3 | FileCheck %s --check-prefix=PIPE
// PIPE: dist.mesh @mesh = <"pipe"=3, "data"=2, "tensor"=4> pipeline "pipe"
// PIPE: func.func public @loss({{.*}}layout = <@mesh, [{"tensor"}, {"data"}]>

// On one device nothing is said.
// RUN: %{import} %t/forms.mlir --set data.inputs.y=0 --config %t/mesh.toml | FileCheck %s --check-prefix=ONE
// ONE-NOT: #dist.layout
// ONE-NOT: dist.constraint

// Names in the text are its mesh.
// RUN: %{import} %t/named.mlir | FileCheck %t/named.mlir
// RUN: %{import} %t/shardy.mlir | FileCheck %t/shardy.mlir

// Where nothing is split no mesh is needed.
// RUN: %{import} %t/whole.mlir | FileCheck %t/whole.mlir

// Numbers of devices need axes, and such as cut them where the text does.
// RUN: not %{import} %t/forms.mlir --set data.inputs.y=0 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: {{^}}llmc: error[usage]: expected a mesh for the sharding '{devices=[4,2]<=[2,4]T(1,0)}', which names no axes, got none (axes of sizes 2, 4 by [mesh] axes and --mesh would do, in this order){{$}}
// RUN: not %{import} %t/forms.mlir --set data.inputs.y=0 --config %t/mesh.toml --mesh data=2,tensor=2 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: {{^}}llmc: error[usage]: expected a mesh of 8 devices beside the pipeline axis, as the sharding '{devices=[4,2]<=[2,4]T(1,0)}' has, got "data"=2, "tensor"=2 (axes of sizes 2, 4 by
// RUN: %{import} %t/forms.mlir --set data.inputs.y=0 --config %t/mesh.toml --mesh data=4,tensor=2 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: dist.mesh @mesh = <"pipe"=1, "data:(1)2"=2, "data:(2)2"=2, "tensor"=2> pipeline "pipe"
// CUT: func.func public @loss({{.*}}layout = <@mesh, [{"data:(2)2", "tensor"}, {"data:(1)2"}]>
// RUN: not %{import} %t/forms.mlir --set data.inputs.y=0 --set 'mesh.axes=["data"]' 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: {{^}}llmc: error[usage]: expected a mesh of 8 devices beside the pipeline axis, as the sharding '{devices=[4,2]<=[2,4]T(1,0)}' has, got "data"=1 (axes of sizes 2, 4 by

// Two strings of which no mesh has the axes, and one that follows none.
// RUN: not %{import} %t/crossed.mlir %{mesh} 2>&1 | FileCheck %t/crossed.mlir
// RUN: not %{import} %t/order.mlir %{mesh} 2>&1 | FileCheck %t/order.mlir
// RUN: not %{import} %t/counts.mlir %{mesh} 2>&1 | FileCheck %t/counts.mlir
// RUN: not %{import} %t/rank.mlir %{mesh} 2>&1 | FileCheck %t/rank.mlir
// RUN: not %{import} %t/unreduced.mlir %{mesh} 2>&1 | FileCheck %t/unreduced.mlir
// RUN: not %{import} %t/group.mlir %{mesh} 2>&1 | FileCheck %t/group.mlir
// RUN: not %{import} %t/axis.mlir %{mesh} 2>&1 | FileCheck %t/axis.mlir
// RUN: not %{import} %t/open.mlir %{mesh} 2>&1 | FileCheck %t/open.mlir
// RUN: not %{import} %t/tuple.mlir %{mesh} 2>&1 | FileCheck %t/tuple.mlir
// RUN: not %{import} %t/number.mlir %{mesh} 2>&1 | FileCheck %t/number.mlir

// Strings that are none; each stands in one text.
// RUN: bash %t/malformed.sh %t/string.mlir %t/malformed | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: 3 expected '{' at character 1 of the sharding '', got its end
// MALFORMED-NEXT: 3 expected '{' at character 1 of the sharding 'devices=[8]<=[8]', got 'devices=[8]<=[8]'
// MALFORMED-NEXT: 3 expected '}' at character 18 of the sharding '{devices=[8]<=[8]', got its end
// MALFORMED-NEXT: 3 expected the end at character 20
// MALFORMED-NEXT: 3 expected 'devices=', 'mesh[', 'replicated', 'manual', 'maximal' or 'unknown' at character 2 of the sharding '{tiled}', got 'tiled}'
// MALFORMED-NEXT: 3 expected '[' at character 10
// MALFORMED-NEXT: 3 expected an order of 2 dimensions before this at character 26
// MALFORMED-NEXT: 3 expected each of the devices 0 ... 7 once before this at character 18
// MALFORMED-NEXT: 3 expected each of the devices 0 ... 7 once before this
// MALFORMED-NEXT: 3 expected 1 to 2^20 tiles before this
// MALFORMED-NEXT: 3 expected 1 to 2^20 tiles before this
// MALFORMED-NEXT: 3 expected 'replicated', 'manual' or 'unreduced' at character
// MALFORMED-NEXT: 3 expected a number of tiles for each subgroup before this
// MALFORMED-NEXT: 3 expected ''' at character
// MALFORMED-NEXT: 3 expected '?' as the last of a dimension before this
// MALFORMED-NEXT: 3 expected a part of an axis, of at least 2, before this
// MALFORMED-NEXT: 3 expected 'replicated=', 'unreduced=' or 'manual=' at character
// MALFORMED-NEXT: 3 expected a number at character

//--- mesh.toml
[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"

//--- forms.mlir
// Arguments, constraints with dims that others may split, ops, tuples and results.
// CHECK-DAG: #[[OPEN:.*]] = #dist.layout<@mesh, [{"data", ?}, {?}]>
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{"tensor", "data"}, {}]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK-DAG: #[[DATA:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
// CHECK-DAG: #[[TENSOR:.*]] = #dist.layout<@mesh, [{"tensor"}, {}]>
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor", "data"}]>
// CHECK: func.func public @loss({{.*}}layout = <@mesh, [{"tensor"}, {"data"}]>{{.*}}layout = <@mesh, [{"data"}, {"tensor"}]>
// CHECK-NEXT: dist.constraint %arg0 to #[[OPEN]] :
// CHECK-NEXT: dist.constraint %{{.*}} to #[[BOTH]] :
// CHECK-NEXT: dist.constraint %{{.*}} to #[[WHOLE]] :
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: dist.constraint %{{.*}} to #[[DATA]] :
// CHECK-NEXT: stablehlo.optimization_barrier
// CHECK-NEXT: dist.constraint %{{.*}} to #[[TENSOR]] :
// CHECK-NOT: dist.constraint
// CHECK: stablehlo.reduce
// CHECK-NEXT: dist.constraint %{{.*}} to #[[COLUMNS]] :
// CHECK-NOT: {{mhlo.sharding|custom_call|dist.constraint}}
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"} loc("x"), %y: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]0,1,2,3,4,5,6,7}"} loc("y")) -> (tensor<f32> {mhlo.sharding = "{replicated}"}, tensor<8x8xf32> {mhlo.sharding = "{devices=[1,8]0,4,1,5,2,6,3,7}"}) {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[8,1]<=[2,4]T(1,0)}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{maximal device=0}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{unknown}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // Devices of a subgroup have no order.
    %5 = stablehlo.tanh %4 {mhlo.sharding = "{devices=[2,1,4]3,1,2,0,4,7,6,5 last_tile_dims={replicated}}"} : tensor<8x8xf32>
    %6:2 = stablehlo.optimization_barrier {mhlo.sharding = "{{maximal device=1}, {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}}"} %5, %y : tensor<8x8xf32>, tensor<8x8xf32>
    %7 = stablehlo.add %6#0, %6#1 : tensor<8x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    return %8, %7 : tensor<f32>, tensor<8x8xf32>
  }
}

//--- named.mlir
// CHECK-DAG: #[[FREE:.*]] = #dist.layout<@mesh, [{?}, {"data", ?}], replicated = {"tensor"}>
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
// CHECK: dist.mesh @mesh = <"data"=2, "tensor"=4>
// CHECK: func.func public @loss({{.*}}layout = <@mesh, [{"data", "tensor"}, {}]>
// CHECK-NEXT: dist.constraint %arg0 to #[[FREE]] :
// CHECK-NEXT: dist.constraint %{{.*}} to #[[COLUMNS]] :
func.func public @main(%x: tensor<8x8xf32> {mhlo.sharding = "{mesh['data'=2,'tensor'=4], [{'data', 'tensor'}, {}]}"} loc("x")) -> tensor<8x8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{mesh['data'=2,'tensor'=4], device_ids=([4,2]T(1,0)), [{?}, {'data', ?}], replicated={'tensor'}}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // Numbers beside names are those of the same mesh.
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

//--- shardy.mlir
// CHECK: #[[BOTH:.*]] = #dist.layout<@mesh, [{"a"}, {"b"}]>
// CHECK: func.func public @loss({{.*}}layout = <@mesh, [{"b"}, {"a"}]>
// CHECK-NEXT: dist.constraint %arg0 to #[[BOTH]] :
module {
  sdy.mesh @m = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}, {"a"}]>} loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,2]<=[4]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

//--- whole.mlir
// CHECK-NOT: mhlo.sharding
// CHECK: dist.mesh @mesh = <"data"=1>
// CHECK-NOT: {{mhlo.sharding|dist.constraint}}
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{replicated}"} loc("x")) -> (tensor<8xf32> {mhlo.sharding = "{devices=[1]<=[1]}"}) {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- crossed.mlir
// CHECK: {{^}}llmc: error[unsupported]: expected shardings that follow the axes of one mesh, got some, as '{devices=[2,3]<=[3,2]T(1,0)}', that do not fit together{{$}}
func.func public @main(%x: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[3,2]T(1,0)}"} loc("x"), %y: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[2,3]T(1,0)}"} loc("y")) -> tensor<6x6xf32> {
  return %x : tensor<6x6xf32>
}

//--- order.mlir
// CHECK: {{^}}llmc: error[unsupported]: {{.*}}order.mlir:2:1: expected tiles that follow the order of the devices' numbers, as on a mesh, got '{devices=[8]0,1,2,3,4,5,7,6}'
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[8]0,1,2,3,4,5,7,6}"} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- counts.mlir
// CHECK: {{^}}llmc: error[unsupported]: {{.*}}counts.mlir:2:1: expected shardings over one number of devices, got '{devices=[8]<=[8]}' and '{devices=[4]<=[4]}'
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"} loc("x"), %y: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"} loc("y")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- rank.mlir
// CHECK: {{^}}llmc: error[malformed]: {{.*}}"x"{{.*}}: expected a sharding of 1 dimension, as the tensor has, got '{devices=[8,1]<=[8]}'
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- unreduced.mlir
// CHECK: {{^}}llmc: error[unsupported]: {{.*}}: expected a sharding without unreduced axes
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dims={unreduced}}"} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- group.mlir
// CHECK: {{^}}llmc: error[unsupported]: {{.*}}"x"{{.*}}: expected 'shard_as' and 'shard_like' of '@Sharding' only, got '{unknown shard_as 1}'
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{unknown shard_as 1}"} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- axis.mlir
// CHECK: {{^}}llmc: error[malformed]: {{.*}}expected an axis of the mesh, got "model"
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{mesh['data'=2,'tensor'=4], [{'model'}]}"} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- open.mlir
// CHECK: {{^}}llmc: error[malformed]: {{.*}}open.mlir:3:{{[0-9]+}}: expected 'unspecified_dims=[...]' or nothing as backend_config of '@Sharding', got 'unspecified_dims=[a]'
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[a]", mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- tuple.mlir
// CHECK: {{^}}llmc: error[malformed]: {{.*}}tuple.mlir:3:{{[0-9]+}}: expected a sharding for each of 1 results, got 2
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x {mhlo.sharding = "{{replicated}, {replicated}}"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- number.mlir
// CHECK: {{^}}llmc: error[malformed]: {{.*}}number.mlir:2:1: expected a string as 'mhlo.sharding'
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = 4 : i32} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- string.mlir
func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "STRING"} loc("x")) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

//--- malformed.sh
while IFS= read -r string; do
  sed "s/STRING/$string/" $1 > $2.mlir
  llmc compile $2.mlir --set data.inputs.x=0 --set 'mesh.axes=["data"]' --mesh data=8 --compile-to=import -o - > /dev/null 2> $2.txt
  echo "$? $(sed -n 's/^llmc: error.*expected/expected/p' $2.txt)"
done <<'END'

devices=[8]<=[8]
{devices=[8]<=[8]
{devices=[8]<=[8]} }
{tiled}
{devices=8}
{devices=[8]<=[2,4]T(0,2)}
{devices=[8]<=[4]}
{devices=[8]0,1,2,3,4,5,6,6}
{devices=[0]<=[0]}
{devices=[1073741824,1073741824]<=[8]}
{devices=[8]<=[8] last_tile_dims={odd}}
{devices=[8]<=[8] last_tile_dims={manual, manual}}
{mesh['data'=8], [{data}]}
{mesh['data'=8], [{?, 'data'}]}
{mesh['data'=8], [{'data':(1)1}]}
{mesh['data'=8], [{'data'}], split={'data'}}
{unknown shard_as}
END
