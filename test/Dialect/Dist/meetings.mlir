// RUN: llmc-opt %s --cse | FileCheck %s
// RUN: llmc-opt %s --canonicalize | FileCheck %s

// A collective with a name has members in other programs, which wait for it:
// it stays where its result is not used. One without a name is dead there.
dist.mesh @mesh = <"pipe"=2, "data"=2> pipeline "pipe"

// CHECK-LABEL: func.func @named
// CHECK-NEXT: dist.reduce @c0 %arg0 to [1] over ["pipe"]
// CHECK-NEXT: dist.broadcast @c1 %arg0 from [0] over ["pipe"]
// CHECK-NEXT: return
func.func @named(%x: tensor<4xf32>) {
  %0 = dist.reduce @c0 %x to [1] over ["pipe"] sum : tensor<4xf32>
  %1 = dist.broadcast @c1 %x from [0] over ["pipe"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @unnamed
// CHECK-NEXT: return
func.func @unnamed(%x: tensor<4xf32>) {
  %0 = dist.all_reduce %x over ["data"] sum : tensor<4xf32>
  return
}
