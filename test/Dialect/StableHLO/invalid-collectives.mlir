// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @no_operand() {
  // expected-error@+1 {{expected at least 1 operand, got 0}}
  "stablehlo.all_reduce"() <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @results(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 results, got 2}}
  %0:2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @groups_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'replica_groups' to have 2 dims, got 'tensor<2xi64>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected each number once in 'replica_groups', got 1 twice}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected numbers of at least -1 in 'replica_groups', got -2}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dim(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'all_gather_dim' in [0, 1), got 1}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @multiple(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected sizes of dim 0 of which one is a multiple of the other, got 4 and 6}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @other_dim(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 2], got [8, 3]}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x2xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @rank(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a result of shape [4, 2], got [8]}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x2xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @element(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of 'f32', got 'tensor<8xf64>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @reduced_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of the operand's type, 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{expected operands of one element type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>)
  return
}

// -----

func.func @body(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a body of 2 arguments, got 1}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scattered(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected sizes of dim 0 of which one is a multiple of the other, got 3 and 4}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @split_count(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected 'split_count' of at least 1, got 0}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 0 : i64, split_dimension = 1 : i64}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @split(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{expected a multiple of 2 along dim 1, got 'tensor<4x3xf32>'}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x3xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @concat(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected 'concat_dimension' in [0, 2), got -1}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x2xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @exchanged(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 1], got [4, 2]}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @pairs(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected pairs in 'source_target_pairs', got 'tensor<1x3xi64>'}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sources(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected each number once in 'source_target_pairs', got 0 twice}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @targets(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected each number once in 'source_target_pairs', got 2 twice}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 2], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative_pair(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected numbers of at least 0 in 'source_target_pairs', got -1}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @number() {
  // expected-error@+1 {{expected a result of tensor<ui32>, got 'tensor<i32>'}}
  %0 = stablehlo.partition_id : tensor<i32>
  return
}

// -----

func.func @replica() {
  // expected-error@+1 {{expected a result of tensor<ui32>, got 'tensor<1xui32>'}}
  %0 = stablehlo.replica_id : tensor<1xui32>
  return
}
