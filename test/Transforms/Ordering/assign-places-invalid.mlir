// RUN: split-file %s %t
// RUN: not llmc-opt %t/device.mlir --llmc-assign-places 2>&1 | FileCheck %t/device.mlir
// RUN: not llmc-opt %t/stream.mlir --llmc-assign-places 2>&1 | FileCheck %t/stream.mlir
// RUN: not llmc-opt %t/stage.mlir --llmc-assign-places 2>&1 | FileCheck %t/stage.mlir

//--- device.mlir
// CHECK: error: expected a plan.device, got none
dist.mesh @mesh = <"data"=1>
plan.stream @C compute
plan.frame @tmp tmp

//--- stream.mlir
// CHECK: error: expected a compute stream, got none
dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @K copy
plan.frame @tmp tmp

//--- stage.mlir
// CHECK: error: cannot place frames: frame 0 lies in an arena that is not there
dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
plan.frame @tmp tmp stages([1])
