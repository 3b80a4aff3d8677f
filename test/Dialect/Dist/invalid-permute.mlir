// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// What the collectives that name members or another order refuse: broadcast, reduce and permute.

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.broadcast' op expected a coordinate for each of 1 axes, got 2}}
  %0 = dist.broadcast %a from [0, 0] over ["x"] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reduce' op expected a coordinate of axis "x" below 2, got 2}}
  %0 = dist.reduce %a to [2] over ["x"] sum : tensor<4xf32>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.broadcast' op expected an input pinned at coordinate 0 of axis "x" or partial (sum) over it, got}}
  %0 = dist.broadcast %a from [0] over ["x"] : tensor<4xf32, #full>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected `to` as another order of ["x", "y"], got ["x", "y"]}}
  %0 = dist.permute %a over ["x", "y"] to ["x", "y"] : tensor<4xf32>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}]>
#y = #dist.layout<@mesh, [{"y"}]>
dist.mesh @mesh = <"x"=2, "y"=4>
func.func @f(%a: tensor<4xf32, #x>) {
  // expected-error @+1 {{'dist.permute' op expected dim 0 in 2 parts, got 4}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<4xf32, #x> -> tensor<4xf32, #y>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}]>
#y = #dist.layout<@mesh, [{"y"}:6]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #x>) {
  // expected-error @+1 {{'dist.permute' op expected dim 0 to keep its extents, got}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<4xf32, #x> -> tensor<4xf32, #y>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reduce' op expected a coordinate of axis "y" below 2, got -1}}
  %0 = dist.reduce %a to [0, -1] over ["x", "y"] sum : tensor<4xf32>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
#x0 = #dist.layout<@mesh, [{}], at = {"x" = [0]}>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.reduce' op expected an input that is partial (sum) over axis "x", got #dist.layout<@mesh, [{}]>}}
  %0 = dist.reduce %a to [0] over ["x"] sum : tensor<4xf32, #full> -> tensor<4xf32, #x0>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
#x0 = #dist.layout<@mesh, [{}], at = {"x" = [0]}>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.reduce' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{}], at = {"x" = [1]}>>', got 'tensor<4xf32, #dist.layout<@mesh, [{}], at = {"x" = [0]}>>'}}
  %0 = dist.reduce %a to [1] over ["x"] sum : tensor<4xf32, #p> -> tensor<4xf32, #x0>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reduce' op expected a result of 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dist.reduce %a to [1] over ["x"] sum : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.broadcast' op expected a result of 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dist.broadcast %a from [1] over ["x"] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#x1 = #dist.layout<@mesh, [{}], at = {"x" = [1]}>
#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #x1>) {
  // expected-error @+1 {{'dist.broadcast' op expected an input pinned at coordinate 0 of axis "x" or partial (sum) over it, got #dist.layout<@mesh, [{}], at = {"x" = [1]}>}}
  %0 = dist.broadcast %a from [0] over ["x"] : tensor<4xf32, #x1> -> tensor<4xf32, #full>
  return
}

// -----

#x1 = #dist.layout<@mesh, [{}], at = {"x" = [1]}>
#y = #dist.layout<@mesh, [{"y"}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #x1>) {
  // expected-error @+1 {{'dist.broadcast' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{}]>>', got 'tensor<4xf32, #dist.layout<@mesh, [{"y"}]>>'}}
  %0 = dist.broadcast %a from [1] over ["x"] : tensor<4xf32, #x1> -> tensor<4xf32, #y>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected each axis once, got "y" twice}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "y"] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected each axis once, got "x" twice}}
  %0 = dist.permute %a over ["x", "x"] to ["x", "y"] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected `to` as another order of ["x", "y"], got ["y"]}}
  %0 = dist.permute %a over ["x", "y"] to ["y"] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2, "z"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected `to` as another order of ["x", "y"], got ["z", "x"]}}
  %0 = dist.permute %a over ["x", "y"] to ["z", "x"] : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected a result of 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}], partial = [sum{"z"}]>
#y = #dist.layout<@mesh, [{"y"}]>
dist.mesh @mesh = <"x"=2, "y"=2, "z"=2>
func.func @f(%a: tensor<4xf32, #x>) {
  // expected-error @+1 {{'dist.permute' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{"y"}], partial = [sum{"z"}]>>', got 'tensor<4xf32, #dist.layout<@mesh, [{"y"}]>>'}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<4xf32, #x> -> tensor<4xf32, #y>
  return
}

// -----

#x = #dist.layout<@mesh, [{}, {"x"}]>
#y = #dist.layout<@mesh, [{}, {"y"}]>
dist.mesh @mesh = <"x"=2, "y"=4>
func.func @f(%a: tensor<4x4xf32, #x>) {
  // expected-error @+1 {{'dist.permute' op expected dim 1 in 2 parts, got 4}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<4x4xf32, #x> -> tensor<4x4xf32, #y>
  return
}

// -----

#a = #dist.layout<@mesh, [{}], at = {"x" = [0], "y" = [1]}>
#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #a>) {
  // expected-error @+1 {{'dist.broadcast' op expected an input pinned at coordinate 0 of axis "y" or partial (sum) over it, got #dist.layout<@mesh, [{}], at = {"x" = [0], "y" = [1]}>}}
  %0 = dist.broadcast %a from [0, 0] over ["x", "y"] : tensor<4xf32, #a> -> tensor<4xf32, #full>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [max{"x"}]>
#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.broadcast' op expected an input pinned at coordinate 0 of axis "x" or partial (sum) over it, got #dist.layout<@mesh, [{}], partial = [max{"x"}]>}}
  %0 = dist.broadcast %a from [0] over ["x"] : tensor<4xf32, #p> -> tensor<4xf32, #full>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=2, "z"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.permute' op expected `to` as another order of ["x", "y"], got ["y", "z"]}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "z"] : tensor<4xf32>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}]>
#y = #dist.layout<@mesh, [{"y"}]>
dist.mesh @mesh = <"x"=2, "y"=4>
func.func @f(%a: tensor<4xf32, #y>) {
  // expected-error @+1 {{'dist.permute' op expected dim 0 in 4 parts, got 2}}
  %0 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<4xf32, #y> -> tensor<4xf32, #x>
  return
}
