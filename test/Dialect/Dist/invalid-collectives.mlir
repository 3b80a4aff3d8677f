// RUN: llmc-opt %s --split-input-file --verify-diagnostics

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected as many results as buffers and at least one, got 0 and 1}}
  "dist.all_reduce"(%a) {axes = ["x"], kind = #dist<reduction sum>} : (tensor<4xf32>) -> ()
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected at least one axis, got 0}}
  %0 = dist.all_reduce %a over [] sum : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected each axis once, got "x" twice}}
  %0 = dist.all_reduce %a over ["x", "x"] sum : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an axis of the mesh, got "y"}}
  %0 = dist.all_reduce %a over ["y"] sum : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected rank and element type of 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected layouts of one mesh on all types or on none, got}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32> -> tensor<4xf32, #dist.layout<@mesh, [{}]>>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
dist.mesh @other = <"x"=2>
func.func @f(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.all_reduce' op expected mesh @mesh of the layouts, got @other}}
  %0 = dist.all_reduce %a over ["x"] on @other sum : tensor<4xf32, #full>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an input that is partial (sum) over axis "x", got}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32, #full>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected a result of 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<5xf32>) {
  // expected-error @+1 {{'dist.reduce_scatter' op expected dim 0 of size 5 to be divisible by 2 members}}
  %0 = dist.reduce_scatter %a dim 0 over ["x"] sum : tensor<5xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_gather' op expected a dim below 1, got 1}}
  %0 = dist.all_gather %a dim 1 over ["x"] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

#xy = #dist.layout<@mesh, [{"x", "y"}]>
#y = #dist.layout<@mesh, [{"y"}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #xy>) {
  // expected-error @+1 {{'dist.all_gather' op expected the axes as the last of dim 0, got}}
  %0 = dist.all_gather %a dim 0 over ["x"] : tensor<4xf32, #xy> -> tensor<4xf32, #y>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op expected two dims, got 0 twice}}
  %0 = dist.all_to_all %a split 0 concat 0 over ["x"] : tensor<4xf32>
  return
}

// -----

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
