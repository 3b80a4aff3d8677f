// As JAX prints it: each of 16 rows goes to the device of one of 8 experts, by a
// number that the row has, is scaled there, and comes back; none is dropped.
// Nothing is multiplied by a library, so GPUs have the bits of processors.
module @jit_loss attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["expert"=4]> {stablehlo.mesh = {axes = [{name = "expert", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>} loc("params['scale']"), %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>} loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"expert"}, {}]>, <@mesh, [{"expert"}, {}]>] out_shardings=[<@mesh, [{"expert"}, {}]>] manual_axes={"expert"} (%arg2: tensor<2x4xf32>, %arg3: tensor<4x4xf32>) {
      %5 = stablehlo.slice %arg3 [0:4, 0:1] : (tensor<4x4xf32>) -> tensor<4x1xf32>
      %6 = stablehlo.reshape %5 : (tensor<4x1xf32>) -> tensor<4xf32>
      %cst_1 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %8 = stablehlo.multiply %6, %7 : tensor<4xf32>
      %9 = stablehlo.abs %8 : tensor<4xf32>
      %10 = stablehlo.convert %9 : (tensor<4xf32>) -> tensor<4xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %c_2 = stablehlo.constant dense<7> : tensor<i32>
      %11 = func.call @clip(%10, %c, %c_2) : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
      %12 = func.call @argsort(%11) : (tensor<4xi32>) -> tensor<4xi32>
      %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
      %14 = stablehlo.iota dim = 0 : tensor<8xi32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
      %16 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x8xi32>
      %17 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<4x8xi32>
      %18 = stablehlo.compare EQ, %16, %17, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
      %19 = stablehlo.convert %18 : (tensor<4x8xi1>) -> tensor<4x8xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %20 = stablehlo.reduce(%19 init: %c_3) applies stablehlo.add across dimensions = [0] : (tensor<4x8xi32>, tensor<i32>) -> tensor<8xi32>
      %c_4 = stablehlo.constant dense<1> : tensor<ui32>
      %c_5 = stablehlo.constant dense<4> : tensor<ui32>
      %21 = stablehlo.partition_id : tensor<ui32>
      %22 = stablehlo.divide %21, %c_4 : tensor<ui32>
      %23 = stablehlo.remainder %22, %c_5 : tensor<ui32>
      %24 = stablehlo.convert %23 : (tensor<ui32>) -> tensor<i32>
      %25 = stablehlo.broadcast_in_dim %20, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
      %26 = "stablehlo.all_gather"(%25) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x8xi32>) -> tensor<4x8xi32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.reduce(%26 init: %c_6) applies stablehlo.add across dimensions = [0] : (tensor<4x8xi32>, tensor<i32>) -> tensor<8xi32>
      %28 = stablehlo.reshape %27 : (tensor<8xi32>) -> tensor<4x2xi32>
      %29 = func.call @cumsum(%28) : (tensor<4x2xi32>) -> tensor<4x2xi32>
      %30 = stablehlo.subtract %29, %28 : tensor<4x2xi32>
      %31 = stablehlo.reshape %30 : (tensor<4x2xi32>) -> tensor<8xi32>
      %32 = func.call @cumsum_1(%26) : (tensor<4x8xi32>) -> tensor<4x8xi32>
      %33 = stablehlo.subtract %32, %26 : tensor<4x8xi32>
      %34 = stablehlo.broadcast_in_dim %31, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
      %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<4x8xi32>
      %36 = stablehlo.add %35, %33 : tensor<4x8xi32>
      %37 = func.call @cumsum_3(%26) : (tensor<4x8xi32>) -> tensor<4x8xi32>
      %38 = stablehlo.subtract %37, %26 : tensor<4x8xi32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %39 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %40 = stablehlo.compare LT, %12, %39, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %c_8 = stablehlo.constant dense<4> : tensor<i32>
      %41 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %42 = stablehlo.add %12, %41 : tensor<4xi32>
      %43 = stablehlo.select %40, %42, %12 : tensor<4xi1>, tensor<4xi32>
      %44 = stablehlo.broadcast_in_dim %43, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
      %45 = "stablehlo.gather"(%arg3, %44) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
      %47 = func.call @cumsum_5(%20) : (tensor<8xi32>) -> tensor<8xi32>
      %48 = stablehlo.subtract %47, %20 : tensor<8xi32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %49 = stablehlo.compare LT, %24, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_11 = stablehlo.constant dense<4> : tensor<i32>
      %50 = stablehlo.add %24, %c_11 : tensor<i32>
      %51 = stablehlo.select %49, %50, %24 : tensor<i1>, tensor<i32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %52 = stablehlo.compare LT, %c_12, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %c_15 = stablehlo.constant dense<8> : tensor<i32>
      %53 = stablehlo.add %c_14, %c_15 : tensor<i32>
      %c_16 = stablehlo.constant dense<0> : tensor<i32>
      %54 = stablehlo.select %52, %53, %c_16 : tensor<i1>, tensor<i32>
      %55 = stablehlo.dynamic_slice %36, %51, %54, sizes = [1, 8] : (tensor<4x8xi32>, tensor<i32>, tensor<i32>) -> tensor<1x8xi32>
      %56 = stablehlo.reshape %55 : (tensor<1x8xi32>) -> tensor<8xi32>
      %c_17 = stablehlo.constant dense<2> : tensor<i32>
      %57 = stablehlo.multiply %24, %c_17 : tensor<i32>
      %c_18 = stablehlo.constant dense<0> : tensor<i32>
      %58 = stablehlo.compare LT, %57, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_19 = stablehlo.constant dense<8> : tensor<i32>
      %59 = stablehlo.add %57, %c_19 : tensor<i32>
      %60 = stablehlo.select %58, %59, %57 : tensor<i1>, tensor<i32>
      %c_20 = stablehlo.constant dense<0> : tensor<i32>
      %61 = stablehlo.dynamic_slice %26, %c_20, %60, sizes = [4, 2] : (tensor<4x8xi32>, tensor<i32>, tensor<i32>) -> tensor<4x2xi32>
      %62 = stablehlo.reshape %61 : (tensor<4x2xi32>) -> tensor<8xi32>
      %63 = stablehlo.custom_call @ragged_all_to_all(%45, %46, %48, %20, %56, %62) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<4x4xf32>, tensor<16x4xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<16x4xf32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %64 = stablehlo.reduce(%26 init: %c_21) applies stablehlo.add across dimensions = [0] : (tensor<4x8xi32>, tensor<i32>) -> tensor<8xi32>
      %c_22 = stablehlo.constant dense<2> : tensor<i32>
      %65 = stablehlo.multiply %24, %c_22 : tensor<i32>
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %66 = stablehlo.compare LT, %65, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_24 = stablehlo.constant dense<8> : tensor<i32>
      %67 = stablehlo.add %65, %c_24 : tensor<i32>
      %68 = stablehlo.select %66, %67, %65 : tensor<i1>, tensor<i32>
      %69 = stablehlo.dynamic_slice %64, %68, sizes = [2] : (tensor<8xi32>, tensor<i32>) -> tensor<2xi32>
      %70 = func.call @cumsum_7(%69) : (tensor<2xi32>) -> tensor<2xi32>
      %71 = stablehlo.iota dim = 0 : tensor<16xi32>
      %72 = stablehlo.broadcast_in_dim %71, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
      %73 = stablehlo.broadcast_in_dim %70, dims = [1] : (tensor<2xi32>) -> tensor<1x2xi32>
      %74 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<16x1xi32>) -> tensor<16x2xi32>
      %75 = stablehlo.broadcast_in_dim %73, dims = [0, 1] : (tensor<1x2xi32>) -> tensor<16x2xi32>
      %76 = stablehlo.compare GE, %74, %75, SIGNED : (tensor<16x2xi32>, tensor<16x2xi32>) -> tensor<16x2xi1>
      %77 = stablehlo.convert %76 : (tensor<16x2xi1>) -> tensor<16x2xi32>
      %c_25 = stablehlo.constant dense<0> : tensor<i32>
      %78 = stablehlo.reduce(%77 init: %c_25) applies stablehlo.add across dimensions = [1] : (tensor<16x2xi32>, tensor<i32>) -> tensor<16xi32>
      %c_26 = stablehlo.constant dense<1> : tensor<i32>
      %79 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<16xi32>
      %80 = stablehlo.minimum %78, %79 : tensor<16xi32>
      %c_27 = stablehlo.constant dense<0> : tensor<i32>
      %81 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i32>) -> tensor<16xi32>
      %82 = stablehlo.compare LT, %80, %81, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
      %c_28 = stablehlo.constant dense<2> : tensor<i32>
      %83 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<16xi32>
      %84 = stablehlo.add %80, %83 : tensor<16xi32>
      %85 = stablehlo.select %82, %84, %80 : tensor<16xi1>, tensor<16xi32>
      %86 = stablehlo.broadcast_in_dim %85, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
      %87 = "stablehlo.gather"(%arg2, %86) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<2x4xf32>, tensor<16x1xi32>) -> tensor<16x4xf32>
      %88 = stablehlo.multiply %63, %87 : tensor<16x4xf32>
      %89 = stablehlo.tanh %88 : tensor<16x4xf32>
      %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %90 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %c_30 = stablehlo.constant dense<2> : tensor<i32>
      %91 = stablehlo.multiply %24, %c_30 : tensor<i32>
      %c_31 = stablehlo.constant dense<0> : tensor<i32>
      %92 = stablehlo.compare LT, %91, %c_31, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_32 = stablehlo.constant dense<8> : tensor<i32>
      %93 = stablehlo.add %91, %c_32 : tensor<i32>
      %94 = stablehlo.select %92, %93, %91 : tensor<i1>, tensor<i32>
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %95 = stablehlo.dynamic_slice %36, %c_33, %94, sizes = [4, 2] : (tensor<4x8xi32>, tensor<i32>, tensor<i32>) -> tensor<4x2xi32>
      %96 = stablehlo.reshape %95 : (tensor<4x2xi32>) -> tensor<8xi32>
      %c_34 = stablehlo.constant dense<2> : tensor<i32>
      %97 = stablehlo.multiply %24, %c_34 : tensor<i32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %98 = stablehlo.compare LT, %97, %c_35, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_36 = stablehlo.constant dense<8> : tensor<i32>
      %99 = stablehlo.add %97, %c_36 : tensor<i32>
      %100 = stablehlo.select %98, %99, %97 : tensor<i1>, tensor<i32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %101 = stablehlo.dynamic_slice %26, %c_37, %100, sizes = [4, 2] : (tensor<4x8xi32>, tensor<i32>, tensor<i32>) -> tensor<4x2xi32>
      %102 = stablehlo.reshape %101 : (tensor<4x2xi32>) -> tensor<8xi32>
      %c_38 = stablehlo.constant dense<2> : tensor<i32>
      %103 = stablehlo.multiply %24, %c_38 : tensor<i32>
      %c_39 = stablehlo.constant dense<0> : tensor<i32>
      %104 = stablehlo.compare LT, %103, %c_39, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_40 = stablehlo.constant dense<8> : tensor<i32>
      %105 = stablehlo.add %103, %c_40 : tensor<i32>
      %106 = stablehlo.select %104, %105, %103 : tensor<i1>, tensor<i32>
      %c_41 = stablehlo.constant dense<0> : tensor<i32>
      %107 = stablehlo.dynamic_slice %38, %c_41, %106, sizes = [4, 2] : (tensor<4x8xi32>, tensor<i32>, tensor<i32>) -> tensor<4x2xi32>
      %108 = stablehlo.reshape %107 : (tensor<4x2xi32>) -> tensor<8xi32>
      %109 = stablehlo.custom_call @ragged_all_to_all(%89, %90, %96, %102, %108, %20) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<16x4xf32>, tensor<4x4xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<4x4xf32>
      %110 = func.call @argsort(%12) : (tensor<4xi32>) -> tensor<4xi32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %111 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %112 = stablehlo.compare LT, %110, %111, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %c_43 = stablehlo.constant dense<4> : tensor<i32>
      %113 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %114 = stablehlo.add %110, %113 : tensor<4xi32>
      %115 = stablehlo.select %112, %114, %110 : tensor<4xi1>, tensor<4xi32>
      %116 = stablehlo.broadcast_in_dim %115, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
      %117 = "stablehlo.gather"(%109, %116) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>
      sdy.return %117 : tensor<4x4xf32>
    } : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.subtract %0, %arg1 : tensor<16x4xf32>
    %2 = stablehlo.multiply %1, %1 : tensor<16x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %4 = stablehlo.divide %3, %cst_0 : tensor<f32>
    return %4 : tensor<f32>
  }
  func.func private @clip(%arg0: tensor<4xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<4xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<4xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<4xi32>
    return %5 : tensor<4xi32>
  }
  func.func private @argsort(%arg0: tensor<4xi32>) -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %2 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %1#1 : tensor<4xi32>
  }
  func.func private @cumsum(%arg0: tensor<4x2xi32>) -> tensor<4x2xi32> {
    %0 = call @cumsum_0(%arg0) : (tensor<4x2xi32>) -> tensor<4x2xi32>
    return %0 : tensor<4x2xi32>
  }
  func.func private @cumsum_0(%arg0: tensor<4x2xi32>) -> tensor<4x2xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<4x2xi32>, tensor<i32>) -> tensor<4x2xi32>
    return %1 : tensor<4x2xi32>
  }
  func.func private @cumsum_1(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
    %0 = call @cumsum_2(%arg0) : (tensor<4x8xi32>) -> tensor<4x8xi32>
    return %0 : tensor<4x8xi32>
  }
  func.func private @cumsum_2(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<4x8xi32>, tensor<i32>) -> tensor<4x8xi32>
    return %1 : tensor<4x8xi32>
  }
  func.func private @cumsum_3(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
    %0 = call @cumsum_4(%arg0) : (tensor<4x8xi32>) -> tensor<4x8xi32>
    return %0 : tensor<4x8xi32>
  }
  func.func private @cumsum_4(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 8>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<4x8xi32>, tensor<i32>) -> tensor<4x8xi32>
    return %1 : tensor<4x8xi32>
  }
  func.func private @cumsum_5(%arg0: tensor<8xi32>) -> tensor<8xi32> {
    %0 = call @cumsum_6(%arg0) : (tensor<8xi32>) -> tensor<8xi32>
    return %0 : tensor<8xi32>
  }
  func.func private @cumsum_6(%arg0: tensor<8xi32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 8>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
    return %1 : tensor<8xi32>
  }
  func.func private @cumsum_7(%arg0: tensor<2xi32>) -> tensor<2xi32> {
    %0 = call @cumsum_8(%arg0) : (tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func private @cumsum_8(%arg0: tensor<2xi32>) -> tensor<2xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    return %1 : tensor<2xi32>
  }
}

