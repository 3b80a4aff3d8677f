// RUN: llmc-opt %s --split-input-file --verify-diagnostics

dist.mesh @mesh = <"x"=2>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected a layout of 1 dims, got 2}}
  %0 = dist.constraint %a to <@mesh, [{}, {}]> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected an axis of the mesh, got "y"}}
  %0 = dist.constraint %a to <@mesh, [{"y"}]> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @constraint(%a: tensor<4xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.constraint' op expected a tensor without encoding, got}}
  %0 = dist.constraint %a to <@mesh, [{}]> : tensor<4xf32, #dist.layout<@mesh, [{}]>>
  return
}

// -----

func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected mesh @mesh in the module, got none}}
  %0 = dist.constraint %a to <@mesh, [{}]> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=4>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected a sub-axis that divides axis "x" of size 4, got (1)3}}
  %0 = dist.constraint %a to <@mesh, [{"x":(1)3}]> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "pipe"=2>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected coordinates of axis "pipe" below 2, got 2}}
  %0 = dist.constraint %a to <@mesh, [{}], at = {"pipe" = [2]}> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "pipe"=2>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected an axis of the mesh, got "stage"}}
  %0 = dist.constraint %a to <@mesh, [{}], at = {"stage" = [0]}> : tensor<4xf32>
  return
}

// -----

func.func @reshard(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reshard' op expected types with layouts, got 'tensor<4xf32>' and 'tensor<4xf32>'}}
  %0 = dist.reshard %a : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reshard(%a: tensor<4xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected a result of 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = dist.reshard %a : tensor<4xf32, #dist.layout<@mesh, [{}]>> -> tensor<8xf32, #dist.layout<@mesh, [{}]>>
  return
}

// -----

// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2>
func.func @reshard(%a: tensor<5xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected dim 0 of size 5 to be divisible by axis "x" of size 2, which meets an extent of 5}}
  %0 = dist.reshard %a : tensor<5xf32, #dist.layout<@mesh, [{}]>> -> tensor<5xf32, #dist.layout<@mesh, [{"x"}]>>
  return
}

// -----

// An axis cannot cut the minor factor before the major one is used up.
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2, "y"=4>
func.func @reshard(%a: tensor<384xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected dim 0 of size 384 to be divisible by axis "y" of size 4, which meets an extent of 3}}
  %0 = dist.reshard %a : tensor<384xf32, #dist.layout<@mesh, [{}]>> -> tensor<384xf32, #dist.layout<@mesh, [{"x", "y"}:[6, 64:68]]>>
  return
}

// -----

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

func.func @fence() {
  // expected-error @+1 {{'dist.fence' op expected at least one input, got 0}}
  "dist.fence"() {operandSegmentSizes = array<i32: 0, 0>} : () -> ()
  return
}

// -----

func.func @fence(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.fence' op expected results of the inputs' types}}
  %0 = "dist.fence"(%a) {operandSegmentSizes = array<i32: 1, 0>} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected at least one axis, got 0}}
  %0 = dist.coordinate [] : tensor<i32>
  return
}

// -----

func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected a tensor of rank 0 of a signless integer, got 'tensor<1xi32>'}}
  %0 = dist.coordinate ["x"] : tensor<1xi32>
  return
}

// -----

func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected a mesh in the module, got none}}
  %0 = dist.coordinate ["x"] : tensor<i32>
  return
}

// -----

dist.mesh @a = <"x"=2>
dist.mesh @b = <"x"=2>
func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op requires `on @mesh`, since the module has several meshes}}
  %0 = dist.coordinate ["x"] : tensor<i32>
  return
}

// -----

dist.mesh @a = <"x"=2>
func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected an axis of the mesh, got "y"}}
  %0 = dist.coordinate ["y"] : tensor<i32>
  return
}

// -----

dist.mesh @a = <"x"=2>
func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected each axis once, got "x" twice}}
  %0 = dist.coordinate ["x", "x"] : tensor<i32>
  return
}

// -----

dist.mesh @a = <"x"=2>
func.func private @between()
// expected-error @+1 {{'dist.mesh' op expected to follow mesh @a at once, got other ops between}}
dist.mesh @b = <"x"=2>

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
