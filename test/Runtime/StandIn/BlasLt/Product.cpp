//===- Product.cpp - A product in plain loops -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlasLt/Product.h"
#include "BlasLt/Numbers.h"

#include <algorithm>

using namespace llmc::standin;

static const FloatFormat *formatOf(int type) {
  switch (type) {
  case CUDA_R_16F:
    return &kF16;
  case CUDA_R_16BF:
    return &kBF16;
  case CUDA_R_8F_E4M3:
    return &kE4M3;
  case CUDA_R_8F_E5M2:
    return &kE5M2;
  default:
    return nullptr;
  }
}

/// All numbers of a narrow format, by their bits.
static const std::vector<float> &numbersOf(const FloatFormat &format) {
  auto make = [](const FloatFormat &f) {
    std::vector<float> numbers(1u << (1 + f.exponentBits + f.mantissaBits));
    for (size_t bits = 0; bits < numbers.size(); ++bits)
      numbers[bits] = decode(f, bits);
    return numbers;
  };
  static const std::vector<float> f16 = make(kF16), bf16 = make(kBF16),
                                  e4m3 = make(kE4M3), e5m2 = make(kE5M2);
  return &format == &kF16    ? f16
         : &format == &kBF16 ? bf16
         : &format == &kE4M3 ? e4m3
                             : e5m2;
}

static double load(int type, const char *base, int64_t index) {
  const char *at = base + index * static_cast<int64_t>(bytesOf(type));
  auto read = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
  case CUDA_R_64F:
    return read(double());
  case CUDA_R_32F:
    return read(float());
  case CUDA_R_32I:
    return read(int32_t());
  case CUDA_R_8I:
    return read(int8_t());
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return numbersOf(*formatOf(type))[read(uint16_t())];
  default:
    return numbersOf(*formatOf(type))[read(uint8_t())];
  }
}

static void store(int type, char *base, int64_t index, double value) {
  char *at = base + index * static_cast<int64_t>(bytesOf(type));
  auto write = [at](auto stored) { std::memcpy(at, &stored, sizeof stored); };
  auto whole = [value](double low, double high) {
    return std::min(high, std::max(low, std::nearbyint(value)));
  };
  switch (type) {
  case CUDA_R_64F:
    return write(value);
  case CUDA_R_32F:
    return write(static_cast<float>(value));
  case CUDA_R_32I:
    return write(static_cast<int32_t>(whole(INT32_MIN, INT32_MAX)));
  case CUDA_R_8I:
    return write(static_cast<int8_t>(whole(-128, 127)));
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return write(static_cast<uint16_t>(
        encode(*formatOf(type), static_cast<float>(value))));
  default:
    return write(static_cast<uint8_t>(
        encode(*formatOf(type), static_cast<float>(value))));
  }
}

static int64_t place(const LayoutFields &layout, uint64_t row,
                     uint64_t column) {
  return layout.order == CUBLASLT_ORDER_COL ? column * layout.ld + row
                                            : row * layout.ld + column;
}

/// What a fast type makes of a factor.
static const FloatFormat *narrowing(int compute) {
  switch (compute) {
  case CUBLAS_COMPUTE_32F_FAST_TF32:
    return &kTF32;
  case CUBLAS_COMPUTE_32F_FAST_16BF:
    return &kBF16;
  case CUBLAS_COMPUTE_32F_FAST_16F:
    return &kF16;
  default:
    return nullptr;
  }
}

/// A factor as columns of `rows` numbers, transposed where it is to be.
template <typename T>
static std::vector<T> pack(const LayoutFields &layout, const char *base,
                           bool transposed, int compute) {
  uint64_t rows = transposed ? layout.columns : layout.rows;
  uint64_t columns = transposed ? layout.rows : layout.columns;
  const FloatFormat *narrow = narrowing(compute);
  std::vector<T> packed(rows * columns);
  for (uint64_t column = 0; column < columns; ++column)
    for (uint64_t row = 0; row < rows; ++row) {
      int64_t at =
          transposed ? place(layout, column, row) : place(layout, row, column);
      T value = static_cast<T>(load(layout.type, base, at));
      packed[column * rows + row] =
          narrow ? roundTo(*narrow, static_cast<float>(value)) : value;
    }
  return packed;
}

/// sums[i] = sum over k of a[k * m + i] * b[k].
template <typename T>
static void sumColumn(const T *a, const T *b, uint64_t m, uint64_t k,
                      unsigned parts, bool half, std::vector<T> &sums,
                      std::vector<T> &part) {
  std::fill(sums.begin(), sums.end(), T(0));
  for (unsigned p = 0; p < parts; ++p) {
    std::fill(part.begin(), part.end(), T(0));
    for (uint64_t l = k * p / parts; l < k * (p + 1) / parts; ++l) {
      T factor = b[l];
      const T *column = a + l * m;
      for (uint64_t i = 0; i < m; ++i)
        part[i] += column[i] * factor;
      for (uint64_t i = 0; half && i < m; ++i)
        part[i] = roundTo(kF16, static_cast<float>(part[i]));
    }
    for (uint64_t i = 0; i < m; ++i)
      sums[i] = p ? sums[i] + part[i] : part[i];
  }
}

static constexpr double kRoot = 0.7978845608028654; // of 2 / pi

