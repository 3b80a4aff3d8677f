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

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.negate' op expected operands of the op, below 1, for 'dist.stop_gradient', got array<i64: 1>}}
  %0 = stablehlo.negate %x {dist.stop_gradient = array<i64: 1>} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.negate' op expected one of relu, relu6, log1mexp for 'dist.jax_function', got "rela"}}
  %0 = stablehlo.negate %x {dist.jax_function = "rela"} : tensor<f32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected an i64 of at least 0 for 'dist.chunk', got "0"}}
  %0 = arith.constant {dist.chunk = "0"} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected an i64 of at least 0 for 'dist.chunk', got -1 : i64}}
  %0 = arith.constant {dist.block = 0 : i64, dist.chunk = -1 : i64} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a name for 'dist.name', got ""}}
  %0 = arith.constant {dist.name = ""} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a layout for each of 1 results in 'dist.layouts', got #dist.layout<@mesh, [{}]>}}
  %0 = arith.constant {dist.layouts = #dist.layout<@mesh, [{}]>} dense<0> : tensor<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a layout for each of 1 results in 'dist.layouts', got [1]}}
  %0 = arith.constant {dist.layouts = [1]} dense<0> : tensor<4xi32>
  return
}

// -----

// What is no tensor has a layout of any rank.
func.func @f(%x: tensor<4xf32>) {
  %0 = arith.constant {dist.layouts = [#dist.layout<@mesh, [{}]>]} 0 : i32
  // expected-error @+1 {{'dist.fence' op expected a layout of 1 dims in 'dist.layouts', got 2}}
  %1:2 = dist.fence(%x, %x) {dist.layouts = [#dist.layout<@mesh, [{}]>, #dist.layout<@mesh, [{}, {}]>]} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected ascending coordinates from 0 on for 'dist.at', got [0]}}
  %0 = arith.constant {dist.at = [0]} 0 : i32
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.negate' op expected one of relu, relu6, log1mexp for 'dist.jax_function', got 1 : i64}}
  %0 = stablehlo.negate %x {dist.jax_function = 1} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.negate' op expected operands of the op, below 1, for 'dist.stop_gradient', got array<i64: 0, -1>}}
  %0 = stablehlo.negate %x {dist.stop_gradient = array<i64: 0, -1>} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.negate' op expected operands of the op, below 1, for 'dist.stop_gradient', got [0]}}
  %0 = stablehlo.negate %x {dist.stop_gradient = [0]} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.negate %x {dist.stop_gradient = array<i64: 0>, dist.jax_function = "relu6", dist.name = "y"} : tensor<f32>
  return
}

// -----

// expected-error @+1 {{'func.func' op expected 'dist.port' on an argument, got 'dist.block'}}
func.func private @f(tensor<f32> {dist.port = #dist.port<step>}, tensor<f32> {dist.block = 0 : i64})

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected an i64 of at least 0 for 'dist.group', got -1 : i64}}
  %0 = arith.constant {dist.group = -1 : i64} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected "NONE", "FORWARD" or "BACKWARD" for 'dist.direction', got "BOTH"}}
  %0 = arith.constant {dist.direction = "BOTH"} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a float type for 'dist.precision', got i32}}
  %0 = arith.constant {dist.precision = i32} 0 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected two numbers of at least 0 for 'dist.scaling', got array<i64: 4>}}
  %0 = arith.constant {dist.scaling = array<i64: 4>} 1 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected two numbers of at least 0 for 'dist.scaling', got array<i64: 4, -1>}}
  %0 = arith.constant {dist.scaling = array<i64: 4, -1>} 1 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected no value of 'dist.rounds_terms', got 1 : i64}}
  %0 = arith.constant {dist.rounds_terms = 1} 1 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a finite f64 of at least 0 for 'dist.model_flops', got -1.000000e+00 : f64}}
  %0 = arith.constant {dist.model_flops = -1.0 : f64} 1 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arith.constant' op expected a finite f64 of at least 0 for 'dist.operations', got -1.000000e+00 : f64}}
  %0 = arith.constant {dist.operations = -1.0 : f64} 1 : i32
  return
}
