// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a name for the mesh axis, got ""}}
sdy.mesh @mesh = <[""=2]>

// -----

// expected-error@+1 {{expected axis "a" of size at least 1, got 0}}
sdy.mesh @mesh = <["a"=0]>

// -----

// expected-error@+1 {{expected distinct mesh axes, got "a" twice}}
sdy.mesh @mesh = <["a"=2, "a"=2]>

// -----

// expected-error@+1 {{expected fewer than 2^63 devices in a mesh}}
sdy.mesh @mesh = <["a"=4294967296, "b"=4294967296]>

// -----

// expected-error@+1 {{expected 2 device ids, got 1}}
sdy.mesh @mesh = <["a"=2], device_ids=[0]>

// -----

// expected-error@+1 {{expected device ids to be a permutation of [0, 2), got 0}}
sdy.mesh @mesh = <["a"=2], device_ids=[0, 0]>

// -----

func.func @no_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a mesh of that name, got @mesh}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a sharding of 1 dimension, as 'tensor<4xf32>' has, got 2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @no_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "b"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b"}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @axis_twice(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(1)2}, {"a"}]> : tensor<4x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @sub_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a proper sub-axis of axis "a" of size 4, got (1)3}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(1)3}]> : tensor<4xf32>
  return
}

// -----

func.func @sub_axis_size(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a sub-axis with pre-size at least 1 and size at least 2, got (0)2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(0)2}]> : tensor<4xf32>
  return
}

// -----

func.func @axis_name(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the name of a mesh axis, got ""}}
  %0 = sdy.sharding_constraint %x <@mesh, [{""}]> : tensor<4xf32>
  return
}

// -----

func.func @priority(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected no priority on an empty closed dimension, got p1}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}p1]> : tensor<4xf32>
  return
}

// -----

func.func @priority_text(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a priority such as p1, got 'q1'}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}q1]> : tensor<4xf32>
  return
}

// -----

func.func @open(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected '?' as the last entry, got another}}
  %0 = sdy.sharding_constraint %x <@mesh, [{?, "a"}]> : tensor<4xf32>
  return
}

// -----

func.func @axis_set(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'replicated' or 'unreduced', got 'reduced'}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}], reduced={"a"}> : tensor<4xf32>
  return
}

// -----

func.func @axis_set_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'unreduced' once, got it twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}], unreduced={"a"}, unreduced={"b"}> : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{argument #0 expected an axis of the mesh, got "b"}}
func.func @argument(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"b"}]>}) {
  return
}

// -----

// expected-error@+1 {{result #0 expected a #sdy.sharding in 'sdy.sharding', got 1 : i32}}
func.func private @result() -> (tensor<4xf32> {sdy.sharding = 1 : i32})

// -----

func.func @per_value(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a #sdy.sharding_per_value in 'sdy.sharding', got 1 : i32}}
  %0 = chlo.erf %x {sdy.sharding = 1 : i32} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @per_value_count(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a sharding for each of 1 results, got 0}}
  %0 = chlo.erf %x {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an op that llmc knows, got 'sdy.sharding_group', which llmc does not have}}
  sdy.sharding_group %x group_id=0 : tensor<4xf32>
  return
}
