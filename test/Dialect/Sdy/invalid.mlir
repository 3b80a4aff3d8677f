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
  // expected-error@+1 {{expected an op that llmc knows, got 'sdy.reshard', which llmc does not have}}
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{expected distinct mesh axes, got "b" twice}}
sdy.mesh @mesh = <["a"=2, "b"=2, "b"=2]>

// -----

// expected-error@+1 {{expected axis "b" of size at least 1, got -1}}
sdy.mesh @mesh = <["a"=2, "b"=-1]>

// -----

// expected-error@+1 {{expected 2 device ids, got 3}}
sdy.mesh @mesh = <["a"=2], device_ids=[0, 1, 2]>

// -----

// expected-error@+1 {{expected device ids to be a permutation of [0, 2), got 2}}
sdy.mesh @mesh = <["a"=2], device_ids=[0, 2]>

// -----

// expected-error@+1 {{expected device ids to be a permutation of [0, 2), got -1}}
sdy.mesh @mesh = <["a"=2], device_ids=[0, -1]>

// -----

// expected-error@+1 {{expected device ids to be a permutation of [0, 1), got -1}}
sdy.mesh @mesh = <[], device_ids=[-1]>

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @rank_2(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected a sharding of 2 dimensions, as 'tensor<4x4xf32>' has, got 1}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @second_axis(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "b"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {"b"}]> : tensor<4x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @replicated_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "b"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}], replicated={"b"}> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @unreduced_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "b"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}], unreduced={"a", "b"}> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @unreduced_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}], unreduced={"a"}> : tensor<4xf32>
  return
}

// -----

// Whichever of the axes before it is.
sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @axis_twice_of_three(%x: tensor<4x4x4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "b" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {"b"}, {"c", "b"}]> : tensor<4x4x4xf32>
  return
}

// -----

// An axis of size 1 has no part, and is named once all the same.
sdy.mesh @mesh = <["a"=1]>
func.func @axis_of_one(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {"a"}]> : tensor<4x4xf32>
  return
}

// -----

// The second part begins inside the first.
sdy.mesh @mesh = <["a"=8]>
func.func @parts_meet(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(1)4}, {"a":(2)4}]> : tensor<4x4xf32>
  return
}

// -----

// The first part begins inside the second.
sdy.mesh @mesh = <["a"=8]>
func.func @parts_meet_again(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(2)4}, {"a":(1)4}]> : tensor<4x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @sub_axis_whole(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a proper sub-axis of axis "a" of size 4, got (1)4}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(1)4}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @sub_axis_beyond(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a proper sub-axis of axis "a" of size 4, got (4)2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(4)2}]> : tensor<4xf32>
  return
}

// -----

func.func @sub_axis_of_one(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a sub-axis with pre-size at least 1 and size at least 2, got (1)1}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(1)1}]> : tensor<4xf32>
  return
}

// -----

func.func @sub_axis_overflow(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a sub-axis with pre-size at least 1 and size at least 2, got (4611686018427387904)2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a":(4611686018427387904)2}]> : tensor<4xf32>
  return
}

// -----

func.func @priority_digits(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a priority such as p1, got 'px'}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}px]> : tensor<4xf32>
  return
}

// -----

func.func @priority_none(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a priority such as p1, got 'p'}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}p]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
// expected-error@+1 {{argument #1 expected a sharding of 0 dimensions, as 'i32' has, got 1}}
func.func @scalar(%x: tensor<4xf32>, %i: i32 {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
// expected-error@+1 {{argument #0 expected a sharding of 0 dimensions, as 'tensor<*xf32>' has, got 1}}
func.func @unranked(%x: tensor<*xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
// expected-error@+1 {{result #1 expected an axis of the mesh, got "b"}}
func.func private @second_result() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})

// -----

sdy.mesh @mesh = <["a"=4]>
func.func private @two() -> (tensor<4xf32>, tensor<4xf32>)
func.func @per_value_axis() {
  // expected-error@+1 {{'func.call' op expected an axis of the mesh, got "b"}}
  %0:2 = func.call @two() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, [{"b"}]>]>} : () -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @per_value_end(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected '>'}}
  %0 = chlo.erf %x {sdy.sharding = #sdy.sharding_per_value<[], 1>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{expected string}}
module attributes {sdy.part = #sdy.mesh_axis} {
}

// -----

// expected-error@+1 {{expected string}}
module attributes {sdy.part = #sdy.mesh_axis<"a"=2>} {
}

// -----

// expected-error@+1 {{expected '>'}}
module attributes {sdy.part = #sdy.mesh_axis"a"=2} {
}

// -----

// expected-error@+1 {{expected '>'}}
module attributes {sdy.part = #sdy<mesh_axis"a"=2, 1>} {
}

// -----

// expected-error@+1 {{expected axis "a" of size at least 1, got 0}}
module attributes {sdy.part = #sdy<mesh_axis"a"=0>} {
}

// -----

// expected-error@+1 {{expected a sub-axis with pre-size at least 1 and size at least 2, got (0)2}}
module attributes {sdy.part = #sdy<sub_axis_info(0)2>} {
}

// -----

// expected-error@+1 {{expected the name of a mesh axis, got ""}}
module attributes {sdy.part = #sdy<axis_ref"">} {
}

// -----

// expected-error@+1 {{expected no priority on an empty closed dimension, got p0}}
module attributes {sdy.part = #sdy<dimension_sharding{}p0>} {
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @second_of_a_dim(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "b"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a", "b"}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @twice_in_a_dim(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a", "a"}]> : tensor<4xf32>
  return
}

// -----

func.func @replicated_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'replicated' once, got it twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}], replicated={"a"}, replicated={"a"}> : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @both_sets(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected each part of an axis once, got "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}], replicated={"a"}, unreduced={"a"}> : tensor<4xf32>
  return
}

// -----

// Another mesh than the first has the name.
sdy.mesh @other = <["a"=4]>
sdy.mesh @mesh = <["b"=4]>
func.func @second_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "a"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<4xf32>
  return
}

// -----

func.func @both(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the direction NONE, FORWARD or BACKWARD, got 'BOTH'}}
  %0 = sdy.propagation_barrier %x allowed_direction=BOTH : tensor<4xf32>
  return
}

// -----

func.func @number(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'group_id' failed to satisfy constraint}}
  sdy.sharding_group %x group_id=-1 : tensor<4xf32>
  return
}
