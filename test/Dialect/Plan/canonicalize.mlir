// RUN: llmc-opt %s --canonicalize --cse --symbol-dce | FileCheck %s

// Instructions have effects: none is erased or merged.
plan.stream @C compute
plan.frame @tmp tmp events(2)
plan.buffer @x in @tmp bytes(64)
// CHECK-LABEL: plan.program @p
plan.program @p forward chunk(0) {
  // CHECK-NEXT: plan.fill
  plan.fill on @C <@x, [4], f32>
  // CHECK-NEXT: plan.fill
  plan.fill on @C <@x, [4], f32>
  // CHECK-NEXT: plan.signal
  plan.signal on @C @tmp event(1)
}
