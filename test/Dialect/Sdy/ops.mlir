// The file is written exactly as it is printed, so the text itself is the check.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  sdy.mesh @empty_mesh = <[]>
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  sdy.mesh @ordered = <["a"=2], device_ids=[1, 0]>

  // Shardings of arguments, results and op results.
  func.func @annotations(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model":(1)2, ?}p1], replicated={"model":(2)2}>}, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}) {
    %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data", "model"}, {}]>]>} : tensor<4x8xf32>
    %1 = stablehlo.add %0, %0 {sdy.note = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=2]>, [{"a"}, {}]>]>} : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }

  // A key is constrained to the empty mesh even on one device.
  func.func @constraints(%arg0: tensor<2xui32>, %arg1: tensor<4x8xf32>) {
    %0 = sdy.sharding_constraint %arg0 <@empty_mesh, [{}]> : tensor<2xui32>
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"data", ?}], unreduced={"model"}> : tensor<4x8xf32>
    return
  }
  // Parts of one axis in either order, priorities, and a size that is a part's end.
  func.func @parts(%arg0: tensor<4x8xf32>) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"model":(1)2}, {"model":(2)2}]> : tensor<4x8xf32>
    %1 = sdy.sharding_constraint %arg0 <@mesh, [{"model":(2)2}p0, {"model":(1)2}]> : tensor<4x8xf32>
    %2 = sdy.sharding_constraint %arg0 <@mesh, [{?}p3, {"data"}p1]> : tensor<4x8xf32>
    return
  }

  // Values that lie alike, and where axes pass one way.
  func.func @spread(%arg0: tensor<4x8xf32>) {
    sdy.sharding_group %arg0 group_id=21 : tensor<4x8xf32>
    %0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<4x8xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<4x8xf32>
    return
  }

  // An attribute that llmc does not have.
  func.func private @other() attributes {sdy.other = #sdy.op_sharding_rule<([i])->([i]) {i=4}>}

  // Attributes of arguments and results that are no shardings.
  func.func private @notes(tensor<4xf32> {sdy.note = 1 : i64}) -> (tensor<4xf32> {sdy.note = 2 : i64})
}
