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

dist.mesh @mesh = <"x"=4>
func.func @constraint(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected a sub-axis that divides axis "x" of size 4, got (8)2}}
  %0 = dist.constraint %a to <@mesh, [{}, {"x":(8)2}]> : tensor<4x4xf32>
  return
}

// -----

// Two of nine divided by four are left, but four does not divide nine.
dist.mesh @mesh = <"x"=9>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected a sub-axis that divides axis "x" of size 9, got (4)2}}
  %0 = dist.constraint %a to <@mesh, [{}], partial = [sum{"x":(4)2}]> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=8>
func.func @constraint(%a: tensor<8xf32>) {
  %0 = dist.constraint %a to <@mesh, [{"x":(2)4}]> : tensor<8xf32>
  %1 = dist.constraint %a to <@mesh, [{"x":(1)8}]> : tensor<8xf32>
  // expected-error @+1 {{'dist.constraint' op expected a sub-axis that divides axis "x" of size 8, got (4)4}}
  %2 = dist.constraint %a to <@mesh, [{"x":(4)4}]> : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected an axis of the mesh, got "y"}}
  %0 = dist.constraint %a to <@mesh, [{}], replicated = {"x", "y"}> : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "pipe"=2>
func.func @constraint(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.constraint' op expected coordinates of axis "x" below 2, got 3}}
  %0 = dist.constraint %a to <@mesh, [{}], at = {"pipe" = [0, 1], "x" = [0, 3]}> : tensor<4xf32>
  return
}

// -----

func.func @reshard(%a: tensor<4xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected types with layouts, got 'tensor<4xf32, #dist.layout<@mesh, [{}]>>' and 'tensor<4xf32>'}}
  %0 = dist.reshard %a : tensor<4xf32, #dist.layout<@mesh, [{}]>> -> tensor<4xf32>
  return
}

// -----

func.func @reshard(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reshard' op expected types with layouts, got 'tensor<4xf32>' and 'tensor<4xf32, #dist.layout<@mesh, [{}]>>'}}
  %0 = dist.reshard %a : tensor<4xf32> -> tensor<4xf32, #dist.layout<@mesh, [{}]>>
  return
}

// -----

func.func @reshard(%a: tensor<4xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected a result of 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0 = dist.reshard %a : tensor<4xf32, #dist.layout<@mesh, [{}]>> -> tensor<4xf64, #dist.layout<@mesh, [{}]>>
  return
}

// -----

func.func @reshard(%a: tensor<4xf32, #dist.layout<@mesh, [{}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected mesh @mesh in the module, got none}}
  %0 = dist.reshard %a : tensor<4xf32, #dist.layout<@mesh, [{}]>> -> tensor<4xf32, #dist.layout<@mesh, [{"x"}]>>
  return
}

// -----

// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2>
func.func @reshard(%a: tensor<4xf32, #dist.layout<@mesh, [{"y"}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected an axis of the mesh, got "y"}}
  %0 = dist.reshard %a : tensor<4xf32, #dist.layout<@mesh, [{"y"}]>> -> tensor<4xf32, #dist.layout<@mesh, [{"x"}]>>
  return
}

// -----

// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2>
func.func @reshard(%a: tensor<4x5xf32, #dist.layout<@mesh, [{"x"}, {}]>>) {
  // expected-error @+1 {{'dist.reshard' op expected dim 1 of size 5 to be divisible by axis "x" of size 2, which meets an extent of 5}}
  %0 = dist.reshard %a : tensor<4x5xf32, #dist.layout<@mesh, [{"x"}, {}]>> -> tensor<4x5xf32, #dist.layout<@mesh, [{}, {"x"}]>>
  return
}

// -----

// An axis passes factors that are used up, the last one not.
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2, "y"=2, "z"=2>
func.func @reshard(%a: tensor<6xf32, #dist.layout<@mesh, [{}]>>, %b: tensor<3xf32, #dist.layout<@mesh, [{}]>>) {
  %0 = dist.reshard %a : tensor<6xf32, #dist.layout<@mesh, [{}]>> -> tensor<6xf32, #dist.layout<@mesh, [{"x", "y", "z"}:[2, 3:4]]>>
  // expected-error @+1 {{'dist.reshard' op expected dim 0 of size 3 to be divisible by axis "z" of size 2, which meets an extent of 1}}
  %1 = dist.reshard %b : tensor<3xf32, #dist.layout<@mesh, [{}]>> -> tensor<3xf32, #dist.layout<@mesh, [{"x", "y", "z"}:[3:4, 1]]>>
  return
}

// -----

func.func @fence(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dist.fence' op expected results of the inputs' types}}
  %0 = "dist.fence"(%a, %b) {operandSegmentSizes = array<i32: 2, 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected a tensor of rank 0 of a signless integer, got 'tensor<f32>'}}
  %0 = dist.coordinate ["x"] : tensor<f32>
  return
}

// -----

func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected a tensor of rank 0 of a signless integer, got 'tensor<ui32>'}}
  %0 = dist.coordinate ["x"] : tensor<ui32>
  return
}

// -----

dist.mesh @a = <"x"=2>
func.func @coordinate() {
  // expected-error @+1 {{'dist.coordinate' op expected mesh @b in the module, got none}}
  %0 = dist.coordinate ["x"] on @b : tensor<i32>
  return
}
