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
func.func @f() {
  // expected-error @+1 {{'dist.all_reduce' op expected as many results as buffers and at least one, got 0 and 0}}
  "dist.all_reduce"() {axes = ["x"], kind = #dist<reduction sum>} : () -> ()
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
#q = #dist.layout<@other, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
dist.mesh @other = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>, %b: tensor<4xf32, #q>) {
  // expected-error @+1 {{'dist.all_reduce' op expected layouts of one mesh on all types or on none, got 'tensor<4xf32, #dist.layout<@other, [{}], partial = [sum{"x"}]>>'}}
  %0:2 = dist.all_reduce %a, %b over ["x"] sum : tensor<4xf32, #p>, tensor<4xf32, #q> -> tensor<4xf32, #full>, tensor<4xf32, #full>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected layouts of one mesh on all types or on none, got 'tensor<4xf32>'}}
  %0:2 = dist.all_reduce %a, %b over ["x"] sum : tensor<4xf32, #p>, tensor<4xf32> -> tensor<4xf32, #full>, tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected rank and element type of 'tensor<4xf32>', got 'tensor<4x1xf32>'}}
  %0:2 = dist.all_reduce %a, %b over ["x"] sum : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4x1xf32>
  return
}

// -----

#full = #dist.layout<@none, [{}]>
#p = #dist.layout<@none, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.all_reduce' op expected mesh @none in the module, got none}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32, #p> -> tensor<4xf32, #full>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected mesh @none in the module, got none}}
  %0 = dist.all_reduce %a over ["x"] on @none sum : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an axis of the mesh, got "y"}}
  %0 = dist.all_reduce %a over ["x", "y"] sum : tensor<4xf32>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
#yp = #dist.layout<@mesh, [{"y"}], partial = [sum{"x"}]>
#full = #dist.layout<@mesh, [{}]>
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>, %b: tensor<4xf32, #yp>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an axis of the mesh, got "y"}}
  %0:2 = dist.all_reduce %a, %b over ["x"] sum : tensor<4xf32, #p>, tensor<4xf32, #yp> -> tensor<4xf32, #full>, tensor<4xf32, #full>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
#y = #dist.layout<@mesh, [{"y"}]>
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an axis of the mesh, got "y"}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32, #p> -> tensor<4xf32, #y>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an input that is partial (sum) over axis "y", got #dist.layout<@mesh, [{}], partial = [sum{"x"}]>}}
  %0 = dist.all_reduce %a over ["x", "y"] sum : tensor<4xf32, #p> -> tensor<4xf32, #full>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [max{"x"}]>
#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.all_reduce' op expected an input that is partial (sum) over axis "x", got #dist.layout<@mesh, [{}], partial = [max{"x"}]>}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32, #p> -> tensor<4xf32, #full>
  return
}

// -----

#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #p>) {
  // expected-error @+1 {{'dist.all_reduce' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{}]>>', got 'tensor<4xf32, #dist.layout<@mesh, [{}], partial = [sum{"x"}]>>'}}
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32, #p> -> tensor<4xf32, #p>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reduce_scatter' op expected a dim below 1, got 1}}
  %0 = dist.reduce_scatter %a dim 1 over ["x"] sum : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#full = #dist.layout<@mesh, [{}]>
#x = #dist.layout<@mesh, [{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32, #full>) {
  // expected-error @+1 {{'dist.reduce_scatter' op expected an input that is partial (sum) over axis "x", got #dist.layout<@mesh, [{}]>}}
  %0 = dist.reduce_scatter %a dim 0 over ["x"] sum : tensor<4xf32, #full> -> tensor<4xf32, #x>
  return
}

// -----

#p = #dist.layout<@mesh, [{}, {}], partial = [sum{"x"}]>
#x = #dist.layout<@mesh, [{"x"}, {}]>
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x4xf32, #p>) {
  // expected-error @+1 {{'dist.reduce_scatter' op expected a result of 'tensor<4x4xf32, #dist.layout<@mesh, [{}, {"x"}]>>', got 'tensor<4x4xf32, #dist.layout<@mesh, [{"x"}, {}]>>'}}
  %0 = dist.reduce_scatter %a dim 1 over ["x"] sum : tensor<4x4xf32, #p> -> tensor<4x4xf32, #x>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.reduce_scatter' op expected a result of 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = dist.reduce_scatter %a dim 0 over ["x"] sum : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_gather' op expected a dim below 1, got -1}}
  %0 = dist.all_gather %a dim -1 over ["x"] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.all_gather' op expected a result of 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = dist.all_gather %a dim 0 over ["x"] : tensor<4xf32>
  return
}

// -----

#y = #dist.layout<@mesh, [{"y"}]>
#full = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #y>) {
  // expected-error @+1 {{'dist.all_gather' op expected the axes as the last of dim 0, got #dist.layout<@mesh, [{"y"}]>}}
  %0 = dist.all_gather %a dim 0 over ["x", "y"] : tensor<4xf32, #y> -> tensor<4xf32, #full>
  return
}

// -----

#y = #dist.layout<@mesh, [{"y"}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4xf32, #y>) {
  // expected-error @+1 {{'dist.all_gather' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{}]>>', got 'tensor<4xf32, #dist.layout<@mesh, [{"y"}]>>'}}
  %0 = dist.all_gather %a dim 0 over ["y"] : tensor<4xf32, #y>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op expected a dim below 2, got 2}}
  %0 = dist.all_to_all %a split 2 concat 0 over ["x"] : tensor<4x4xf32> -> tensor<8x2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op expected a dim below 2, got 3}}
  %0 = dist.all_to_all %a split 1 concat 3 over ["x"] : tensor<4x4xf32> -> tensor<8x2xf32>
  return
}

