// jax.lax.approx_max_k and approx_min_k, which ask for a recall of at least a
// target, are the best k in order.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/most.mlir | FileCheck %s --check-prefix=MOST
// RUN: %{import} %t/least.mlir | FileCheck %s --check-prefix=LEAST
// RUN: not %{import} %t/parts.mlir 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not %{import} %t/many.mlir 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not %{import} %t/named.mlir 2>&1 | FileCheck %s --check-prefix=MANY

// MOST: nn.argsort %{{.*}} dim 1 descending [true] : (tensor<8x4xf32>) -> tensor<8x2xi32>
// LEAST: nn.argsort %{{.*}} dim 0 descending [false] : (tensor<8x4xf32>) -> tensor<3x4xi32>
// PARTS: {{^}}llmc: error[unsupported]: {{.*}}parts.mlir:5:10: 'stablehlo.custom_call' op expected 'ApproxTopK' as jax.lax.approx_max_k and approx_min_k print it, with aggregate_to_topk, and results of top_k elements along reduction_dim, got {aggregate_to_topk = false,
// MANY: expected 'ApproxTopK' as jax.lax.approx_max_k

//--- most.mlir
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
  %0 = stablehlo.iota dim = 1 : tensor<8x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %low, %none) {backend_config = "", called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %1#0, %1#1 : tensor<8x2xf32>, tensor<8x2xi32>
}
func.func private @top_k_gt_f32_comparator(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

//--- least.mlir
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> (tensor<3x4xf32>, tensor<3x4xi32>) {
  %0 = stablehlo.iota dim = 0 : tensor<8x4xi32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %high, %none) {api_version = 4 : i32, backend_config = {aggregate_to_topk = true, reduction_dim = 0 : i64, top_k = 3 : i64}, called_computations = [@top_k_lt_f32_comparator]} : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return %1#0, %1#1 : tensor<3x4xf32>, tensor<3x4xi32>
}

//--- parts.mlir
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> tensor<8x3xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<8x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %low, %none) {called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = false, reduction_dim = 1 : i64, top_k = 2 : i64}} : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
  return %1#0 : tensor<8x3xf32>
}

//--- many.mlir
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> tensor<8x5xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<8x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %low, %none) {called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 1 : i64, top_k = 5 : i64}} : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return %1#0 : tensor<8x5xf32>
}

//--- named.mlir
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> tensor<8x2xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<8x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %low, %none) {called_computations = [@mine], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 1 : i64, top_k = 2 : i64}} : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %1#0 : tensor<8x2xf32>
}
