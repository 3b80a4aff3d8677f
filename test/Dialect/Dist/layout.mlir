// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// Layouts as text: what is read is written again, sets in the order of names.

dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=4>

// CHECK-DAG: #[[$ALL:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK-DAG: #dist.layout<@mesh, [{"data"}, {"tensor"}:[6:8, 64]]>
// CHECK-DAG: #dist.layout<@mesh, [{"tensor"}:50260]>
// CHECK-DAG: #dist.layout<@mesh, [], partial = [sum{"data", "pipe"}, max{"tensor"}], at = {"pipe" = [0, 1]}>
// CHECK-DAG: #dist.layout<@mesh, [{"tensor":(1)2}], replicated = {"data"}>
// CHECK-DAG: #dist.layout<@mesh, [{"data", ?}p1, {?}]>
// CHECK-DAG: #dist.layout<@mesh, [{}], replicated = {"data", "tensor"}, at = {"pipe" = [0], "x" = [1, 2]}>
// CHECK-DAG: #dist.layout<@mesh, [{}], replicated = {"tensor":(1)2, "tensor":(2)2}>

// CHECK: func.func private @whole(tensor<8x4xf32, #[[$ALL]]>)
func.func private @whole(tensor<8x4xf32, #dist.layout<@mesh, [{}, {}]>>)
func.func private @factors(tensor<8x384xf32, #dist.layout<@mesh, [{"data"}, {"tensor"}:[6:8, 64]]>>)
func.func private @extent(tensor<50257xf32, #dist.layout<@mesh, [{"tensor"}:50260]>>)
func.func private @sets(tensor<f32, #dist.layout<@mesh, [], at = {"pipe" = [0, 1]}, partial = [max{"tensor"}, sum{"pipe"}, sum{"data"}]>>)
func.func private @part_of_axis(tensor<8xf32, #dist.layout<@mesh, [{"tensor":(1)2}], replicated = {"data"}>>)
func.func private @open(tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data", ?}p1, {?}]>>})
func.func private @pins(tensor<8xf32, #dist.layout<@mesh, [{}], at = {"x" = [1, 2], "pipe" = [0]}, replicated = {"tensor", "data"}>>)
func.func private @parts_of_axes(tensor<8xf32, #dist.layout<@mesh, [{}], replicated = {"tensor":(2)2, "tensor":(1)2}>>)

// Each part of a layout alone.
// CHECK: a = #dist.axis<"tensor":(2)2>, b = #dist.axis<"data">
func.func private @axes() attributes {a = #dist.axis<"tensor":(2)2>, b = #dist.axis<"data">}
// CHECK: a = #dist.dim<{"data", ?}p2>, b = #dist.dim<{"data"}:[6:8, 64]>, c = #dist.dim<{}:7>
func.func private @dims() attributes {a = #dist.dim<{"data", ?}p2>, b = #dist.dim<{"data"}:[6:8, 64]>, c = #dist.dim<{}:7>}
// CHECK: a = #dist.partial<max{"data", "tensor"}>
func.func private @partial() attributes {a = #dist.partial<max{"data", "tensor"}>}
// CHECK: a = #dist.pin<"pipe" = [0, 2]>
func.func private @pin() attributes {a = #dist.pin<"pipe" = [0, 2]>}
