//===- FourierTransform.cpp - Transforms as products with small matrices --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With n = f * m, j = m * j1 + r and w = exp(-+2 pi i / n) the sum over j of
// x[j] w^(jk), k = k1 + f * k2, is
//
//   1. for each r a transform of f elements x[m * j1 + r]: a product with the
//      matrix w^(m * j1 * k1), which appends the dimension k1
//   2. a product with w^(r * k1), element by element
//   3. for each k1 a transform of the m elements r, by the same steps
//
// The dimensions of the k stand in the order of the steps, the last one being
// the most significant digit: one transposition at the end reverses them.
// Factors are at most 32, but for greater primes. So the costs are n * (sum of
// factors) for each transform.
//
// Of real numbers the products with their imaginary parts are left out, and of
// the last step half of the columns; where only real parts are read, the last
// step has no others.
//
// Tests: test/Import/StableHLO/fft.mlir, test/EndToEnd/complex.test
//===----------------------------------------------------------------------===//

#include "../Products/Contraction.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/ComplexMath.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

/// The greatest factor that is no prime.
static constexpr int64_t kMostInProduct = 32;
/// Matrices of more elements are computed by the run.
static constexpr int64_t kMostWrittenOut = 16384;

/// Prime factors of `n`, the greatest first.
static SmallVector<int64_t> getPrimes(int64_t n) {
  SmallVector<int64_t> primes;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      primes.push_back(p);
  if (n > 1)
    primes.push_back(n);
  std::reverse(primes.begin(), primes.end());
  return primes;
}

/// `primes` in `count` products of about the same size; nothing where one would
/// be greater than what may be in a product.
static SmallVector<int64_t> balance(ArrayRef<int64_t> primes, int64_t count) {
  SmallVector<int64_t> products(count, 1);
  for (int64_t prime : primes) {
    int64_t &least = *llvm::min_element(products);
    least *= prime;
    if (least > kMostInProduct)
      return {};
  }
  return products;
}

/// Factors of `n`, as few as may be.
static SmallVector<int64_t> factorize(int64_t n) {
  SmallVector<int64_t> factors, small;
  for (int64_t prime : getPrimes(n))
    (prime > kMostInProduct ? factors : small).push_back(prime);
  SmallVector<int64_t> balanced;
  for (int64_t count = 1; !small.empty() && balanced.empty(); ++count)
    balanced = balance(small, count);
  llvm::append_range(factors, balanced);
  return factors;
}

/// cos and sin of 2 pi k / n, rounded once to double.
static std::pair<double, double> getRoot(int64_t k, int64_t n) {
  // The quarters of the circle are exact.
  static constexpr double quarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  int64_t quarter = 4 * k / n;
  if (4 * k % n == 0)
    return {quarters[quarter][0], quarters[quarter][1]};
  constexpr long double pi = 3.14159265358979323846264338327950288L;
  long double angle = 2 * pi * (4 * k % n) / n / 4;
  double x = static_cast<double>(std::cos(angle));
  double y = static_cast<double>(std::sin(angle));
  double turned[4][2] = {{x, y}, {-y, x}, {-x, -y}, {y, -x}};
  return {turned[quarter][0], turned[quarter][1]};
}

namespace {
/// Which side of a transform is real, or what of it is read.
struct Sides {
  bool isHalved = false, isReal = false;
};

struct Transform {
  OpBuilder &b;
  Location loc;
  Type element;
  /// -1: exp(-2 pi i j k / n).
  double sign;

  ComplexMath math() const { return {b, loc}; }
  RankedTensorType typeOf(Value value) const {
    return cast<RankedTensorType>(value.getType());
  }

  ComplexPair writeRoots(int64_t n, RankedTensorType type) const {
    SmallVector<Attribute> real, imag;
    for (int64_t row = 0; row < type.getDimSize(0); ++row)
      for (int64_t column = 0; column < type.getDimSize(1); ++column) {
        auto [x, y] = getRoot(row * column % n, n);
        real.push_back(elementOf(element, x));
        imag.push_back(elementOf(element, sign * y));
      }
    auto build = [&](ArrayRef<Attribute> values) -> Value {
      return ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
    };
    return {build(real), build(imag)};
  }

