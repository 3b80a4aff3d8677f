// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// Functions outside llmc's own programs may have any attributes but ours.
// expected-error @+1 {{'func.func' op expected 'dist.port' on an argument, got 'dist.role'}}
func.func private @f(tensor<f32> {dist.role = "input"})

// -----

// expected-error @+1 {{'func.func' op expected 'dist.port' on a result, got 'dist.metric'}}
func.func private @f() -> (tensor<f32> {dist.metric = "loss"})

// -----

// expected-error @+1 {{'func.func' op expected a #dist.port for 'dist.port', got "input"}}
func.func private @f(tensor<f32> {dist.port = "input"})

// -----

// expected-error @+1 {{'func.func' op expected a mark of ops, got 'dist.port'}}
func.func private @f() attributes {dist.port = #dist.port<step>}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected an i64 of at least 0 for 'dist.block', got -1 : i64}}
  %0 = arith.constant {dist.block = -1 : i64} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a #dist.phase for 'dist.phase', got "forward"}}
  %0 = arith.constant {dist.phase = "forward"} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a name for 'dist.name', got 1 : i64}}
  %0 = arith.constant {dist.name = 1} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a layout for each of 1 results in 'dist.layouts', got []}}
  %0 = arith.constant {dist.layouts = []} dense<0> : tensor<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a layout of 1 dims in 'dist.layouts', got 2}}
  %0 = arith.constant {dist.layouts = [#dist.layout<@mesh, [{}, {}]>]} dense<0> : tensor<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected ascending coordinates from 0 on for 'dist.at', got array<i64: 1, 1>}}
  %0 = arith.constant {dist.at = array<i64: 1, 1>} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected an i64 of at least 0 for 'dist.block', got 1 : i32}}
  %0 = arith.constant {dist.block = 1 : i32} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected ascending coordinates from 0 on for 'dist.at', got array<i64>}}
  %0 = arith.constant {dist.at = array<i64>} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected ascending coordinates from 0 on for 'dist.at', got array<i64: -1, 0>}}
  %0 = arith.constant {dist.at = array<i64: -1, 0>} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected ascending coordinates from 0 on for 'dist.at', got array<i64: 0, 1, 1>}}
  %0 = arith.constant {dist.at = array<i64: 0, 1, 1>} 0 : i32
  return
}

// -----

// The first ones of each.
func.func @f() {
  %0 = arith.constant {dist.at = array<i64: 0, 1>, dist.block = 0 : i64} 0 : i32
  return
}
