//===- HostTensor.cpp - A whole tensor in host memory ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>

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

namespace {
class Printer {
public:
  Printer(const HostTensor &tensor, int64_t limit)
      : tensor(tensor), left(limit) {}

  void print(size_t dim) {
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