// -----

#x = #dist.layout<@mesh, [{"x"}, {}]>
#y = #dist.layout<@mesh, [{}, {"y"}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @f(%a: tensor<4x4xf32, #x>) {
  // expected-error @+1 {{'dist.all_to_all' op expected the axes as the last of dim 0, got #dist.layout<@mesh, [{"x"}, {}]>}}
  %0 = dist.all_to_all %a split 1 concat 0 over ["y"] : tensor<4x4xf32, #x> -> tensor<4x4xf32, #y>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x5xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op expected dim 1 of size 5 to be divisible by 2 members}}
  %0 = dist.all_to_all %a split 1 concat 0 over ["x"] : tensor<4x5xf32> -> tensor<8x2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2, "y"=3>
func.func @f(%a: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op expected a result of 'tensor<24x1xf32>', got 'tensor<24x6xf32>'}}
  %0 = dist.all_to_all %a split 1 concat 0 over ["x", "y"] : tensor<4x6xf32> -> tensor<24x6xf32>
  return
}

// -----

// What a collective makes of a dim must have a size.
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<?xf32>) {
  // expected-error @+1 {{'dist.reduce_scatter' op expected dim 0 of static size, got 'tensor<?xf32>'}}
  %0 = dist.reduce_scatter %a dim 0 over ["x"] sum : tensor<?xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x?xf32>) {
  // expected-error @+1 {{'dist.all_gather' op expected dim 1 of static size, got 'tensor<4x?xf32>'}}
  %0 = dist.all_gather %a dim 1 over ["x"] : tensor<4x?xf32> -> tensor<4x0xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4611686018427387904xf32>) {
  // expected-error @+1 {{'dist.all_gather' op expected dim 0 of size 4611686018427387904 times 2 members below 2^63}}
  %0 = dist.all_gather %a dim 0 over ["x"] : tensor<4611686018427387904xf32>
  return
}

// -----

// The sizes of other dims are kept, whatever they are.
dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4611686018427387903x?xf32>, %b: tensor<4x?xf32>) {
  %0 = dist.all_gather %a dim 0 over ["x"] : tensor<4611686018427387903x?xf32> -> tensor<9223372036854775806x?xf32>
  // expected-error @+1 {{'dist.all_to_all' op expected dim 1 of static size, got 'tensor<2x?xf32>'}}
  %1 = dist.all_to_all %b split 0 concat 1 over ["x"] : tensor<4x?xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x3xf32>, %n: tensor<4x3xi64>) {
  // expected-error @+1 {{'dist.ragged_all_to_all' op expected counts of [4, n] with n a multiple of 2 members, got 'tensor<4x3xi64>'}}
  %0 = dist.ragged_all_to_all %a dim 0 counts %n : tensor<4x3xi64> over ["x"] : tensor<4x3xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x3xf32>, %n: tensor<4x2xi64>) {
  // expected-error @+1 {{'dist.ragged_all_to_all' op expected a result of 'tensor<4x3xf32>', got 'tensor<4x2xf32>'}}
  %0 = dist.ragged_all_to_all %a dim 0 counts %n : tensor<4x2xi64> over ["x"] : tensor<4x3xf32> -> tensor<4x2xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x3xf32>, %n: tensor<4x2xi64>) {
  // expected-error @+1 {{'dist.ragged_all_to_all' op expected a dim below 2, got 2}}
  %0 = dist.ragged_all_to_all %a dim 2 counts %n : tensor<4x2xi64> over ["x"] : tensor<4x3xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<4x3xf32>, %n: tensor<4x2xi64>) {
  // expected-error @+1 {{'dist.ragged_all_to_all' op expected one buffer without a layout, got 2 of 'tensor<4x3xf32>'}}
  %0:2 = dist.ragged_all_to_all %a, %a dim 0 counts %n : tensor<4x2xi64> over ["x"] : tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<2x4x3xf32>, %n: tensor<2x3x2xi64>) {
  // expected-error @+1 {{'dist.send_rows' op expected slices of [batch, members, 4, n] with n a multiple of the members, got 'tensor<2x3x2xi64>'}}
  %0 = dist.send_rows %a, %n : tensor<2x4x3xf32>, tensor<2x3x2xi64> -> tensor<2x4x3xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<2x4x3xf32>, %n: tensor<2x4x2xi64>) {
  // expected-error @+1 {{'dist.send_rows' op expected an input and a result that differ in dim 1 only, got 'tensor<2x4x3xf32>' and 'tensor<2x4x4xf32>'}}
  %0 = dist.send_rows %a, %n : tensor<2x4x3xf32>, tensor<2x4x2xi64> -> tensor<2x4x4xf32>
  return
}

// -----

dist.mesh @mesh = <"x"=2>
func.func @f(%a: tensor<3x4x3xf32>, %n: tensor<2x4x2xi64>) {
  // expected-error @+1 {{'dist.send_rows' op expected slices for the batch and the members of 'tensor<3x4x3xf32>', got 'tensor<2x4x2xi64>'}}
  %0 = dist.send_rows %a, %n : tensor<3x4x3xf32>, tensor<2x4x2xi64> -> tensor<3x4x3xf32>
  return
}
