// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @rows(%W: tensor<3x8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.enter' op expected an input with 4 rows, one for each trip, got 'tensor<3x8xf32>'}}
  %w = dist.enter row %W of <"l", trips = 4> : tensor<3x8xf32> -> tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

func.func @scalar(%W: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'dist.enter' op expected an input with 4 rows, one for each trip, got 'tensor<f32>'}}
  %w = dist.enter row %W of <"l", trips = 4> : tensor<f32> -> tensor<f32>
  return %w : tensor<f32>
}

// -----

func.func @type(%W: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'dist.enter' op expected a result of 'tensor<8xf32>', got 'tensor<4x8xf32>'}}
  %w = dist.enter row %W of <"l", trips = 4> : tensor<4x8xf32> -> tensor<4x8xf32>
  return %w : tensor<4x8xf32>
}

// -----

func.func @number(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.enter' op expected a number, at least 0, exactly of a carried value}}
  %c = dist.enter same %x of <"l", trips = 4> number(0) : tensor<8xf32> -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

func.func @open(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.enter' op expected one 'dist.next' of a carried value, and none of others, got 0}}
  %c = dist.enter carry %x of <"l", trips = 4> number(0) : tensor<8xf32> -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.enter' op expected one 'dist.next' of a carried value, and none of others, got 2}}
  %c = dist.enter carry %x of <"l", trips = 4> number(0) : tensor<8xf32> -> tensor<8xf32>
  %f = dist.next %c, %c : tensor<8xf32>
  %g = dist.next %c, %x : tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @follows(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.next' op expected to follow a 'dist.enter carry'}}
  %f = dist.next %x, %x : tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @read(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = dist.enter carry %x of <"l", trips = 4> number(0) : tensor<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{'dist.next' op expected to be read by 'dist.leave last' alone, got 'dist.leave'}}
  %f = dist.next %c, %c : tensor<8xf32>
  %s = dist.leave sum %f of <"l", trips = 4> : tensor<8xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

func.func @stacked(%x: tensor<4xf32>) -> tensor<3xf32> {
  %r = dist.enter row %x of <"l", trips = 4> : tensor<4xf32> -> tensor<f32>
  // expected-error@+1 {{'dist.leave' op expected a result of 'tensor<4xf32>', got 'tensor<3xf32>'}}
  %y = dist.leave stack %r of <"l", trips = 4> : tensor<f32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// expected-error@+1 {{expected at least 1 trip of a loop, got 0}}
#none = #dist.loop<"l", trips = 0>

// -----

// expected-error@+1 {{expected the name of a loop, got ""}}
#unnamed = #dist.loop<"", trips = 1>

// -----

func.func @words(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected same, row or carry, got 'column'}}
  %r = dist.enter column %x of <"l", trips = 4> : tensor<4xf32> -> tensor<f32>
  return
}

// -----

// expected-error@+1 {{expected trips of at least 0, got -1}}
func.func @port(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w, trips = -1>}) {
  return
}

// -----

// expected-error@+1 {{expected trips of at least 0, got -3}}
func.func @ports(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w, trips = [2, -3]>}) {
  return
}

// -----

// expected-error@+1 {{expected trips of a loop, or none at all, got 0 of each}}
func.func @rowless(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w, trips = [0, 0]>}) {
  return
}

// -----

func.func @around(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a conditional loop in no other one, and no other one in it}}
  %r = dist.enter row %x of <"m", trips = 4, in = <"l", conditional = true>> : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @inside(%x: tensor<i1>) {
  // expected-error@+1 {{expected a conditional loop in no other one, and no other one in it}}
  %r = dist.enter carry %x of <"m", conditional = true, in = <"l", trips = 4>> number(0) : tensor<i1> -> tensor<i1>
  return
}

// -----

// expected-error@+1 {{expected a port 'hyper' without trips, got one}}
func.func @hyper(%w: tensor<4xf32> {dist.port = #dist.port<hyper @lr, trips = 2>}) {
  return
}

// -----

// expected-error@+1 {{expected no loop in phase 'update', got #dist.loop<"l", trips = 2>}}
#update = #dist.program<@u, phase = update, at = [0], loop = <"l", trips = 2>>

// -----

func.func @condition(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.enter' op expected a condition of tensor<i1>, got 'tensor<8xf32>'}}
  %c = dist.enter carry %x of <"l", conditional = true> number(0) : tensor<8xf32> -> tensor<8xf32>
  %f = dist.next %c, %c : tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @row_of_conditional(%x: tensor<8xf32>) -> tensor<f32> {
  // expected-error@+1 {{'dist.enter' op expected no rows in a conditional loop}}
  %c = dist.enter row %x of <"l", conditional = true> : tensor<8xf32> -> tensor<f32>
  return %c : tensor<f32>
}

// -----

func.func @sum_of_conditional(%x: tensor<8xf32>, %on: tensor<i1>) -> tensor<8xf32> {
  %go = dist.enter carry %on of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %f = dist.next %go, %go : tensor<i1>
  %c = dist.enter same %x of <"l", conditional = true> : tensor<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{'dist.leave' op expected only last values of a conditional loop}}
  %s = dist.leave sum %c of <"l", conditional = true> : tensor<8xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// expected-error@+1 {{expected no number of trips of a conditional loop, which is not reversed}}
func.func @trips(%x: tensor<f32>) attributes {test.loop = #dist.loop<"l", trips = 3, conditional = true>} {
  return
}

// -----

func.func @no_condition(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'dist.enter' op expected a carried value with number 0, the loop's condition}}
  %c = dist.enter carry %x of <"l", conditional = true> number(1) : tensor<8xf32> -> tensor<8xf32>
  %f = dist.next %c, %c : tensor<8xf32>
  %last = dist.leave last %f of <"l", conditional = true> : tensor<8xf32> -> tensor<8xf32>
  return %last : tensor<8xf32>
}
