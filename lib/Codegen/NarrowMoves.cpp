//===- NarrowMoves.cpp - bf16 values that are moved as bits ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM keeps a bf16 value that crosses from one block into another, or is
// chosen there, as f32, and calls a function of its own to round it back. So
// what only moves values (loads, stores, choices, parts of vectors) moves
// integers of 16 bits, and a value is one of bf16 right where it is computed
// with.
//
//   %x = load bfloat              ->  %b = load i16
//   %y = select %p, %x, %c        ->  %s = select %p, %b, 0x4000
//   %z = fpext %y to float        ->  %y = bitcast %s to bfloat, fpext %y
//
// It runs behind all optimisations, which would turn it back.
//
// Test: test/Codegen/KernelTypesTest.cpp
//===----------------------------------------------------------------------===//

#include "NarrowMoves.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool isBf16(const Value *value) {
  return value->getType()->getScalarType()->isBFloatTy();
}

static Type *getBitsType(const Value *value) {
  return value->getType()->getWithNewType(
      Type::getInt16Ty(value->getContext()));
}

namespace {
/// Makes the bits of values, once for each.
class BitMover {
public:
  /// The bits of a bf16 value, which is made where they are wanted.
  Value *getBits(Value *value);
  /// Has `use` read its bf16 value from bits.
  void readBits(Use &use);
  /// Of loops, whose values come last.
  void fillPhis();

private:
  Value *makeBits(Instruction *made);
  Value *moveGather(IntrinsicInst *gather, IRBuilder<> &builder);

  DenseMap<Value *, Value *> known;
  SmallVector<std::pair<PHINode *, PHINode *>> phis;
};
} // namespace

Value *BitMover::getBits(Value *value) {
  if (auto *constant = dyn_cast<Constant>(value))
    return ConstantExpr::getBitCast(constant, getBitsType(value));
  if (Value *bits = known.lookup(value))
    return bits;
  auto *made = dyn_cast<Instruction>(value);
  Value *bits;
  if (made) {
    bits = makeBits(made);
  } else {
    Function *function = cast<Argument>(value)->getParent();
    BasicBlock &entry = function->getEntryBlock();
    bits = IRBuilder<>(&entry, entry.getFirstInsertionPt())
               .CreateBitCast(value, getBitsType(value));
  }
  known[value] = bits;
  return bits;
}

Value *BitMover::moveGather(IntrinsicInst *gather, IRBuilder<> &builder) {
  return builder.CreateMaskedGather(
      getBitsType(gather), gather->getArgOperand(0),
      gather->getParamAlign(0).valueOrOne(), gather->getArgOperand(1),
      getBits(gather->getArgOperand(2)));
}

/// Moves are made anew in front of the old ones; what computes is cast.
Value *BitMover::makeBits(Instruction *made) {
  IRBuilder<> builder(made);
  if (auto *cast = dyn_cast<BitCastInst>(made))
    if (cast->getSrcTy() == getBitsType(made))
      return cast->getOperand(0);
  if (auto *load = dyn_cast<LoadInst>(made); load && load->isSimple()) {
    LoadInst *bits = builder.CreateAlignedLoad(
        getBitsType(made), load->getPointerOperand(), load->getAlign());
    bits->setAAMetadata(load->getAAMetadata());
    return bits;
  }
  if (auto *select = dyn_cast<SelectInst>(made))
    return builder.CreateSelect(select->getCondition(),
                                getBits(select->getTrueValue()),
                                getBits(select->getFalseValue()));
  if (auto *extract = dyn_cast<ExtractElementInst>(made))
    return builder.CreateExtractElement(getBits(extract->getVectorOperand()),
                                        extract->getIndexOperand());
  if (auto *insert = dyn_cast<InsertElementInst>(made))
    return builder.CreateInsertElement(getBits(insert->getOperand(0)),
                                       getBits(insert->getOperand(1)),
                                       insert->getOperand(2));
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(made))
    return builder.CreateShuffleVector(getBits(shuffle->getOperand(0)),
                                       getBits(shuffle->getOperand(1)),
                                       shuffle->getShuffleMask());
  if (auto *phi = dyn_cast<PHINode>(made)) {
    PHINode *bits =
        builder.CreatePHI(getBitsType(phi), phi->getNumIncomingValues());
    phis.emplace_back(phi, bits);
    return bits;
  }
  if (auto *call = dyn_cast<IntrinsicInst>(made))
    if (call->getIntrinsicID() == Intrinsic::masked_gather)
      return moveGather(call, builder);
  return IRBuilder<>(made->getParent(), *made->getInsertionPointAfterDef())
      .CreateBitCast(made, getBitsType(made));
}

void BitMover::fillPhis() {
  // Bits that are made here may be of further ones.
  for (size_t i = 0; i < phis.size(); ++i) {
    auto [from, to] = phis[i];
    for (auto [value, block] : zip(from->incoming_values(), from->blocks()))
      to->addIncoming(getBits(value), block);
  }
}

void BitMover::readBits(Use &use) {
  auto *user = cast<Instruction>(use.getUser());
  Value *bits = getBits(use.get());
  use.set(isa<StoreInst>(user)
              ? bits
              : IRBuilder<>(user).CreateBitCast(bits, use->getType()));
}

static bool isMove(const Instruction &instruction) {
  if (!isBf16(&instruction))
    return false;
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return call->getIntrinsicID() == Intrinsic::masked_gather;
  auto *load = dyn_cast<LoadInst>(&instruction);
  return (load && load->isSimple()) ||
         isa<SelectInst, ExtractElementInst, InsertElementInst,
             ShuffleVectorInst, PHINode>(instruction);
}

static void moveBits(Function &function) {
  SmallVector<Use *> reads;
  SmallVector<Instruction *> moves;
  for (Instruction &instruction : instructions(function)) {
    if (isMove(instruction)) {
      moves.push_back(&instruction);
      continue;
    }
    for (Use &operand : instruction.operands())
      if (isBf16(operand) && !isa<Constant>(operand))
        reads.push_back(&operand);
  }
  BitMover mover;
  for (Use *read : reads)
    mover.readBits(*read);
  mover.fillPhis();
  // Only old moves read old moves.
  for (Instruction *move : moves)
    move->replaceAllUsesWith(PoisonValue::get(move->getType()));
  for (Instruction *move : moves)
    move->eraseFromParent();
}

void llmc::codegen::moveNarrowFloatsAsBits(Module &module) {
  for (Function &function : module)
    moveBits(function);
}
