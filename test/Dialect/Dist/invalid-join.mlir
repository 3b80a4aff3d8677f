// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// What keep and join refuse.

#full = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.keep' op expected an input that is not partial over axis "x", got}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #p> -> tensor<4xf32, #p>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate exactly where axis "x" splits no dim of the input, got}}
  %0 = dist.keep %a where "x" : tensor<4xf32, #full> -> tensor<4xf32, #p>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.keep' op expected a result of layout #dist.layout<@mesh, [{}], partial = [sum{"x"}]>, got}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #full> -> tensor<4xf32, #full>
  return
}

// -----

// A full value is a term of a maximum already.
#full = #dist.layout<@mesh, [{}]>
#max = #dist.layout<@mesh, [{}], partial = [max{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.keep' op expected a result that is a sum or a product over axis "x", got}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #full> -> tensor<4xf32, #max>
  return
}

// -----

#xy = #dist.layout<@mesh, [{"x", "y"}]>
#p = #dist.layout<@mesh, [{"y"}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @keep(%a: tensor<4xf32, #xy>) {
  // expected-error @+1 {{'dist.keep' op expected axis "x" as the last of dim 0, got}}
  %0 = dist.keep %a where "x" : tensor<4xf32, #xy> -> tensor<4xf32, #p>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate of axis "x" below 2, got 2}}
  %0 = dist.keep %a where "x" = 2 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate of at least 0, got -1}}
  %0 = dist.keep %a where "x" = -1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected an axis of the mesh, got "y"}}
  %0 = dist.keep %a where "y" = 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate and equal types where types have no layouts}}
  %0 = dist.keep %a where "x" : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected the name of an axis, got ""}}
  %0 = dist.keep %a where "" = 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>) {
  // expected-error @+1 {{'dist.join' op expected a result at several coordinates of axis "pipe", got #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>}}
  %0 = dist.join %a over "pipe" : (tensor<4xf32, #a0>) -> tensor<4xf32, #a0>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>) {
  // expected-error @+1 {{'dist.join' op expected disjoint coordinates of axis "pipe", got 0 twice}}
  %0 = dist.join %a, %a over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #a0>) -> tensor<4xf32, #g>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#f = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<4xf32, #f>) {
  // expected-error @+1 {{'dist.join' op expected operand 1 pinned on axis "pipe", got}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #f>) -> tensor<4xf32, #f>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#a12 = #dist.layout<@mesh, [{}], at = {"pipe" = [1, 2]}>
dist.mesh @mesh = <"pipe"=3>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<4xf32, #a12>) {
  // expected-error @+1 {{'dist.join' op expected operand 1 to be partial (sum) over axis "pipe" exactly at several coordinates, got}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #a12>) -> tensor<4xf32, #a0>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#x1 = #dist.layout<@mesh, [{"x"}], at = {"pipe" = [1]}>
dist.mesh @mesh = <"pipe"=2, "x"=2>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<4xf32, #x1>) {
  // expected-error @+1 {{'dist.join' op expected operands that differ in axis "pipe" alone, got}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #x1>) -> tensor<4xf32, #a0>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#a1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<4xf32, #a1>) {
  // expected-error @+1 {{'dist.join' op expected a result of layout #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>, got}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #a1>) -> tensor<4xf32, #a0>
  return
}

// -----

// After localize.
func.func @join(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'dist.join' op expected operands of 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
func.func @join(%a: tensor<4xf32, #a0>) {
  // expected-error @+1 {{'dist.join' op expected types with layouts, got 'tensor<4xf32>'}}
  %0 = dist.join %a, %a over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #a0>) -> tensor<4xf32>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
func.func @join(%a: tensor<4xf32, #a0>) {
  // expected-error @+1 {{'dist.join' op expected the name of an axis, got ""}}
  %0 = dist.join %a, %a over "" : (tensor<4xf32, #a0>, tensor<4xf32, #a0>) -> tensor<4xf32, #a0>
  return
}

// -----

func.func @f() -> tensor<4xf32> {
  // expected-error @+1 {{'dist.join' op expected at least one operand, got 0}}
  %0 = "dist.join"() <{axis = "pipe"}> : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#l = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2>
func.func @f() -> tensor<4xf32, #l> {
  // expected-error @+1 {{'dist.join' op expected at least one operand, got 0}}
  %0 = "dist.join"() <{axis = "pipe"}> : () -> tensor<4xf32, #l>
  return %0 : tensor<4xf32, #l>
}

// -----

#full = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.keep' op expected a result of 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #full> -> tensor<8xf32, #p>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
func.func @keep(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.keep' op expected mesh @mesh in the module, got none}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #full> -> tensor<4xf32, #p>
  return
}

// -----

func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected a mesh in the module, got none}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#y = #dist.layout<@mesh, [{"y"}]>
#p = #dist.layout<@mesh, [{"y"}], partial = [sum{"x"}]>
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #y>) {
  // expected-error @+1 {{'dist.keep' op expected an axis of the mesh, got "y"}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #y> -> tensor<4xf32, #p>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32, #x>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate exactly where axis "x" splits no dim of the input, got #dist.layout<@mesh, [{"x"}]>}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32, #x> -> tensor<4xf32, #p>
  return
}

// -----

// A part of the axis is not the axis.
#x = #dist.layout<@mesh, [{}, {"x":(1)2}]>
#p = #dist.layout<@mesh, [{}, {}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=4>
func.func @keep(%a: tensor<4x4xf32, #x>) {
  // expected-error @+1 {{'dist.keep' op expected axis "x" as the last of dim 1, got #dist.layout<@mesh, [{}, {"x":(1)2}]>}}
  %0 = dist.keep %a where "x" : tensor<4x4xf32, #x> -> tensor<4x4xf32, #p>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate and equal types where types have no layouts}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @keep(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.keep' op expected a coordinate and equal types where types have no layouts}}
  %0 = dist.keep %a where "x" = 0 : tensor<4xf32> -> tensor<4xf32, #p>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#a1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<8xf32, #a1>) {
  // expected-error @+1 {{'dist.join' op expected a result of 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<8xf32, #a1>) -> tensor<4xf32, #g>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dist.join' op expected types with layouts, got 'tensor<4xf32>'}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32>) -> tensor<4xf32, #g>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#a3 = #dist.layout<@mesh, [{}], at = {"pipe" = [3]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 3, 5]}>
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>, %b: tensor<4xf32, #a3>) {
  // expected-error @+1 {{'dist.join' op expected coordinates of axis "pipe" below 2, got 3}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a0>, tensor<4xf32, #a3>) -> tensor<4xf32, #g>
  return
}

// -----

#a0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 2]}>
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>) {
  // expected-error @+1 {{'dist.join' op expected coordinates of axis "pipe" below 2, got 2}}
  %0 = dist.join %a over "pipe" : (tensor<4xf32, #a0>) -> tensor<4xf32, #g>
  return
}

// -----

// A part that is partial over other coordinates than those it lives at.
#a0 = #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a0>) {
  // expected-error @+1 {{'dist.join' op expected operand 0 to be partial (sum) over axis "pipe" exactly at several coordinates, got #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1]}>}}
  %0 = dist.join %a over "pipe" : (tensor<4xf32, #a0>) -> tensor<4xf32, #g>
  return
}

// -----

#a1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#a01 = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2>
func.func @join(%a: tensor<4xf32, #a1>, %b: tensor<4xf32, #a01>) {
  // expected-error @+1 {{'dist.join' op expected disjoint coordinates of axis "pipe", got 1 twice}}
  %0 = dist.join %a, %b over "pipe" : (tensor<4xf32, #a1>, tensor<4xf32, #a01>) -> tensor<4xf32, #a01>
  return
}
