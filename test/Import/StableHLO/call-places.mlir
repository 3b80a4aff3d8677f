// Ops of JAX's own jitted functions have no place; inlined, they take the place
// of the call, through any number of calls.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/places.mlir | FileCheck %s
// RUN: not %{import} %t/refused.mlir 2>&1 | FileCheck %s --check-prefix=REFUSED

// The op of the library, that of the user's own function, and that of a call
// without a place.
// CHECK: stablehlo.tanh %arg0 : tensor<4xf32> loc(#[[LIBRARY:.*]])
// CHECK: stablehlo.negate %{{.*}} : tensor<4xf32> loc(#[[OWN:.*]])
// CHECK: stablehlo.tanh %{{.*}} : tensor<4xf32> loc(#[[NOWHERE:.*]])
// CHECK-DAG: #[[LINE:.*]] = loc("model.py":7:10)
// CHECK-DAG: #[[INNER:.*]] = loc("model.py":3:4)
// CHECK-DAG: #[[FRAME:.*]] = loc("loss"(#[[LINE]]))
// CHECK-DAG: #[[CALL:.*]] = loc(fused<"call">[#[[FRAME]]])
// CHECK-DAG: #[[OWNFRAME:.*]] = loc("mine"(#[[INNER]]))
// CHECK-DAG: #[[LIBRARY]] = loc("jit(f)/outer/inner/tanh"(#[[CALL]]))
// CHECK-DAG: #[[OWN]] = loc("jit(f)/mine/neg"(#[[OWNFRAME]]))
// CHECK-DAG: #[[NOWHERE]] = loc("jit(g)/tanh")

// REFUSED: {{^}}llmc: error[unsupported]: model.py:7:10: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'lapack_sgeqrf_ffi'

//--- places.mlir
module {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %0 = call @outer(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/outer"("loss"("model.py":7:10)))
    %1 = call @mine(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/mine"("loss"("model.py":7:10)))
    %2 = call @inner(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(g)")
    return %2 : tensor<4xf32>
  }
  func.func private @outer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @inner(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("inner")
    return %0 : tensor<4xf32>
  }
  func.func private @inner(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc("tanh")
    return %0 : tensor<4xf32>
  }
  func.func private @mine(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32> loc("neg"("mine"("model.py":3:4)))
    return %0 : tensor<4xf32>
  }
}

//--- refused.mlir
module {
  func.func public @main(%arg0: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
    %0 = call @qr(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("jit(f)/jit(qr)"("loss"("model.py":7:10)))
    return %0 : tensor<4x4xf32>
  }
  func.func private @qr(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%arg0) {mhlo.backend_config = {}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) loc("geqrf")
    return %0#0 : tensor<4x4xf32>
  }
}
