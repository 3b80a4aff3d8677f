//===- DeviceOps.cpp - What threads of a launch do together ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the gpu dialect become intrinsics of LLVM's NVPTX backend, or calls of
// functions that the runner of a lane gives (LaneAbi.h). Each barrier, shuffle
// and access of shared memory has a number of its own, the site.
//
//   gpu.barrier  ->  llvm.nvvm.barrier.cta.sync.aligned.all(0)
//                ->  lane->barrier(lane, 3)
//
// So do products of tiles by the tensor cores, which are of the nvvm dialect,
// and roundings to narrow floats that come with them (GridTiles.cpp), which a
// GPU has instructions for and a processor has not.
//
// Loops that stay loops (KernelMarks.h) say so to LLVM.
//
// Test: test/Codegen/LaneTest.cpp, test/Codegen/ptx.test
//
//===----------------------------------------------------------------------===//

#include "DeviceOps.h"
#include "llmc/Dialect/Dist/IR/KernelMarks.h"
#include "llmc/Runtime/Plan/Format/LaneAbi.h"
#include "llmc/Runtime/Plan/Format/LaneTiles.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include <cstddef>

using namespace mlir;

namespace llmc::codegen {

/// The number of the address space that a block's threads share.
static constexpr int64_t sharedSpace = 3;

static bool isShared(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  auto space =
      memory ? dyn_cast_or_null<gpu::AddressSpaceAttr>(memory.getMemorySpace())
             : gpu::AddressSpaceAttr();
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}

/// Other functions are of numbers alone.
static bool isKernelCode(func::FuncOp function) {
  return !function.isExternal() && function.getNumArguments() > 0 &&
         isa<MemRefType>(function.getArgumentTypes().back());
}

namespace {
class DeviceOpsPass
    : public PassWrapper<DeviceOpsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeviceOpsPass)

  explicit DeviceOpsPass(DeviceOps kind) : kind(kind) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect,
                    memref::MemRefDialect>();
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isKernelCode(function))
        lower(function);
  }

private:
  void lower(func::FuncOp function);
  Value lower(Operation *op, OpBuilder &builder);
  Value multiply(NVVM::MmaOp product, OpBuilder &builder);
  Value multiplyOnLanes(NVVM::MmaOp product, OpBuilder &builder, bool isBf16);
  bool isOfDevice(Operation *op) const;
  void touch(Operation *op);
  Value getField(OpBuilder &builder, Location loc, Type type, size_t offset);
  Value call(OpBuilder &builder, Location loc, StringRef intrinsic, Type result,
             ValueRange arguments);
  Value callLane(OpBuilder &builder, Location loc, size_t offset, Type result,
                 ArrayRef<Value> arguments);
  Value makeSite(OpBuilder &builder, Location loc) {
    return makeI32(builder, loc, nextSite++);
  }
  static Value makeI32(OpBuilder &builder, Location loc, int32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }
  /// The type without the gpu dialect's address space.
  Type convert(Type type) const;

  DeviceOps kind;
  int32_t nextSite = 0;
  Value shared, lane;
  Value factors, sums; ///< Of a lane's products, in its memory.
};
} // namespace

Type DeviceOpsPass::convert(Type type) const {
  auto memory = cast<MemRefType>(type);
  Attribute space;
  if (kind == DeviceOps::Nvptx)
    space =
        IntegerAttr::get(IntegerType::get(type.getContext(), 64), sharedSpace);
  return MemRefType::get(memory.getShape(), memory.getElementType(),
                         memory.getLayout(), space);
}

