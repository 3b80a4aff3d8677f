// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @element(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand #0 to have the element type of the result, 'tensor<4xf64>', got 'tensor<4xf32>'}}
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand #0 to have the shape of the result, 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = chlo.square %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floats, but got 'tensor<4xi32>'}}
  %0 = chlo.erfc %x : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an op that llmc knows, got 'chlo.novel', which llmc does not have}}
  %0 = chlo.novel %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @ragged_field(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected a field of this attribute, got 'groups'}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<groups = [1]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_twice(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected field 'lhs_ragged_dimensions' once, got it twice}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_none(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected one ragged dimension, got 0}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_range(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected distinct lhs dimensions in [0, 2), got 2}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_dim(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected distinct ragged dimensions in [0, 2), got -1}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [-1], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_same(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected distinct rhs dimensions in [0, 3), got 1}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_pairs(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected as many contracting dimensions on the right as on the left, 1, got 2}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1, 2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_sizes(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected contracting dimensions 1 and 2 of one size, got 6 and 2}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_groups(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected 1 group dimensions of the right side, got 0}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_rank(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<1x3xi32>) {
  // expected-error@+1 {{expected group sizes of rank 1, got 'tensor<1x3xi32>'}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<1x3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_count(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<4xi32>) {
  // expected-error@+1 {{expected a group dimension of size 4, got 'tensor<3x6x2xf32>'}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_contracted(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected 0 group dimensions of the right side, got 1}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_elements(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected operands and result all of floats or all of integers, got 'tensor<4x6xf32>', 'tensor<3x6x2xf32>' and 'tensor<4x2xi32>'}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xi32>
  return
}

// -----

func.func @ragged_precision(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected 2 precisions, got 1}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{precision_config = [#chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @ragged_result(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expected a result of 'tensor<4x2xf32>', got 'tensor<3x4x2xf32>'}}
  %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<3x4x2xf32>
  return
}
