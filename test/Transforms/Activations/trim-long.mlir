// RUN: llmc-opt %s --llmc-trim-activations | FileCheck %s
// RUN: sed 's/, %v64 :/, %v65 :/' %s | llmc-opt --llmc-trim-activations | FileCheck %s --check-prefix=KEPT

// Up to 64 ops are computed again rather than kept, 65 are not.
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-COUNT-64: stablehlo.abs
// CHECK-NEXT: stablehlo.negate
// KEPT: %[[F:.*]]:2 = dist.segment chunk(0) phase(forward)
// KEPT: dist.segment chunk(0) phase(backward)
// KEPT-NEXT: stablehlo.negate %[[F]]#1
dist.mesh @mesh = <"data"=1>
func.func @t.microbatch(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x8xf32> {dist.port = #dist.port<input "w">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %f:2 = dist.segment chunk(0) phase(forward) -> tensor<8x8xf32>, tensor<8x8xf32> {
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %v1 = stablehlo.abs %p : tensor<8x8xf32>
    %v2 = stablehlo.abs %v1 : tensor<8x8xf32>
    %v3 = stablehlo.abs %v2 : tensor<8x8xf32>
    %v4 = stablehlo.abs %v3 : tensor<8x8xf32>
    %v5 = stablehlo.abs %v4 : tensor<8x8xf32>
    %v6 = stablehlo.abs %v5 : tensor<8x8xf32>
    %v7 = stablehlo.abs %v6 : tensor<8x8xf32>
    %v8 = stablehlo.abs %v7 : tensor<8x8xf32>
    %v9 = stablehlo.abs %v8 : tensor<8x8xf32>
    %v10 = stablehlo.abs %v9 : tensor<8x8xf32>
    %v11 = stablehlo.abs %v10 : tensor<8x8xf32>
    %v12 = stablehlo.abs %v11 : tensor<8x8xf32>
    %v13 = stablehlo.abs %v12 : tensor<8x8xf32>
    %v14 = stablehlo.abs %v13 : tensor<8x8xf32>
    %v15 = stablehlo.abs %v14 : tensor<8x8xf32>
    %v16 = stablehlo.abs %v15 : tensor<8x8xf32>
    %v17 = stablehlo.abs %v16 : tensor<8x8xf32>
    %v18 = stablehlo.abs %v17 : tensor<8x8xf32>
    %v19 = stablehlo.abs %v18 : tensor<8x8xf32>
    %v20 = stablehlo.abs %v19 : tensor<8x8xf32>
    %v21 = stablehlo.abs %v20 : tensor<8x8xf32>
    %v22 = stablehlo.abs %v21 : tensor<8x8xf32>
    %v23 = stablehlo.abs %v22 : tensor<8x8xf32>
    %v24 = stablehlo.abs %v23 : tensor<8x8xf32>
    %v25 = stablehlo.abs %v24 : tensor<8x8xf32>
    %v26 = stablehlo.abs %v25 : tensor<8x8xf32>
    %v27 = stablehlo.abs %v26 : tensor<8x8xf32>
    %v28 = stablehlo.abs %v27 : tensor<8x8xf32>
    %v29 = stablehlo.abs %v28 : tensor<8x8xf32>
    %v30 = stablehlo.abs %v29 : tensor<8x8xf32>
    %v31 = stablehlo.abs %v30 : tensor<8x8xf32>
    %v32 = stablehlo.abs %v31 : tensor<8x8xf32>
    %v33 = stablehlo.abs %v32 : tensor<8x8xf32>
    %v34 = stablehlo.abs %v33 : tensor<8x8xf32>
    %v35 = stablehlo.abs %v34 : tensor<8x8xf32>
    %v36 = stablehlo.abs %v35 : tensor<8x8xf32>
    %v37 = stablehlo.abs %v36 : tensor<8x8xf32>
    %v38 = stablehlo.abs %v37 : tensor<8x8xf32>
    %v39 = stablehlo.abs %v38 : tensor<8x8xf32>
    %v40 = stablehlo.abs %v39 : tensor<8x8xf32>
    %v41 = stablehlo.abs %v40 : tensor<8x8xf32>
    %v42 = stablehlo.abs %v41 : tensor<8x8xf32>
    %v43 = stablehlo.abs %v42 : tensor<8x8xf32>
    %v44 = stablehlo.abs %v43 : tensor<8x8xf32>
    %v45 = stablehlo.abs %v44 : tensor<8x8xf32>
    %v46 = stablehlo.abs %v45 : tensor<8x8xf32>
    %v47 = stablehlo.abs %v46 : tensor<8x8xf32>
    %v48 = stablehlo.abs %v47 : tensor<8x8xf32>
    %v49 = stablehlo.abs %v48 : tensor<8x8xf32>
    %v50 = stablehlo.abs %v49 : tensor<8x8xf32>
    %v51 = stablehlo.abs %v50 : tensor<8x8xf32>
    %v52 = stablehlo.abs %v51 : tensor<8x8xf32>
    %v53 = stablehlo.abs %v52 : tensor<8x8xf32>
    %v54 = stablehlo.abs %v53 : tensor<8x8xf32>
    %v55 = stablehlo.abs %v54 : tensor<8x8xf32>
    %v56 = stablehlo.abs %v55 : tensor<8x8xf32>
    %v57 = stablehlo.abs %v56 : tensor<8x8xf32>
    %v58 = stablehlo.abs %v57 : tensor<8x8xf32>
    %v59 = stablehlo.abs %v58 : tensor<8x8xf32>
    %v60 = stablehlo.abs %v59 : tensor<8x8xf32>
    %v61 = stablehlo.abs %v60 : tensor<8x8xf32>
    %v62 = stablehlo.abs %v61 : tensor<8x8xf32>
    %v63 = stablehlo.abs %v62 : tensor<8x8xf32>
    %v64 = stablehlo.abs %v63 : tensor<8x8xf32>
    %v65 = stablehlo.abs %v64 : tensor<8x8xf32>
    dist.yield %p, %v64 : tensor<8x8xf32>, tensor<8x8xf32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<8x8xf32> {
    %0 = stablehlo.negate %f#1 : tensor<8x8xf32>
    dist.yield %0 : tensor<8x8xf32>
  }
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func @t.update() {
  return
}
dist.step @t microbatch(@t.microbatch) update(@t.update) microbatches(1) schedule(<gpipe>) chunks([0])
