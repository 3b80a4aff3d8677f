//===- RandomBits.cpp - Random bits by arithmetic on counters -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element is a function of the key and of its place in the whole tensor:
// nothing goes from one element to the next. So devices that split the tensor,
// and a block that is recomputed, get the bits that one device gets.
//
// Of element number n in row-major order, with the key state[0]:
//
//   PHILOX     counter state[1] + n / 4 (128 bits) gives 4 words of 32 bits,
//              of which the element is word n mod 4; of 64 bits, counter
//              state[1] + n / 2 and words 2 (n mod 2) and the next. The high
//              half of the counter is state[2], or the key in a state of two.
//   THREE_FRY  counter state[1] + m (64 bits) gives 2 words. For 64 bits m is
//              n, and the element has both. Else one dimension is halved (the
//              first of even size, or else the first of the greatest): m is
//              the number of the pair of neighbours along it, and the element
//              is word 0 or 1 as its index there is even or odd.
//
// Elements of 8 and 16 bits are the low bits of those of 32. The new state has
// the counter after the last one. Every element computes all words of its
// counter and takes one: that costs arithmetic, and needs no exchange where
// neighbours lie on different devices.
//
// The functions: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3
// (SC 2011); Threefry with 20 rounds, Philox with 10.
//
// Tests: test/Dialect/StableHLO/Models/RandomBitsTest.cpp,
// test/EndToEnd/random-bits.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

using Words = BitArithmetic::Words;

//===----------------------------------------------------------------------===//
// Philox
//===----------------------------------------------------------------------===//

/// Philox-4x32: words x, the lowest of the counter first.
static void applyPhilox(BitArithmetic &a, Words &x, Words key) {
  auto multiply = [&](Value word, uint64_t factor) {
    return a.split(a.apply<MulOp>(a.convert(word, 64), factor));
  };
  auto mix = [&](Value x, Value y, Value key) {
    return a.apply<XorOp>(a.apply<XorOp>(x, y), key);
  };
  for (unsigned round = 0; round < 10; ++round) {
    if (round != 0)
      key = {a.apply<AddOp>(key[0], 0x9E3779B9),
             a.apply<AddOp>(key[1], 0xBB67AE85)};
    Words first = multiply(x[0], 0xD2511F53);
    Words second = multiply(x[2], 0xCD9E8D57);
    x = {mix(second[1], x[1], key[0]), second[0], mix(first[1], x[3], key[1]),
         first[0]};
  }
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

namespace {
/// The work on one op.
class RandomBits {
public:
  RandomBits(RngBitGeneratorOp op, OpBuilder &b)
      : op(op), a(b, op.getLoc()),
        type(withoutEncoding(op.getOutput().getType())),
        width(type.getElementTypeBitWidth()) {}

  LogicalResult expand(SmallVectorImpl<Value> &results);

private:
  LogicalResult check();
  Value getState(int64_t i);
  Value buildState(ArrayRef<Value> scalars);
  Value buildNumbers(std::optional<int64_t> halved = std::nullopt);
  std::optional<int64_t> findHalved();
  void expandThreefry(SmallVectorImpl<Value> &results);
  void expandPhilox(SmallVectorImpl<Value> &results);
  Words buildCounter(Value number);
  Value toOutput(Value bits);

  RngBitGeneratorOp op;
  BitArithmetic a;
  RankedTensorType type;
  unsigned width;
};
} // namespace

/// What is legal and has no meaning here.
LogicalResult RandomBits::check() {
  if (width != 8 && width != 16 && width != 32 && width != 64)
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected random bits of 8, 16, 32 or 64 for each element, got "
           << type.getElementType();
  int64_t size = op.getInitialState().getType().getDimSize(0);
  if (size != 2 && size != 3)
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected a state of 2 or 3 elements for DEFAULT, which is "
              "PHILOX, got "
           << size;
  return success();
}

Value RandomBits::getState(int64_t i) {
  Value element = slice(a.b, a.loc, op.getInitialState(), {i}, {i + 1});
  return reshape(a.b, a.loc, element, {});
}

Value RandomBits::buildState(ArrayRef<Value> scalars) {
  SmallVector<Value> parts;
  for (Value scalar : scalars)
    parts.push_back(reshape(a.b, a.loc, scalar, {1}));
  return concatenate(a.b, a.loc, parts, 0);
}

/// The number of each element in row-major order; where a dimension is halved,
/// two neighbours along it have one number.
Value RandomBits::buildNumbers(std::optional<int64_t> halved) {
  Value number;
  uint64_t stride = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    int64_t size = type.getDimSize(dim);
    if (size < 2)
      continue;
    Value index = a.indices(type.getShape(), dim);
    if (dim == halved) {
      index = a.apply<ShiftRightLogicalOp>(index, 1);
      size = llvm::divideCeil(size, 2);
    }
    if (stride != 1)
      index = a.apply<MulOp>(index, stride);
    number = number ? a.apply<AddOp>(number, index) : index;
    stride *= size;
  }
  Type element = IntegerType::get(op.getContext(), 64, IntegerType::Unsigned);
  return number ? number : a.constant(type.clone(element), 0);
}

