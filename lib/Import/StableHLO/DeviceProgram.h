//===- DeviceProgram.h - A program of one device, on its way ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What DeviceBatch.cpp makes of each op of one device's program, what an op's
// form knows of values (DeviceForm.cpp), and along which axes that varies which
// a loop carries (DeviceLoops.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_STABLEHLO_DEVICEPROGRAM_H
#define LLMC_LIB_IMPORT_STABLEHLO_DEVICEPROGRAM_H

#include "DeviceScalars.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace llmc::import {

class DeviceProgram {
public:
  DeviceProgram(mlir::func::FuncOp main, Attribute meshOrRef,
                sdy::MeshAttr mesh)
      : main(main), meshOrRef(meshOrRef), axes(mesh.getAxes()),
        sizes(llvm::map_to_vector(
            axes, [](sdy::MeshAxisAttr axis) { return axis.getSize(); })),
        scalars(sizes) {}

  LogicalResult run();

  graph::DeviceValue getValue(OpBuilder &builder, Value value);
  void setKnown(Value scalar, ArrayRef<int64_t> elements) {
    scalars.set(scalar, elements);
  }
  /// Of what `op`, which takes a carried value into a loop, carries.
  ArrayRef<unsigned> getCarriedAxes(Operation *op) const;
  /// Of a value in a trip that is tried, or before.
  graph::DeviceAxes getTriedAxes(Value value) const;
  sdy::TensorShardingAttr withAxes(ArrayRef<unsigned> axes,
                                   ArrayRef<sdy::DimensionShardingAttr> dims,
                                   sdy::TensorShardingAttr like = {});
  sdy::DimensionShardingAttr getDim(ArrayRef<sdy::AxisRefAttr> axes,
                                    bool isClosed);

private:
  LogicalResult visitLoop(const dist::LoopRun &run);
  LogicalResult visit(Operation *op);
  LogicalResult build(Operation *op, graph::BatchForm &form);
  LogicalResult enter(sdy::ToLocalOp op, graph::BatchForm &form);
  LogicalResult leave(sdy::ToGlobalOp op, graph::BatchForm &form);
  std::optional<graph::DeviceValue> getBack(sdy::ToLocalOp op);
  graph::DeviceValue constrain(graph::BatchForm &form, Value input,
                               sdy::TensorShardingAttr sharding);
  bool isOfAll(Operation *op);
  bool varies(Value value);
  LogicalResult checkBodies(Operation *op);
  LogicalResult checkSizes(Operation *op);
  SmallVector<SmallVector<unsigned, 2>>
  getManualAxes(sdy::TensorShardingAttr sharding, sdy::ManualAxesAttr manual);
  unsigned getAxis(StringRef name) const;

  // DeviceLoops.cpp
  LogicalResult findCarriedAxes(const dist::LoopRun &run);
  LogicalResult tryTrip(const dist::LoopRun &run);
  LogicalResult tryOp(Operation *op);
  bool grow(const dist::LoopRun &run);

  mlir::func::FuncOp main;
  Attribute meshOrRef;
  ArrayRef<sdy::MeshAxisAttr> axes;
  SmallVector<int64_t> sizes;
  DeviceScalars scalars;
  /// What varies; known scalars once an op of another kind reads them.
  llvm::DenseMap<Value, graph::DeviceValue> values;
  /// How a value left a region, and what it was in it, by what it is outside.
  llvm::DenseMap<Value, std::pair<sdy::ToGlobalOp, graph::DeviceValue>> exits;
  /// Axes of what a loop carries, by the op that takes it into the loop.
  llvm::DenseMap<Operation *, graph::DeviceAxes> carried;
  /// Axes of the values of a trip that is tried.
  llvm::DenseMap<Value, graph::DeviceAxes> tried;
  /// Ops of one device that others stand for.
  SmallVector<Operation *> replaced;
  llvm::DenseSet<Operation *> visited;
};

/// One op on its way.
class OpForm : public graph::BatchForm {
public:
  OpForm(OpBuilder &builder, Operation *op, ArrayRef<int64_t> mesh,
         SmallVectorImpl<graph::DeviceValue> &results, DeviceProgram &program)
      : BatchForm(builder, op, mesh, results), program(program) {}

  graph::DeviceValue getValue(Value value) override {
    return program.getValue(builder, value);
  }
  Value repeat(const graph::DeviceValue &value,
               ArrayRef<unsigned> along) override;
  Value spread(const graph::DeviceValue &scalar, ArrayRef<unsigned> along,
               ArrayRef<int64_t> shape) override;
  graph::DeviceValue place(const graph::DeviceValue &value,
                           ArrayRef<int64_t> whole) override;
  graph::DeviceValue takeFirst(const graph::DeviceValue &value,
                               ArrayRef<unsigned> along) override;
  void setKnown(ArrayRef<int64_t> elements) override {
    program.setKnown(op->getResult(0), elements);
  }
  ArrayRef<unsigned> getCarriedAxes() override {
    return program.getCarriedAxes(op);
  }

private:
  Value broadcast(Value value, mlir::RankedTensorType type,
                  ArrayRef<int64_t> dims);

  DeviceProgram &program;
};

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_DEVICEPROGRAM_H