static double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(kRoot * (x + 0.044715 * x * x * x)));
}
static double geluGradient(double x) {
  double t = std::tanh(kRoot * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * kRoot * (1 + 3 * 0.044715 * x * x);
}

namespace {
/// One matrix of the batch.
template <typename T> class Multiplication {
public:
  Multiplication(const Problem &problem, const Operands &operands,
                 unsigned parts, int batch)
      : p(problem), x(problem.product), o(operands), parts(parts),
        batch(batch) {
    alpha = load(x.scale, static_cast<const char *>(o.alpha), 0) *
            (o.scaleA ? *o.scaleA : 1) * (o.scaleB ? *o.scaleB : 1);
    beta = load(x.scale, static_cast<const char *>(o.beta), 0) *
           (o.scaleC ? *o.scaleC : 1);
  }
  void run();

private:
  T finish(T sum, uint64_t i, uint64_t j);
  void writeGradient(const std::vector<T> &gradient);
  int64_t biasAt(uint64_t i) const { return batch * x.biasStride + i; }

  const Problem &p;
  const ProductFields &x;
  const Operands &o;
  unsigned parts;
  int64_t batch;
  double alpha, beta;
  std::vector<T> gradient; // of the bias
};
} // namespace

/// The element of D before it is stored.
template <typename T>
T Multiplication<T>::finish(T sum, uint64_t i, uint64_t j) {
  T value = static_cast<T>(alpha) * sum;
  if (beta != 0)
    value += static_cast<T>(beta) *
             static_cast<T>(load(p.c.type, o.c,
                                 batch * p.c.batchStride + place(p.c, i, j)));
  if (x.epilogue & CUBLASLT_EPILOGUE_BIAS)
    value += static_cast<T>(
        load(x.biasType == -1 ? p.d.type : x.biasType, o.bias, biasAt(i)));
  int64_t auxAt = batch * x.auxStride + j * x.auxLd + i;
  if (x.epilogue & CUBLASLT_EPILOGUE_RELU)
    value = std::max(value, T(0));
  if (x.epilogue & CUBLASLT_EPILOGUE_GELU) {
    if (x.epilogue & 128)
      store(p.d.type, o.aux, auxAt, value);
    value = static_cast<T>(gelu(value));
  }
  if ((x.epilogue & CUBLASLT_EPILOGUE_DGELU) == CUBLASLT_EPILOGUE_DGELU)
    value *= static_cast<T>(geluGradient(load(p.d.type, o.aux, auxAt)));
  if (x.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD)
    gradient[i] += value;
  return value;
}

template <typename T> void Multiplication<T>::run() {
  size_t bytesA = bytesOf(p.a.type), bytesB = bytesOf(p.b.type);
  std::vector<T> a = pack<T>(p.a, o.a + batch * p.a.batchStride * bytesA,
                             x.transA != CUBLAS_OP_N, x.compute);
  std::vector<T> b = pack<T>(p.b, o.b + batch * p.b.batchStride * bytesB,
                             x.transB != CUBLAS_OP_N, x.compute);
  std::vector<T> sums(p.m), part(p.m);
  gradient.assign(std::max(p.m, p.n), T(0));
  bool half = x.scale == CUDA_R_16F;
  for (uint64_t j = 0; j < p.n; ++j) {
    sumColumn(a.data(), &b[j * p.k], p.m, p.k, parts, half, sums, part);
    for (uint64_t i = 0; i < p.m; ++i) {
      T value = finish(sums[i], i, j);
      if (o.amaxD)
        *o.amaxD = std::max(*o.amaxD, std::fabs(static_cast<float>(value)));
      if (o.scaleD)
        value *= *o.scaleD;
      store(p.d.type, o.d, batch * p.d.batchStride + place(p.d, i, j), value);
    }
  }
  for (uint64_t l = 0; l < p.k; ++l) {
    for (uint64_t i = 0; x.epilogue == CUBLASLT_EPILOGUE_BGRADA && i < p.m; ++i)
      gradient[i] += a[l * p.m + i];
    for (uint64_t j = 0; x.epilogue == CUBLASLT_EPILOGUE_BGRADB && j < p.n; ++j)
      gradient[j] += b[j * p.k + l];
  }
  writeGradient(gradient);
}

template <typename T>
void Multiplication<T>::writeGradient(const std::vector<T> &values) {
  uint64_t count = x.epilogue == CUBLASLT_EPILOGUE_BGRADB ? p.n : p.m;
  bool wanted = x.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD ||
                x.epilogue == CUBLASLT_EPILOGUE_BGRADA ||
                x.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  int type = x.biasType == -1 ? static_cast<int>(p.d.type) : x.biasType;
  for (uint64_t i = 0; wanted && i < count; ++i)
    store(type, o.bias, biasAt(i), values[i]);
}

void llmc::standin::multiply(const Problem &problem, const Operands &operands,
                             unsigned partialSums) {
  if (operands.amaxD)
    *operands.amaxD = 0;
  int type = problem.a.type;
  for (int batch = 0; batch < problem.a.batchCount; ++batch)
    if (type == CUDA_R_64F || type == CUDA_R_8I)
      Multiplication<double>(problem, operands, partialSums, batch).run();
    else
      Multiplication<float>(problem, operands, partialSums, batch).run();
}
