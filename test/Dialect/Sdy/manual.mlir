// The file is written exactly as it is printed, so the text itself is the check.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  sdy.mesh @mesh = <["data"=2, "model"=4]>

  // Axes that are not manual stand behind those that are.
  func.func @regions(%arg0: tensor<8x16xf32>, %arg1: tensor<f32>) -> tensor<8x16xf32> {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"data", "model", ?}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"data"}, {?}]>, <@mesh, [], replicated={"data"}>] manual_axes={"data"} (%arg2: tensor<4x16xf32>, %arg3: tensor<f32>) {
      %2 = stablehlo.tanh %arg2 : tensor<4x16xf32>
      sdy.return %2, %arg3 : tensor<4x16xf32>, tensor<f32>
    } : (tensor<8x16xf32>, tensor<f32>) -> (tensor<8x16xf32>, tensor<f32>)
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
      sdy.return
    } : () -> ()
    %1 = sdy.manual_computation(%0#0) in_shardings=[<@mesh, [{"model", "data"}, {}]>] out_shardings=[<@mesh, [{"model", "data"}, {}]>] manual_axes={"data", "model"} (%arg2: tensor<1x16xf32>) {
      sdy.return %arg2 : tensor<1x16xf32>
    } {note = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }

  // A region in a region; each says what its own axes do.
  func.func @nested(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data", ?}, {?}]>] out_shardings=[<@mesh, [{"data", ?}, {?}]>] manual_axes={"data"} (%arg1: tensor<4x16xf32>) {
      %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{?}, {"model", ?}]>] out_shardings=[<@mesh, [{?}, {"model", ?}]>] manual_axes={"model"} (%arg2: tensor<4x4xf32>) {
        sdy.return %arg2 : tensor<4x4xf32>
      } : (tensor<4x16xf32>) -> tensor<4x16xf32>
      sdy.return %1 : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