/// Converting keeps the low bits.
Value RandomBits::toOutput(Value bits) {
  Type element = type.getElementType();
  if (isa<IntegerType>(element))
    return convertTo(a.b, a.loc, bits, element);
  return BitcastConvertOp::create(a.b, a.loc, type, a.convert(bits, width));
}

//===----------------------------------------------------------------------===//
// Threefry
//===----------------------------------------------------------------------===//

/// The dimension along which two neighbours share a counter; none in a scalar.
std::optional<int64_t> RandomBits::findHalved() {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.empty())
    return std::nullopt;
  const int64_t *even =
      llvm::find_if(shape, [](int64_t size) { return size % 2 == 0; });
  return even != shape.end() ? even - shape.begin()
                             : llvm::max_element(shape) - shape.begin();
}

void RandomBits::expandThreefry(SmallVectorImpl<Value> &results) {
  Value key = getState(0), first = getState(1);
  std::optional<int64_t> halved = width == 64 ? std::nullopt : findHalved();
  Words x = a.split(a.apply<AddOp>(buildNumbers(halved), first));
  a.applyThreefry(x, a.split(key));
  int64_t count = type.getNumElements();
  Value bits = x[0];
  if (width == 64) {
    bits = a.join(x[0], x[1]);
  } else if (halved) {
    int64_t size = type.getDimSize(*halved);
    bits = a.pick(x, a.indices(type.getShape(), *halved));
    count = size ? count / size * llvm::divideCeil(size, 2) : 0;
  }
  results.push_back(buildState({key, a.apply<AddOp>(first, count)}));
  results.push_back(toOutput(bits));
}

//===----------------------------------------------------------------------===//
// Counters of Philox
//===----------------------------------------------------------------------===//

/// The first counter plus `number`: the low and the high ui64.
Words RandomBits::buildCounter(Value number) {
  bool isLong = op.getInitialState().getType().getDimSize(0) == 3;
  Value first = getState(1), high = getState(isLong ? 2 : 0);
  Value low = a.apply<AddOp>(number, first);
  Value carries = a.isLess(low, first);
  return {low, a.choose(carries, a.apply<AddOp>(high, 1), high)};
}

void RandomBits::expandPhilox(SmallVectorImpl<Value> &results) {
  // Elements of one counter: 2 to the power of `shift`.
  unsigned shift = width == 64 ? 1 : 2;
  Value key = getState(0), number = buildNumbers();
  Words counter = buildCounter(a.apply<ShiftRightLogicalOp>(number, shift));
  Words x = a.split(counter[0]);
  x.append(a.split(counter[1]));
  applyPhilox(a, x, a.split(key));
  if (width == 64)
    x = {a.join(x[0], x[1]), a.join(x[2], x[3])};
  uint64_t count = llvm::divideCeil(type.getNumElements(), int64_t(1) << shift);
  Type scalar = key.getType();
  Words next = buildCounter(a.constant(scalar, count));
  next.insert(next.begin(), key);
  next.truncate(op.getInitialState().getType().getDimSize(0));
  results.push_back(buildState(next));
  results.push_back(toOutput(a.pick(x, number)));
}

LogicalResult RandomBits::expand(SmallVectorImpl<Value> &results) {
  if (failed(check()))
    return failure();
  if (op.getRngAlgorithm() == RngAlgorithm::THREE_FRY)
    expandThreefry(results);
  else
    expandPhilox(results);
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
struct RandomBitsExpansion
    : graph::ExpansionOpInterface::ExternalModel<RandomBitsExpansion,
                                                 RngBitGeneratorOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    return RandomBits(cast<RngBitGeneratorOp>(op), builder).expand(results);
  }
};

/// Other numbers in each execution have no meaning where ops are computed again
/// and on several devices.
struct RandomNumbersExpansion
    : graph::ExpansionOpInterface::ExternalModel<RandomNumbersExpansion,
                                                 RngOp> {
  LogicalResult expand(Operation *op, OpBuilder &,
                       SmallVectorImpl<Value> &) const {
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected random numbers from a key "
              "('stablehlo.rng_bit_generator'), got numbers without one";
  }
};
} // namespace

void stablehlo::registerRandomModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    RngBitGeneratorOp::attachInterface<RandomBitsExpansion>(*context);
    RngOp::attachInterface<RandomNumbersExpansion>(*context);
  });
}