/// A field of the lane.
Value DeviceOpsPass::getField(OpBuilder &builder, Location loc, Type type,
                              size_t offset) {
  Value place = LLVM::GEPOp::create(
      builder, loc, lane.getType(), builder.getI8Type(), lane,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(builder, loc, type, place);
}

Value DeviceOpsPass::call(OpBuilder &builder, Location loc, StringRef intrinsic,
                          Type result, ValueRange arguments) {
  StringAttr name = builder.getStringAttr(intrinsic);
  if (!result) {
    LLVM::CallIntrinsicOp::create(builder, loc, name, arguments);
    return {};
  }
  return LLVM::CallIntrinsicOp::create(builder, loc, result, name, arguments)
      ->getResult(0);
}

/// Calls the function at `offset` of the lane with the lane and `arguments`.
Value DeviceOpsPass::callLane(OpBuilder &builder, Location loc, size_t offset,
                              Type result, ArrayRef<Value> arguments) {
  Type pointer = lane.getType();
  SmallVector<Value> operands = {getField(builder, loc, pointer, offset), lane};
  llvm::append_range(operands, arguments);
  SmallVector<Type> types(ValueRange(operands).drop_front().getTypes());
  auto type = LLVM::LLVMFunctionType::get(
      result ? result : Type(LLVM::LLVMVoidType::get(builder.getContext())),
      types);
  auto made = LLVM::CallOp::create(builder, loc, type, operands);
  return result ? made->getResult(0) : Value();
}

/// Pairs of a product's operand that lie side by side in `memory`.
static void storeAll(OpBuilder &builder, Location loc, ValueRange values,
                     Value memory, int32_t first) {
  for (auto [number, value] : llvm::enumerate(values)) {
    Value place = LLVM::GEPOp::create(
        builder, loc, memory.getType(), builder.getI32Type(), memory,
        ArrayRef<LLVM::GEPArg>{first + static_cast<int32_t>(number)});
    LLVM::StoreOp::create(builder, loc, value, place);
  }
}

Value DeviceOpsPass::multiplyOnLanes(NVVM::MmaOp product, OpBuilder &builder,
                                     bool isBf16) {
  Location loc = product.getLoc();
  if (!factors) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(
        &product->getParentOfType<func::FuncOp>().front());
    auto allocate = [&](Type type, int32_t count) -> Value {
      return LLVM::AllocaOp::create(builder, loc, lane.getType(), type,
                                    makeI32(builder, loc, count));
    };
    factors = allocate(builder.getI32Type(), LLMC_LANE_FACTORS);
    sums = allocate(builder.getF32Type(), LLMC_LANE_SUMS);
  }
  storeAll(builder, loc, product.getOperandA(), factors, 0);
  storeAll(builder, loc, product.getOperandB(), factors, 4);
  storeAll(builder, loc, product.getOperandC(), sums, 0);
  callLane(
      builder, loc, offsetof(LlmcLane, multiply), Type(),
      {makeSite(builder, loc), makeI32(builder, loc, isBf16), factors, sums});
  Value made = LLVM::UndefOp::create(builder, loc, product.getType());
  for (int32_t i = 0; i < LLMC_LANE_SUMS; ++i) {
    Value place =
        LLVM::GEPOp::create(builder, loc, sums.getType(), builder.getF32Type(),
                            sums, ArrayRef<LLVM::GEPArg>{i});
    made = LLVM::InsertValueOp::create(
        builder, loc, made,
        LLVM::LoadOp::create(builder, loc, builder.getF32Type(), place), i);
  }
  return made;
}

/// Of 16 rows, 8 columns and 16 terms, with sums of f32.
Value DeviceOpsPass::multiply(NVVM::MmaOp product, OpBuilder &builder) {
  // Pairs of bf16 are words, those of f16 are vectors.
  bool isBf16 = product.getOperandA()[0].getType().isInteger(32);
  if (kind == DeviceOps::Lanes)
    return multiplyOnLanes(product, builder, isBf16);
  return call(builder, product.getLoc(),
              isBf16 ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                     : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
              product.getType(), product.getOperands());
}

/// A pair of f32 rounded to bf16 by a processor that has no instruction for it.
static Value roundPair(LLVM::FPTruncOp op, OpBuilder &builder) {
  Location loc = op.getLoc();
  Value x = op.getArg();
  auto wide = VectorType::get({2}, builder.getI32Type());
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(wide, APInt(32, value)));
  };
  Value bits = arith::BitcastOp::create(builder, loc, wide, x);
  Value high = arith::ShRUIOp::create(builder, loc, bits, splat(16));
  Value odd = arith::AndIOp::create(builder, loc, high, splat(1));
  Value more = arith::AddIOp::create(builder, loc, odd, splat(0x7fff));
  Value near = arith::ShRUIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, bits, more), splat(16));
  Value isNone =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  near = arith::SelectOp::create(builder, loc, isNone, splat(0x7fff), near);
  Value cut = arith::TruncIOp::create(
      builder, loc, VectorType::get({2}, builder.getI16Type()), near);
  return LLVM::BitcastOp::create(builder, loc, op.getType(), cut);
}

