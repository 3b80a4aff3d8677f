//===- StaticForms.cpp - Ops whose sizes are operands ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result shapes are static, so the static form of an op takes its place: with
// the result's shape, or with what its operands hold where these are known.
//
//   dynamic_reshape %x, %shape   ->   reshape %x
//   get_dimension_size %x        ->   constant
//
// Test: test/Import/StableHLO/expand-forms.mlir
//===----------------------------------------------------------------------===//

#include "Faults.h"
#include "Movement.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

/// The integers that `value`, an operand of `op`, is known to hold.
static FailureOr<SmallVector<int64_t>> readList(Operation *op, Value value) {
  std::optional<HostTensor> tensor = getConstant(value);
  if (!tensor)
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected sizes that are known before the run, got some that "
              "depend on "
           << describeUnknown(value);
  SmallVector<int64_t> list;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    list.push_back(tensor->getInt(i));
  return list;
}

/// Of several operands.
static FailureOr<SmallVector<SmallVector<int64_t>>> readLists(Operation *op,
                                                              ValueRange of) {
  SmallVector<SmallVector<int64_t>> lists;
  for (Value value : of) {
    FailureOr<SmallVector<int64_t>> list = readList(op, value);
    if (failed(list))
      return failure();
    lists.push_back(std::move(*list));
  }
  return lists;
}

/// A shape that is an operand, where it is known, is that of the result.
static LogicalResult verifyShapeOperand(Operation *op, Value shape) {
  std::optional<HostTensor> known = getConstant(shape);
  if (!known)
    return success();
  FailureOr<SmallVector<int64_t>> sizes = readList(op, shape);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (succeeded(sizes) && type.getShape() == ArrayRef<int64_t>(*sizes))
    return success();
  InFlightDiagnostic diag = emitRefusal(op, rt::ErrorKind::malformed);
  diag << "expected the shape of the result, " << type << ", got [";
  llvm::interleaveComma(*sizes, diag);
  return diag << "]";
}

/// Appends the result of `form`, which stands for `op`, unless the sizes that
/// it was given do not fit.
static LogicalResult takeForm(Operation *op, Operation *form,
                              SmallVectorImpl<Value> &results) {
  std::optional<std::string> fault = findFault(form);
  if (!fault) {
    results.push_back(form->getResult(0));
    return success();
  }
  form->erase();
  return emitRefusal(op, rt::ErrorKind::malformed)
         << "expected sizes that fit, got others: " << *fault;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
template <typename Expansion, typename Op>
using Form = ExpansionOpInterface::ExternalModel<Expansion, Op>;

struct ReshapeForm : Form<ReshapeForm, DynamicReshapeOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DynamicReshapeOp>(of);
    if (failed(verifyShapeOperand(op, op.getOutputShape())))
      return failure();
    return takeForm(
        op,
        ReshapeOp::create(builder, op.getLoc(), op.getType(), op.getOperand()),
        results);
  }
};

struct BroadcastForm : Form<BroadcastForm, DynamicBroadcastInDimOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DynamicBroadcastInDimOp>(of);
    if (failed(verifyShapeOperand(op, op.getOutputDimensions())))
      return failure();
    return takeForm(op,
                    BroadcastInDimOp::create(builder, op.getLoc(), op.getType(),
                                             op.getOperand(),
                                             op.getBroadcastDimensions()),
                    results);
  }
};

struct IotaForm : Form<IotaForm, DynamicIotaOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DynamicIotaOp>(of);
    if (failed(verifyShapeOperand(op, op.getOutputShape())))
      return failure();
    return takeForm(op,
                    IotaOp::create(builder, op.getLoc(), op.getType(),
                                   op.getIotaDimension()),
                    results);
  }
};

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

struct PadForm : Form<PadForm, DynamicPadOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DynamicPadOp>(of);
    auto lists = readLists(op, op->getOperands().drop_front(2));
    if (failed(lists))
      return failure();
    return takeForm(op,
                    PadOp::create(builder, op.getLoc(), op.getType(),
                                  op.getOperand(), op.getPaddingValue(),
                                  (*lists)[0], (*lists)[1], (*lists)[2]),
                    results);
  }
};

struct SliceForm : Form<SliceForm, RealDynamicSliceOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<RealDynamicSliceOp>(of);
    auto lists = readLists(op, op->getOperands().drop_front(1));
    if (failed(lists))
      return failure();
    return takeForm(op,
                    SliceOp::create(builder, op.getLoc(), op.getType(),
                                    op.getOperand(), (*lists)[0], (*lists)[1],
                                    (*lists)[2]),
                    results);
  }
};

struct GatherForm : Form<GatherForm, DynamicGatherOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DynamicGatherOp>(of);
    FailureOr<SmallVector<int64_t>> sizes = readList(op, op.getSliceSizes());
    if (failed(sizes))
      return failure();
    return takeForm(op,
                    GatherOp::create(builder, op.getLoc(), op.getType(),
                                     op.getOperand(), op.getStartIndices(),
                                     op.getDimensionNumbersAttr(),
                                     builder.getDenseI64ArrayAttr(*sizes),
                                     op.getIndicesAreSortedAttr()),
                    results);
  }
};

struct ConvolutionForm : Form<ConvolutionForm, DynamicConvOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DynamicConvOp>(of);
    FailureOr<SmallVector<int64_t>> edges = readList(op, op.getPadding());
    if (failed(edges))
      return failure();
    auto shape = op.getPadding().getType().clone(builder.getI64Type());
    auto padding = DenseIntElementsAttr::get(shape, *edges);
    return takeForm(
        op,
        ConvolutionOp::create(
            builder, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(),
            op.getWindowStridesAttr(), padding, op.getLhsDilationAttr(),
            op.getRhsDilationAttr(), op.getWindowReversalAttr(),
            op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
            op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr()),
        results);
  }
};

//===----------------------------------------------------------------------===//
// Sizes as values
//===----------------------------------------------------------------------===//

struct SizeConstant : Form<SizeConstant, GetDimensionSizeOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<GetDimensionSizeOp>(of);
    int64_t size = op.getOperand().getType().getDimSize(op.getDimension());
    if (size > std::numeric_limits<int32_t>::max())
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected a size that i32 holds, got " << size;
    results.push_back(scalar(builder, op.getLoc(), builder.getI32Type(), size));
    return success();
  }
};

struct SameSize : Form<SameSize, SetDimensionSizeOp> {
  LogicalResult expand(Operation *of, OpBuilder &,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<SetDimensionSizeOp>(of);
    FailureOr<SmallVector<int64_t>> size = readList(op, op.getSize());
    if (failed(size))
      return failure();
    int64_t whole = op.getOperand().getType().getDimSize(op.getDimension());
    if (size->front() != whole)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected the size " << whole << " that dimension "
             << op.getDimension() << " has, got " << size->front();
    results.push_back(op.getOperand());
    return success();
  }
};
} // namespace

void stablehlo::registerStaticForms(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    DynamicReshapeOp::attachInterface<ReshapeForm>(*context);
    DynamicBroadcastInDimOp::attachInterface<BroadcastForm>(*context);
    DynamicIotaOp::attachInterface<IotaForm>(*context);
    DynamicPadOp::attachInterface<PadForm>(*context);
    RealDynamicSliceOp::attachInterface<SliceForm>(*context);
    DynamicGatherOp::attachInterface<GatherForm>(*context);
    DynamicConvOp::attachInterface<ConvolutionForm>(*context);
    GetDimensionSizeOp::attachInterface<SizeConstant>(*context);
    SetDimensionSizeOp::attachInterface<SameSize>(*context);
  });
}
