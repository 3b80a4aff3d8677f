//===- HostTensor.cpp - A whole tensor in host memory ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

namespace llmc::rt {

HostTensor HostTensor::zeros(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(static_cast<size_t>(tensor.elements() * sizeOf(dtype)));
  return tensor;
}

int64_t HostTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

HostTensor takePart(const HostTensor &complex, int part) {
  HostTensor taken = HostTensor::zeros(
      complex.dtype, {complex.shape.begin(), complex.shape.end() - 1});
  const auto size = static_cast<size_t>(sizeOf(complex.dtype));
  for (size_t at = 0; at < taken.bytes.size(); at += size) {
    std::memcpy(taken.bytes.data() + at,
                complex.bytes.data() + 2 * at + part * size, size);
  }
  return taken;
}

HostTensor joinParts(const HostTensor &real, const HostTensor &imag) {
  std::vector<int64_t> shape = real.shape;
  shape.push_back(2);
  bool isWide = real.dtype == DType::f64 || real.dtype == DType::f32;
  HostTensor joined =
      HostTensor::zeros(isWide ? real.dtype : DType::f32, std::move(shape));
  joined.isComplex = true;
  for (int64_t i = 0; i < real.elements(); ++i) {
    storeElement(joined.dtype, joined.bytes.data(), 2 * i, real.at(i));
    storeElement(joined.dtype, joined.bytes.data(), 2 * i + 1, imag.at(i));
  }
  return joined;
}

std::string printType(const HostTensor &tensor) {
  return fmt::format("{}{}[{}]", tensor.isComplex ? "complex " : "",
                     nameOf(tensor.dtype),
                     fmt::join(tensor.shape.begin(),
                               tensor.shape.end() - tensor.isComplex, ", "));
}

namespace {
class Printer {
public:
  Printer(const HostTensor &tensor, int64_t limit)
      : tensor(tensor), left(limit) {}

  void print(size_t dim) {
    if (tensor.isComplex && dim + 1 == tensor.shape.size()) {
      text +=
          fmt::format("{:.9g}{:+.9g}j", tensor.at(next), tensor.at(next + 1));
      next += 2;
      --left;
      return;
    }
    if (dim == tensor.shape.size()) {
      printElement();
      return;
    }
    text += '[';
    for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
      if (left <= 0) {
        text += i ? ", ..." : "...";
        break;
      }
      text += i ? ", " : "";
      print(dim + 1);
    }
    text += ']';
  }

  std::string text;

private:
  void printElement() {
    text += isFloat(tensor.dtype)
                ? fmt::format("{:.9g}", tensor.at(next))
                : fmt::format("{}", loadInteger(tensor.dtype,
                                                tensor.bytes.data(), next));
    ++next;
    --left;
  }

  const HostTensor &tensor;
  int64_t left;
  int64_t next = 0;
};
} // namespace

std::string printElements(const HostTensor &tensor, int64_t limit) {
  Printer printer(tensor, limit);
  printer.print(0);
  return std::move(printer.text);
}

} // namespace llmc::rt