  /// In f64, rounded once.
  ComplexPair computeRoots(int64_t n, RankedTensorType type) const {
    auto integers = type.clone(b.getI64Type());
    Value product =
        mul(b, loc, iota(b, loc, integers, 0), iota(b, loc, integers, 1));
    Value power =
        RemOp::create(b, loc, product, constantSplat(b, loc, integers, n));
    Value exact = convertTo(b, loc, power, b.getF64Type());
    Value angle =
        mul(b, loc, exact, constantLike(b, loc, exact, 2 * sign * M_PI / n));
    return {convertTo(b, loc, cosine(b, loc, angle), element),
            convertTo(b, loc, sine(b, loc, angle), element)};
  }

  /// w^(row * column) of the n-th root.
  ComplexPair buildRoots(int64_t n, int64_t rows, int64_t columns) const {
    auto type = RankedTensorType::get({rows, columns}, element);
    return type.getNumElements() > kMostWrittenOut ? computeRoots(n, type)
                                                   : writeRoots(n, type);
  }

  Value contract(Value x, Value matrix, int64_t dim) const {
    return multiplyAsWide(b, loc, x, matrix,
                          dotDims(b.getContext(), {}, {}, dim, int64_t(0)));
  }

  /// The matrix times `x` along `dim`, whose place the last dimension takes.
  ComplexPair multiply(ComplexPair x, ComplexPair matrix, int64_t dim,
                       bool isReal) const {
    Value real = contract(x.real, matrix.real, dim);
    if (!x.imag)
      return {real, isReal ? Value() : contract(x.real, matrix.imag, dim)};
    real = sub(b, loc, real, contract(x.imag, matrix.imag, dim));
    if (isReal)
      return {real, Value()};
    return {real, add(b, loc, contract(x.real, matrix.imag, dim),
                      contract(x.imag, matrix.real, dim))};
  }

  template <typename Change>
  ComplexPair onParts(ComplexPair x, Change change) const {
    return {change(x.real), x.imag ? change(x.imag) : Value()};
  }

  /// Dimension `dim` as two, of `factor` and of the rest.
  ComplexPair splitDim(ComplexPair x, int64_t dim, int64_t factor) const {
    SmallVector<int64_t> shape(typeOf(x.real).getShape());
    shape[dim] /= factor;
    shape.insert(shape.begin() + dim, factor);
    return onParts(x, [&](Value part) { return reshape(b, loc, part, shape); });
  }

  /// Times w^(r * k), r along `dim` and k along the last dimension.
  ComplexPair twiddle(ComplexPair x, int64_t dim, int64_t n) const {
    RankedTensorType type = typeOf(x.real);
    int64_t last = type.getRank() - 1;
    ComplexPair roots =
        buildRoots(n, type.getDimSize(dim), type.getDimSize(last));
    return math().multiply(x, onParts(roots, [&](Value part) {
                             return broadcastInDim(b, loc, part, type,
                                                   {dim, last});
                           }));
  }

