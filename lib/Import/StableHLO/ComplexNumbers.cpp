//===- ComplexNumbers.cpp - A function of real numbers --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each complex value becomes two, its real and its imaginary part. What an op
// does to them it says itself (ComplexParts.h); terminators hand on both, and
// blocks take both.
//
//   %r = while(%z = %a) : tensor<complex<f32>>
//     ->  %r:2 = while(%x = %a.real, %y = %a.imag) : tensor<f32>, tensor<f32>
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Support/Refusal.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using graph::ComplexPair;
using graph::getPartType;
using rt::ErrorKind;

static bool isComplex(Type type) { return getPartType(type) != nullptr; }

namespace {
class Splitter {
public:
  /// On failure an error has been emitted.
  LogicalResult splitBlock(Block &block);

private:
  LogicalResult splitRegions(Operation *op);
  LogicalResult splitOp(Operation *op);
  void splitArguments(Block &block, SmallVectorImpl<BlockArgument> &split);
  void splitEnd(Operation *end);
  LogicalResult askForParts(Operation *op, SmallVectorImpl<ComplexPair> &parts);

  ComplexPair getParts(Value value) const {
    return isComplex(value.getType()) ? parts.lookup(value)
                                      : ComplexPair{value, Value()};
  }

  llvm::DenseMap<Value, ComplexPair> parts;
};
} // namespace

/// Both parts stand after the argument, which stays until nothing reads it.
void Splitter::splitArguments(Block &block,
                              SmallVectorImpl<BlockArgument> &split) {
  for (BlockArgument argument : llvm::to_vector(block.getArguments())) {
    Type part = getPartType(argument.getType());
    if (!part)
      continue;
    unsigned place = argument.getArgNumber() + 1;
    Location loc = argument.getLoc();
    Value real = block.insertArgument(place, part, loc);
    Value imag = block.insertArgument(place + 1, part, loc);
    parts[argument] = {real, imag};
    split.push_back(argument);
  }
}

void Splitter::splitEnd(Operation *end) {
  SmallVector<Value> handed;
  for (Value operand : end->getOperands()) {
    ComplexPair pair = getParts(operand);
    handed.push_back(pair.real);
    if (pair.imag)
      handed.push_back(pair.imag);
  }
  end->setOperands(handed);
}

LogicalResult Splitter::askForParts(Operation *op,
                                    SmallVectorImpl<ComplexPair> &results) {
  auto answer = dyn_cast<graph::ComplexPartsOpInterface>(op);
  if (!answer)
    return emitRefusal(op, ErrorKind::unsupported)
           << "expected real numbers, or an op that says what it does to the "
              "parts of complex ones, got an op that does not";
  SmallVector<ComplexPair> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getParts(operand));
  OpBuilder builder(op);
  return answer.splitParts(builder, operands, results);
}

LogicalResult Splitter::splitOp(Operation *op) {
  Operation *before = op->getPrevNode();
  SmallVector<ComplexPair> results;
  if (failed(askForParts(op, results)))
    return failure();
  for (auto [result, pair] : llvm::zip_equal(op->getResults(), results))
    if (isComplex(result.getType()))
      parts[result] = pair;
    else
      result.replaceAllUsesWith(pair.real);
  for (Operation *built = graph::getNext(before, op->getBlock()); built != op;
       built = built->getNextNode())
    if (failed(splitRegions(built)))
      return failure();
  return success();
}

LogicalResult Splitter::splitRegions(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(splitBlock(block)))
        return failure();
  return success();
}

LogicalResult Splitter::splitBlock(Block &block) {
  SmallVector<BlockArgument> split;
  splitArguments(block, split);
  SmallVector<Operation *> replaced;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool isOfComplex = llvm::any_of(op.getOperandTypes(), isComplex) ||
                       llvm::any_of(op.getResultTypes(), isComplex);
    if (isOfComplex && op.hasTrait<OpTrait::IsTerminator>()) {
      splitEnd(&op);
    } else if (isOfComplex) {
      if (failed(splitOp(&op)))
        return failure();
      replaced.push_back(&op);
    } else if (failed(splitRegions(&op))) {
      return failure();
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  for (BlockArgument argument : llvm::reverse(split))
    block.eraseArgument(argument.getArgNumber());
  return success();
}

static rt::Status refuse(Location loc, StringRef what, Type type,
                         StringRef hint) {
  std::string shown;
  llvm::raw_string_ostream(shown) << type;
  return rt::makeError(ErrorKind::unsupported,
                       describePlace(loc) + "expected " + what.str() +
                           " of real numbers of the model's function, got " +
                           shown)
      .withHint(hint.str());
}

rt::Status import::splitComplexNumbers(func::FuncOp main) {
  if (!main.getBody().hasOneBlock())
    return rt::Status::success(); // checkGraph says so
  Block &body = main.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (isComplex(argument.getType()))
      return refuse(argument.getLoc(), "arguments", argument.getType(),
                    "let the model take both parts, and make "
                    "'jax.lax.complex(real, imag)' of them");
  for (Value result : body.getTerminator()->getOperands())
    if (isComplex(result.getType()))
      return refuse(result.getLoc(), "results", result.getType(),
                    "let the model return 'jnp.real(x)' and 'jnp.imag(x)'");
  FirstError error(*main.getContext());
  if (failed(Splitter().splitBlock(body)))
    return error.status(ErrorKind::internal, "a complex number was not split");
  return rt::Status::success();
}
