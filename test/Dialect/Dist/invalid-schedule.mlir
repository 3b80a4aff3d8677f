// RUN: llmc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'update'}}
  dist.segment chunk(0) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'forward'}}
  dist.segment phase(forward) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected forward, backward, backward_input, backward_weight or update, got 'sideways'}}
  dist.segment chunk(0) phase(sideways) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected a chunk of at least 0, got -1}}
  dist.segment chunk(-1) phase(forward) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected ascending coordinates from 0 on, got 0}}
  dist.segment at(1, 0) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected at least one coordinate, got 0}}
  "dist.segment"() ({
    dist.yield
  }) {at = array<i64>, phase = #dist.phase<update>} : () -> ()
  return
}

// -----

func.func @f() {
  dist.segment chunk(0) phase(forward) {
    // expected-error @+1 {{'dist.segment' op cannot stand in another segment}}
    dist.segment chunk(0) phase(forward) {
      dist.yield
    }
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected to end in 'dist.yield'}}
  dist.segment chunk(0) phase(forward) {
    "test.end"() : () -> ()
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected a region without arguments, got 1}}
  dist.segment chunk(0) phase(forward) {
  ^bb0(%a: i32):
    dist.yield
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.segment' op expected yielded types 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = dist.segment chunk(0) phase(forward) -> tensor<2xf32> {
    dist.yield %a : tensor<4xf32>
  }
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected two coordinates, got 0 twice}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 0 : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected a result of 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected the name of an axis, got ""}}
  %0 = dist.transfer @t %a along "" 0 -> 1 : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected an axis of the mesh, got "stage"}}
  %0 = dist.transfer @t %a along "stage" 0 -> 1 : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected coordinates of axis "pipe" below 2, got 2}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 2 : tensor<4xf32>
  return
}

// -----

#r0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32, #r0>) {
  // expected-error @+1 {{'dist.transfer' op expected an input pinned at coordinate 1 of axis "pipe" alone, got}}
  %0 = dist.transfer @t %a along "pipe" 1 -> 0 : tensor<4xf32, #r0>
  return
}

// -----

#r0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32, #r0>) {
  // expected-error @+1 {{'dist.transfer' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>>', got}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32, #r0>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'forward'}}
  dist.segment chunk(0) at(0) phase(forward) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'update'}}
  dist.segment phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'update'}}
  dist.segment chunk(0) at(0) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected ascending coordinates from 0 on, got -1}}
  dist.segment at(-1, 0) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected ascending coordinates from 0 on, got 2}}
  dist.segment at(0, 2, 2) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expects a non-empty block}}
  "dist.segment"() ({
  ^bb0:
  }) {chunk = 0 : i64, phase = #dist.phase<forward>} : () -> ()
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected a mesh in the module, got none}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32>
  return
}

// -----

#r0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#r1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
func.func @f(%a: tensor<4xf32, #r0>) {
  // expected-error @+1 {{'dist.transfer' op expected mesh @mesh in the module, got none}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32, #r0> -> tensor<4xf32, #r1>
  return
}

// -----

dist.mesh @a = <"pipe"=2>
dist.mesh @b = <"pipe"=3>
func.func @f(%a: tensor<4xf32>) {
  %0 = dist.transfer @t %a along "pipe" 0 -> 2 on @b : tensor<4xf32>
  // expected-error @+1 {{'dist.transfer' op expected coordinates of axis "pipe" below 2, got 2}}
  %1 = dist.transfer @t %a along "pipe" 2 -> 0 on @a : tensor<4xf32>
  return
}

// -----

#r0 = #dist.layout<@mesh, [{"y"}], at = {"pipe" = [0]}>
#r1 = #dist.layout<@mesh, [{"y"}], at = {"pipe" = [1]}>
// expected-note @+1 {{mesh is defined here}}
dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32, #r0>) {
  // expected-error @+1 {{'dist.transfer' op expected an axis of the mesh, got "y"}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32, #r0> -> tensor<4xf32, #r1>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected coordinates of axis "pipe" below 2, got -1}}
  %0 = dist.transfer @t %a along "pipe" -1 -> 1 : tensor<4xf32>
  return
}

// -----

// A value that lives at more coordinates than the one.
#r01 = #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>
#r2 = #dist.layout<@mesh, [{}], at = {"pipe" = [2]}>
dist.mesh @mesh = <"pipe"=3>
func.func @f(%a: tensor<4xf32, #r01>) {
  // expected-error @+1 {{'dist.transfer' op expected an input pinned at coordinate 0 of axis "pipe" alone, got #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 2 : tensor<4xf32, #r01> -> tensor<4xf32, #r2>
  return
}
