// RUN: llmc-opt %s --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @shardings(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected a sharding for each of 1 operands, got 2}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    sdy.return %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @arguments(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected a region with a value for each of 1 operands, got 0}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} () {
    %y = stablehlo.constant dense<0.0> : tensor<8xf32>
    sdy.return %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @results(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected a region with a value for each of 1 results, got 2}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    sdy.return %y, %y : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @local_type(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand #0 expected 'tensor<4xf32>' of each device, got 'tensor<8xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", "b"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    sdy.return %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @element(%x: tensor<8xf32>) {
  // expected-error@+1 {{result #0 expected 'tensor<4xi32>' of each device, got 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xi32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @order(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand #0 expected manual axes before others, got "a" after one that is not}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b", "a"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @part(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand #0 expected whole manual axes, got a part of "b"}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b":(1)2}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"b"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @size(%x: tensor<6xf32>) {
  // expected-error@+1 {{operand #0 expected a size that "b" of size 4 divides, got 'tensor<6xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"b"} (%y: tensor<1xf32>) {
    sdy.return %y : tensor<1xf32>
  } : (tensor<6xf32>) -> tensor<1xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @axis(%x: tensor<6xf32>) {
  // expected-error@+1 {{operand #0 expected an axis of the mesh as manual axis, got "c"}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"c"} (%y: tensor<6xf32>) {
    sdy.return %y : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @rank(%x: tensor<6xf32>) {
  // expected-error@+1 {{operand #0 expected a sharding of 1 dimension, as 'tensor<6xf32>' has, got 2}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<6xf32>) {
    sdy.return %y : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @names(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected each manual axis once, got "a" twice}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a", "a"} (%y: tensor<6xf32>) {
    sdy.return %y : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @end(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected a region that ends in 'sdy.return'}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>]>, manual_axes = #sdy<manual_axes{"a"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>]>}> ({
  ^bb0(%y: tensor<6xf32>):
    "stablehlo.return"(%y) : (tensor<6xf32>) -> ()
  }) : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @again(%x: tensor<6xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<6xf32>) {
    // expected-error@+1 {{expected axes that are not manual outside, got "a"}}
    %1 = sdy.manual_computation(%y) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"b", "a"} (%z: tensor<6xf32>) {
      sdy.return %z : tensor<6xf32>
    } : (tensor<6xf32>) -> tensor<6xf32>
    sdy.return %1 : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @local(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected 'tensor<3xf32>' of each device, got 'tensor<6xf32>'}}
  %0 = sdy.to_local %x <@mesh, [{"a"}]> manual_axes={"a"} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @global(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected 'tensor<3xf32>' of each device, got 'tensor<6xf32>'}}
  %0 = sdy.to_global %x <@mesh, [{"a"}]> manual_axes={"a"} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @place(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected an axis of the mesh, got "b"}}
  %0 = sdy.place %x <@mesh, [{"b"}]> : tensor<6xf32>
  return
}
