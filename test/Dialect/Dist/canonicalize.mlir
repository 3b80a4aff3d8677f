// RUN: llmc-opt %s --canonicalize --cse | FileCheck %s

dist.mesh @mesh = <"x"=2>

#full = #dist.layout<@mesh, [{}]>
#x = #dist.layout<@mesh, [{"x"}]>
#p = #dist.layout<@mesh, [{}], partial = [sum{"x"}]>

// A reshard to the same layout is gone.
// CHECK-LABEL: func.func @same_layout
// CHECK-NEXT: return %arg0
func.func @same_layout(%a: tensor<4xf32, #x>) -> tensor<4xf32, #x> {
  %0 = dist.reshard %a : tensor<4xf32, #x> -> tensor<4xf32, #x>
  return %0 : tensor<4xf32, #x>
}

// Two reshards become one where the value between is used once.
// CHECK-LABEL: func.func @reshard_of_reshard
// CHECK-NEXT: %[[R:.*]] = dist.reshard %arg0 : tensor<4xf32, #[[P:.*]]> -> tensor<4xf32, #[[X:.*]]>
// CHECK-NEXT: return %[[R]]
func.func @reshard_of_reshard(%a: tensor<4xf32, #p>) -> tensor<4xf32, #x> {
  %0 = dist.reshard %a : tensor<4xf32, #p> -> tensor<4xf32, #full>
  %1 = dist.reshard %0 : tensor<4xf32, #full> -> tensor<4xf32, #x>
  return %1 : tensor<4xf32, #x>
}

// Not where it is used twice: the reduction is shared.
// CHECK-LABEL: func.func @shared_reshard
// CHECK-NEXT: %[[F:.*]] = dist.reshard %arg0
// CHECK-NEXT: %[[X:.*]] = dist.reshard %[[F]]
// CHECK-NEXT: return %[[F]], %[[X]]
func.func @shared_reshard(%a: tensor<4xf32, #p>) -> (tensor<4xf32, #full>, tensor<4xf32, #x>) {
  %0 = dist.reshard %a : tensor<4xf32, #p> -> tensor<4xf32, #full>
  %1 = dist.reshard %0 : tensor<4xf32, #full> -> tensor<4xf32, #x>
  return %0, %1 : tensor<4xf32, #full>, tensor<4xf32, #x>
}

// The same constraint twice is said once; another one stays.
// CHECK-LABEL: func.func @constraint
// CHECK-NEXT: %[[A:.*]] = dist.constraint %arg0 to #[[X:.*]] : tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = dist.constraint %[[A]] to #{{.*}} : tensor<4xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @constraint(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dist.constraint %a to <@mesh, [{"x"}]> : tensor<4xf32>
  %1 = dist.constraint %0 to <@mesh, [{"x"}]> : tensor<4xf32>
  %2 = dist.constraint %1 to <@mesh, [{}]> : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// Two equal fences stay apart; an unused one goes.
// CHECK-LABEL: func.func @fence
// CHECK-NEXT: %[[A:.*]] = dist.fence(%arg0)
// CHECK-NEXT: %[[B:.*]] = dist.fence(%arg0)
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @fence(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dist.fence(%a) : tensor<4xf32>
  %1 = dist.fence(%a) : tensor<4xf32>
  %2 = dist.fence(%a) : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Equal collectives are one; those in sibling segments are not.
// CHECK-LABEL: func.func @collectives
// CHECK-NEXT: dist.all_reduce
// CHECK-NEXT: dist.segment chunk(0) phase(forward)
// CHECK-NEXT: dist.all_gather
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: dist.all_gather
func.func @collectives(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = dist.all_reduce %a over ["x"] sum : tensor<4xf32>
  %1 = dist.all_reduce %a over ["x"] sum : tensor<4xf32>
  %f = dist.segment chunk(0) phase(forward) -> tensor<8xf32> {
    %2 = dist.all_gather %a dim 0 over ["x"] : tensor<4xf32> -> tensor<8xf32>
    dist.yield %2 : tensor<8xf32>
  }
  %b = dist.segment chunk(0) phase(backward) -> tensor<8xf32> {
    %2 = dist.all_gather %a dim 0 over ["x"] : tensor<4xf32> -> tensor<8xf32>
    dist.yield %2 : tensor<8xf32>
  }
  return %0, %1, %f, %b : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>
}
