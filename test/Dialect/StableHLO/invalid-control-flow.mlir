// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @while_results(%i: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected type #0 of the results to be 'tensor<i32>', got 'tensor<i64>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i64>
  return
}

// -----

func.func @while_condition_arguments(%i: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected 1 type of the arguments of the condition, got 2}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @while_body_arguments(%i: tensor<i32>, %x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected type #1 of the arguments of the body to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0:2 = "stablehlo.while"(%i, %x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<5xf32>):
    stablehlo.return %i, %x : tensor<i32>, tensor<4xf32>
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return
}

// -----

func.func @while_condition(%i: tensor<i32>) {
  // expected-error@+1 {{expected type #0 of the results of the condition to be 'tensor<i1>', got 'tensor<i32>'}}
  %0 = stablehlo.while(%iterArg = %i) : tensor<i32>
  cond {
    stablehlo.return %iterArg : tensor<i32>
  } do {
    stablehlo.return %iterArg : tensor<i32>
  }
  return
}

// -----

func.func @while_shape_of_condition(%i: tensor<i32>, %p: tensor<1xi1>) {
  // expected-error@+1 {{expected type #0 of the results of the condition to be 'tensor<i1>', got 'tensor<1xi1>'}}
  %0 = stablehlo.while(%iterArg = %i) : tensor<i32>
  cond {
    stablehlo.return %p : tensor<1xi1>
  } do {
    stablehlo.return %iterArg : tensor<i32>
  }
  return
}

// -----

func.func @while_body(%i: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected 1 type of the results of the body, got 0}}
  %0 = stablehlo.while(%iterArg = %i) : tensor<i32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// -----

func.func @while_end(%i: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected the body to end in 'stablehlo.return'}}
  %0 = stablehlo.while(%iterArg = %i) : tensor<i32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    func.return %iterArg : tensor<i32>
  }
  return
}

// -----

func.func @while_operands(%i: tensor<i32>) {
  // expected-error@+1 {{number of operands and types do not match: got 1 operands and 2 types}}
  %0 = stablehlo.while(%iterArg = %i) : tensor<i32>, tensor<i32>
  cond {
  } do {
  }
  return
}

// -----

func.func @case_index(%i: tensor<i64>) {
  // expected-error@+1 {{expected an index of i32, got 'tensor<i64>'}}
  "stablehlo.case"(%i) ({
    stablehlo.return
  }) : (tensor<i64>) -> ()
  return
}

// -----

func.func @case_none(%i: tensor<i32>) {
  // expected-error@+1 {{expected at least 1 branch, got 0}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_arguments(%i: tensor<i32>) {
  // expected-error@+1 {{expected 0 types of the arguments of branch #1, got 1}}
  "stablehlo.case"(%i) ({
    stablehlo.return
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_results(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expected type #0 of the results of branch #1 to be 'tensor<4xf32>', got 'tensor<i32>'}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @if_predicate(%p: tensor<2xi1>) {
  // expected-error@+1 {{expected a scalar as predicate, got 'tensor<2xi1>'}}
  "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @if_results(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 type of the results of the false branch, got 2}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @if_true_results(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 type of the results of the true branch, got 0}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func private @gelu(tensor<4xf32>) -> tensor<4xf32>
func.func @composite_name(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a name with a namespace, such as 'my.gelu', got 'gelu'}}
  %0 = stablehlo.composite "gelu" %x {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @composite_symbol(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a function as decomposition, got @gelu}}
  %0 = stablehlo.composite "my.gelu" %x {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @gelu(tensor<5xf32>) -> tensor<4xf32>
func.func @composite_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected type #0 of the arguments of the decomposition to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = stablehlo.composite "my.gelu" %x {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @gelu(tensor<4xf32>)
func.func @composite_results(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 type of the results of the decomposition, got 0}}
  %0 = stablehlo.composite "my.gelu" %x {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
