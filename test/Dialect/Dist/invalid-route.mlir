// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @dim(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dist.route' op expected a dim below 1, got 1}}
  %0 = dist.route %x dim 1 from [0, 1, 2, 3] : tensor<4xf32>
  return
}

// -----

func.func @count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dist.route' op expected an entry for each of 4 rows, got 3}}
  %0 = dist.route %x dim 0 from [0, 1, 2] : tensor<4xf32>
  return
}

// -----

func.func @range(%x: tensor<2xf32>) {
  // expected-error @+1 {{'dist.route' op expected rows in [-1, 2), each once, got [0, 2]}}
  %0 = dist.route %x dim 0 from [0, 2] : tensor<2xf32>
  return
}

// -----

func.func @negative(%x: tensor<2xf32>) {
  // expected-error @+1 {{'dist.route' op expected rows in [-1, 2), each once, got [-2, 1]}}
  %0 = dist.route %x dim 0 from [-2, 1] : tensor<2xf32>
  return
}

// -----

func.func @twice(%x: tensor<2xf32>) {
  // expected-error @+1 {{'dist.route' op expected rows in [-1, 2), each once, got [1, 1]}}
  %0 = dist.route %x dim 0 from [1, 1] : tensor<2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @neither(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected one of `to` and `from`, got none}}
  %0 = dist.permute %a over ["x"] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @both(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected one of `to` and `from`, got both}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] from [0, 1, 2, 3] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @sources(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected a source for each of 2 members, got 3}}
  %0 = dist.permute %a over ["x"] from [0, 2, 1] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @no_permutation(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected `from` as a permutation of 2 members, got [1, 1]}}
  %0 = dist.permute %a over ["x"] from [1, 1] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @no_member(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected `from` as a permutation of 2 members, got [-1, 0]}}
  %0 = dist.permute %a over ["x"] from [-1, 0] : tensor<4xf32>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @layouts(%a: tensor<4xf32, #x>) {
  // expected-error @+1 {{'dist.permute' op expected no layouts with `from`}}
  %0 = dist.permute %a over ["x"] from [1, 0] : tensor<4xf32, #x>
  return
}