/// What stands for the result of an op that `isOfDevice`.
Value DeviceOpsPass::lower(Operation *op, OpBuilder &builder) {
  Location loc = op->getLoc();
  Type word = builder.getI32Type();
  bool onLanes = kind == DeviceOps::Lanes;
  auto makeIndex = [&](StringRef intrinsic, size_t offset) -> Value {
    Value number = onLanes ? getField(builder, loc, word, offset)
                           : call(builder, loc, intrinsic, word, {});
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        number);
  };
  if (isa<gpu::ThreadIdOp>(op))
    return makeIndex("llvm.nvvm.read.ptx.sreg.tid.x",
                     offsetof(LlmcLane, thread));
  if (isa<gpu::BlockIdOp>(op))
    return makeIndex("llvm.nvvm.read.ptx.sreg.ctaid.x",
                     offsetof(LlmcLane, block));
  if (isa<gpu::DynamicSharedMemoryOp>(op))
    return shared;
  if (isa<gpu::BarrierOp>(op)) {
    if (onLanes)
      callLane(builder, loc, offsetof(LlmcLane, barrier), Type(),
               {makeSite(builder, loc)});
    else
      call(builder, loc, "llvm.nvvm.barrier.cta.sync.aligned.all", Type(),
           {makeI32(builder, loc, 0)});
    return {};
  }
  if (auto product = dyn_cast<NVVM::MmaOp>(op))
    return multiply(product, builder);
  if (auto rounding = dyn_cast<LLVM::FPTruncOp>(op))
    return roundPair(rounding, builder);
  auto shuffle = cast<gpu::ShuffleOp>(op);
  Value value = shuffle.getValue(), source = shuffle.getOffset();
  if (onLanes)
    return callLane(builder, loc, offsetof(LlmcLane, shuffle), word,
                    {makeSite(builder, loc), value, source});
  return call(
      builder, loc, "llvm.nvvm.shfl.sync.idx.i32", word,
      {makeI32(builder, loc, -1), value, source, makeI32(builder, loc, 31)});
}

/// Tells the lane of an access of shared memory.
void DeviceOpsPass::touch(Operation *op) {
  Value memory, index, stored;
  Type accessed;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    memory = load.getMemRef(), index = load.getIndices()[0],
    accessed = load.getType();
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    memory = store.getMemRef(), index = store.getIndices()[0],
    stored = store.getValueToStore();
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    memory = load.getBase(), index = load.getIndices()[0],
    accessed = load.getType();
  else if (auto store = dyn_cast<vector::StoreOp>(op))
    memory = store.getBase(), index = store.getIndices()[0],
    stored = store.getValueToStore();
  if (!memory || !isShared(memory.getType()))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  int64_t bytes = llvm::divideCeil(
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth(), 8);
  auto vector = dyn_cast<VectorType>(stored ? stored.getType() : accessed);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
  Value shift = arith::MulIOp::create(
      builder, loc, index, arith::ConstantIndexOp::create(builder, loc, bytes));
  Value place = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      arith::AddIOp::create(builder, loc, start, shift));
  Value pointer = LLVM::IntToPtrOp::create(builder, loc, lane.getType(), place);
  callLane(builder, loc, offsetof(LlmcLane, touch), Type(),
           {makeSite(builder, loc), pointer,
            makeI32(builder, loc,
                    static_cast<int32_t>(bytes *
                                         (vector ? vector.getDimSize(0) : 1))),
            makeI32(builder, loc, stored ? 1 : 0)});
}

/// Tells LLVM of loops that stay loops (KernelMarks.h).
static void keepLoops(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  auto licm = LLVM::LoopLICMAttr::get(context, BoolAttr::get(context, true),
                                      /*versioningDisable=*/{});
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, BoolAttr::get(context, true), /*count=*/{},
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
      unroll, /*unrollAndJam=*/{}, licm, /*distribute=*/{},
      /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
      /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
  function.walk([&](Operation *op) {
    if (op->removeAttr(dist::kStaysLoop))
      op->setAttr("loop_annotation", annotation);
  });
}

bool DeviceOpsPass::isOfDevice(Operation *op) const {
  auto rounding = dyn_cast<LLVM::FPTruncOp>(op);
  return isa<gpu::GPUDialect, NVVM::NVVMDialect>(op->getDialect()) ||
         (rounding && kind == DeviceOps::Lanes &&
          getElementTypeOrSelf(rounding.getType()).isBF16());
}

void DeviceOpsPass::lower(func::FuncOp function) {
  Builder types(&getContext());
  Location loc = function.getLoc();
  SmallVector<Type> inputs(function.getFunctionType().getInputs());
  inputs.push_back(convert(MemRefType::get({1}, types.getI8Type())));
  shared = function.front().addArgument(inputs.back(), loc);
  factors = sums = {};
  if (kind == DeviceOps::Lanes) {
    inputs.push_back(LLVM::LLVMPointerType::get(&getContext()));
    lane = function.front().addArgument(inputs.back(), loc);
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      touch(op);
  }
  function.setFunctionType(types.getFunctionType(inputs, {}));
  keepLoops(function);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isOfDevice(op))
      ops.push_back(op);
    for (Value result : op->getResults())
      if (isShared(result.getType()) && !isa<gpu::DynamicSharedMemoryOp>(op))
        result.setType(convert(result.getType()));
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    if (Value made = lower(op, builder))
      op->getResult(0).replaceAllUsesWith(made);
  }
  // A shuffle's second result is not asked for.
  for (Operation *op : ops)
    op->erase();
}

std::unique_ptr<mlir::Pass> createDeviceOpsPass(DeviceOps ops) {
  return std::make_unique<DeviceOpsPass>(ops);
}

} // namespace llmc::codegen
