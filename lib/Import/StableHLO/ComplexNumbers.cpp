//===- ComplexNumbers.cpp - A function of real numbers --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each complex value becomes two, its real and its imaginary part. What an op
// does to them it says itself (ComplexParts.h); terminators hand on both, and
// blocks take both, so do arguments and results of the function.
//
//   %r = while(%z = %a) : tensor<complex<f32>>
//     ->  %r:2 = while(%x = %a.real, %y = %a.imag) : tensor<f32>, tensor<f32>
//   func @main(%w: tensor<complex<f32>> {tf.aliasing_output = 1})
//     ->  func @main(%a: tensor<f32> {llmc.part = ".real", ...},
//                    %b: tensor<f32> {llmc.part = ".imag", ...})
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Support/Refusal.h"

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
              "parts of complex ones, got an op that does not (compute with "
              "'jnp.real(x)' and 'jnp.imag(x)')";
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

//===----------------------------------------------------------------------===//
// The function's own arguments and results
//===----------------------------------------------------------------------===//

namespace {
/// What is said of arguments or results, one by one.
using Sayings = SmallVector<SmallVector<NamedAttribute>>;
} // namespace

/// The number that each value has where complex ones are two.
static SmallVector<unsigned> countParts(TypeRange types) {
  SmallVector<unsigned> places;
  unsigned next = 0;
  for (Type type : types) {
    places.push_back(next);
    next += isComplex(type) ? 2 : 1;
  }
  return places;
}

/// Of each value what was said of it; of a part of a complex one that, too.
static Sayings sayOfParts(TypeRange types, ArrayAttr said) {
  Sayings split;
  for (auto [i, type] : llvm::enumerate(types)) {
    SmallVector<NamedAttribute> own;
    if (said)
      llvm::append_range(own, cast<DictionaryAttr>(said[i]));
    if (!isComplex(type)) {
      split.push_back(own);
      continue;
    }
    for (std::string_view end : rt::kPartEnds) {
      split.push_back(own);
      split.back().emplace_back(
          StringAttr::get(type.getContext(), kPart),
          StringAttr::get(type.getContext(), StringRef(end)));
    }
  }
  return split;
}

/// A part lies on the same part of the result on which its argument may.
static void moveAliases(Sayings &arguments, TypeRange results) {
  SmallVector<unsigned> places = countParts(results);
  for (SmallVector<NamedAttribute> &said : arguments) {
    bool isImag = llvm::any_of(said, [](NamedAttribute each) {
      auto part = dyn_cast<StringAttr>(each.getValue());
      return each.getName() == kPart && part == StringRef(rt::kPartEnds[1]);
    });
    for (NamedAttribute &each : said) {
      auto number = dyn_cast<IntegerAttr>(each.getValue());
      if (each.getName() != kAliasing || !number ||
          !number.getValue().ult(places.size()))
        continue;
      uint64_t old = number.getValue().getZExtValue();
      unsigned place = places[old] + (isImag && isComplex(results[old]));
      each.setValue(IntegerAttr::get(number.getType(), place));
    }
  }
}

static ArrayAttr toAttribute(MLIRContext *context, const Sayings &all) {
  SmallVector<Attribute> dictionaries;
  for (const SmallVector<NamedAttribute> &said : all)
    dictionaries.push_back(DictionaryAttr::get(context, said));
  return ArrayAttr::get(context, dictionaries);
}

rt::Status import::splitComplexNumbers(func::FuncOp main) {
  if (!main.getBody().hasOneBlock())
    return rt::Status::success(); // checkGraph says so
  MLIRContext *context = main.getContext();
  Block &body = main.getBody().front();
  Sayings arguments =
      sayOfParts(main.getArgumentTypes(), main.getArgAttrsAttr());
  Sayings results = sayOfParts(main.getResultTypes(), main.getResAttrsAttr());
  moveAliases(arguments, main.getResultTypes());
  FirstError error(*context);
  if (failed(Splitter().splitBlock(body)))
    return error.status(ErrorKind::internal, "a complex number was not split");
  main.setType(FunctionType::get(context, body.getArgumentTypes(),
                                 body.getTerminator()->getOperandTypes()));
  main.setArgAttrsAttr(toAttribute(context, arguments));
  main.setResAttrsAttr(toAttribute(context, results));
  return rt::Status::success();
}