  /// The last `count` dimensions, in reverse order, as one in place of `dim`.
  ComplexPair joinDigits(ComplexPair x, int64_t dim, int64_t count) const {
    RankedTensorType type = typeOf(x.real);
    int64_t first = type.getRank() - count, size = 1;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, dim));
    for (int64_t digit = type.getRank() - 1; digit >= first; --digit) {
      order.push_back(digit);
      size *= type.getDimSize(digit);
    }
    llvm::append_range(order, llvm::seq<int64_t>(dim, first));
    SmallVector<int64_t> shape(type.getShape().take_front(first));
    shape.insert(shape.begin() + dim, size);
    return onParts(x, [&](Value part) {
      return reshape(b, loc, transpose(b, loc, part, order), shape);
    });
  }

  ComplexPair cut(ComplexPair x, int64_t dim, int64_t start,
                  int64_t limit) const {
    RankedTensorType type = typeOf(x.real);
    if (start == 0 && limit == type.getDimSize(dim))
      return x;
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
    starts[dim] = start;
    limits[dim] = limit;
    return onParts(
        x, [&](Value part) { return slice(b, loc, part, starts, limits); });
  }

  /// The transform along `dim`; of its results the first half where `isHalved`,
  /// and the real parts where `isReal`.
  ComplexPair along(ComplexPair x, int64_t dim, Sides sides) const {
    int64_t n = typeOf(x.real).getDimSize(dim), rest = n;
    SmallVector<int64_t> factors = factorize(n);
    for (int64_t factor : factors) {
      bool isLast = factor == rest;
      if (!isLast)
        x = splitDim(x, dim, factor);
      int64_t columns = isLast && sides.isHalved ? factor / 2 + 1 : factor;
      x = multiply(x, buildRoots(factor, factor, columns), dim,
                   isLast && sides.isReal);
      if (!isLast)
        x = twiddle(x, dim, rest);
      rest /= factor;
    }
    if (!factors.empty())
      x = joinDigits(x, dim, factors.size());
    return sides.isHalved ? cut(x, dim, 0, n / 2 + 1) : x;
  }

  /// All n numbers of which `x` has the first n/2 + 1 along `dim`: number n - k
  /// is the conjugate of number k.
  ComplexPair complete(ComplexPair x, int64_t dim, int64_t n) const {
    if (n < 3)
      return x;
    ComplexPair mirrored = cut(x, dim, 1, (n + 1) / 2);
    auto join = [&](Value part, Value rest) {
      return concatenate(b, loc, {part, reverse(b, loc, rest, {dim})}, dim);
    };
    return {join(x.real, mirrored.real),
            join(x.imag, neg(b, loc, mirrored.imag))};
  }
};

struct FftParts : ComplexPartsOpInterface::ExternalModel<FftParts, FftOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    auto op = cast<FftOp>(of);
    auto type = cast<RankedTensorType>(op.getType());
    RankedTensorType part = getPartType(type);
    if (type.getNumElements() == 0) {
      Value none = constantSplat(builder, op.getLoc(), part ? part : type, 0);
      results.push_back({none, part ? none : Value()});
      return success();
    }
    ComplexPair made = transform(op, builder, operands[0]);
    // Of one real number nothing was computed.
    if (part && !made.imag)
      made.imag = constantSplat(builder, op.getLoc(), part, 0);
    results.push_back(made);
    return success();
  }

  ComplexPair transform(FftOp op, OpBuilder &b, ComplexPair x) const {
    FftType kind = op.getFftType();
    bool isForward = kind == FftType::FFT || kind == FftType::RFFT;
    Type element = cast<RankedTensorType>(x.real.getType()).getElementType();
    Transform transform{b, op.getLoc(), element, isForward ? -1.0 : 1.0};
    ArrayRef<int64_t> lengths = op.getFftLength();
    int64_t last = cast<RankedTensorType>(x.real.getType()).getRank() - 1;
    int64_t first = last + 1 - lengths.size();
    // The real side of all dimensions is in the last one.
    if (kind == FftType::RFFT)
      x = transform.along(x, last, {/*isHalved=*/true, false});
    for (int64_t dim = first; dim < last; ++dim)
      x = transform.along(x, dim, {});
    if (kind == FftType::FFT || kind == FftType::IFFT)
      x = transform.along(x, last, {});
    if (kind == FftType::IRFFT)
      x = transform.along(transform.complete(x, last, lengths.back()), last,
                          {false, /*isReal=*/true});
    return isForward ? x : scale(transform, x, lengths, kind);
  }

  /// Divided by the number of elements.
  ComplexPair scale(Transform transform, ComplexPair x,
                    ArrayRef<int64_t> lengths, FftType kind) const {
    double count = 1;
    for (int64_t length : lengths)
      count *= static_cast<double>(length);
    if (kind == FftType::IRFFT)
      x.imag = {};
    return transform.onParts(x, [&](Value part) {
      return div(transform.b, transform.loc, part,
                 constantLike(transform.b, transform.loc, part, count));
    });
  }
};

/// The import has come to it before.
struct FftExpansion : ExpansionOpInterface::ExternalModel<FftExpansion, FftOp> {
  LogicalResult expand(Operation *op, OpBuilder &,
                       SmallVectorImpl<Value> &) const {
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected transforms in a text that is imported, which writes "
              "them as products, got one later";
  }
};
} // namespace

void stablehlo::registerFourierTransforms(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    FftOp::attachInterface<FftParts, FftExpansion>(*context);
  });
}
