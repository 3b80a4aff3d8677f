//===- ConvolutionCases.cpp - Convolutions and plain sums -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionCases.h"

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

namespace llmc::rt::test {

namespace {
using Kind = ContractionIndexKind;
using Window = ConvolutionWindow;
const Origin origin{"convolution", ""};

double element(int64_t i, int salt) {
  return static_cast<double>((i * 37 + salt * 11) % 7 - 3);
}

/// Elements of an operand's memory. A bias has no windows: null members.
int64_t extentOf(const ConvolutionShape &shape,
                 int64_t ContractionIndex::*stride, int64_t Window::*size,
                 int64_t Window::*step) {
  int64_t extent = 1;
  for (const ContractionIndex &index : shape.indices) {
    extent += (index.size - 1) * (index.*stride);
  }
  for (const Window &window : shape.windows) {
    extent += size ? (window.*size - 1) * (window.*step) : 0;
  }
  return extent;
}

struct Place {
  int64_t a = 0, b = 0, c = 0, bias = 0;
};

/// All terms, index after index and window after window.
class Reference {
public:
  Reference(const ConvolutionShape &shape, std::vector<double> &out)
      : shape(shape), out(out) {
    for (const Window &window : shape.windows) {
      meetings.push_back(findMeetings(window));
    }
  }

  void addTerms() { addIndex(0, {}); }

private:
  /// By trial of all that may meet.
  static std::vector<Place> findMeetings(const Window &w) {
    std::vector<Place> found;
    for (int64_t i = 0; i < w.sizeA; ++i) {
      for (int64_t j = 0; j < w.sizeB; ++j) {
        for (int64_t p = 0; p < w.sizeC; ++p) {
          int64_t element = w.isReversed ? w.sizeB - 1 - j : j;
          if (w.dilationA * i == w.stepC * p + w.dilationB * element - w.low) {
            found.push_back({i * w.strideA, j * w.strideB, p * w.strideC});
          }
        }
      }
    }
    return found;
  }

  void addIndex(size_t level, Place at) {
    if (level == shape.indices.size()) {
      addWindow(0, at);
      return;
    }
    const ContractionIndex &index = shape.indices[level];
    for (int64_t i = 0; i < index.size; ++i) {
      addIndex(level + 1, {at.a + i * index.strideA, at.b + i * index.strideB,
                           at.c + i * index.strideC});
    }
  }
  void addWindow(size_t level, Place at) {
    if (level == meetings.size()) {
      out[at.c] += element(at.a, 1) * element(at.b, 2);
      return;
    }
    for (const Place &meeting : meetings[level]) {
      addWindow(level + 1,
                {at.a + meeting.a, at.b + meeting.b, at.c + meeting.c});
    }
  }

  const ConvolutionShape &shape;
  std::vector<double> &out;
  std::vector<std::vector<Place>> meetings;
};

/// The bias, at each result.
void addBias(const ConvolutionShape &shape, size_t level, Place at,
             std::vector<double> &out, std::vector<bool> &isResult) {
  if (level < shape.indices.size()) {
    const ContractionIndex &index = shape.indices[level];
    for (int64_t i = 0; i < (index.kind == Kind::k ? 1 : index.size); ++i) {
      addBias(shape, level + 1,
              {0, 0, at.c + i * index.strideC, at.bias + i * index.strideBias},
              out, isResult);
    }
    return;
  }
  size_t window = level - shape.indices.size();
  if (window < shape.windows.size()) {
    for (int64_t p = 0; p < shape.windows[window].sizeC; ++p) {
      addBias(shape, level + 1,
              {0, 0, at.c + p * shape.windows[window].strideC, at.bias}, out,
              isResult);
    }
    return;
  }
  isResult[at.c] = true;
  out[at.c] = (shape.beta != 0 ? element(at.c, 4) : 0) +
              (shape.hasBias ? element(at.bias, 3) : 0);
}

struct Expected {
  std::vector<double> elements;
  std::vector<bool> isResult;
};

/// Of `size` elements; the same for all types.
const Expected &expect(ConvolutionShape shape, int64_t size) {
  static std::map<ConvolutionShape, Expected> known;
  shape.a = shape.b = shape.c = shape.bias = shape.accumulate = DType::f32;
  auto [entry, isNew] = known.try_emplace(shape);
  auto &[elements, isResult] = entry->second;
  if (isNew) {
    isResult.resize(size);
    for (int64_t i = 0; i < size; ++i) {
      elements.push_back(element(i, 4));
    }
    addBias(shape, 0, {}, elements, isResult);
    Reference(shape, elements).addTerms();
  }
  return entry->second;
}

/// Gives the dims of an operand strides in the order of `order`, the first one
/// outermost.
void lay(std::vector<std::pair<int64_t, int64_t *>> dims,
         const std::vector<size_t> &order) {
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    *dims[order[i]].second = stride;
    stride *= dims[order[i]].first;
  }
}
} // namespace

double greatestError(const ConvolutionShape &shape, int threads) {
  WorldOptions options;
  options.threads = options.threadsPerDevice = threads;
  auto world = makeCpuWorld(options);
  Device &device = world->device(0);
  LibraryShape library{"test", shape, threads, 0};
  library.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(library);
  auto convolution = device.prepare(library);
  if (!convolution.ok()) {
    ADD_FAILURE() << convolution.message();
    return INFINITY;
  }
  using Index = ContractionIndex;
  int64_t sizes[] = {
      extentOf(shape, &Index::strideA, &Window::sizeA, &Window::strideA),
      extentOf(shape, &Index::strideB, &Window::sizeB, &Window::strideB),
      extentOf(shape, &Index::strideBias, nullptr, nullptr),
      extentOf(shape, &Index::strideC, &Window::sizeC, &Window::strideC)};
  DType types[] = {shape.a, shape.b, shape.bias, shape.c};
  std::vector<void *> places;
  for (int i = 0; i < 4; ++i) {
    places.push_back(
        (*device.reserve(sizes[i] * sizeOf(types[i]), MemoryKind::device))
            .base);
    for (int64_t j = 0; j < sizes[i]; ++j) {
      storeElement(types[i], places.back(), j, element(j, i + 1));
    }
  }
  void *workspace =
      (*device.reserve(library.workspaceBytes + 1, MemoryKind::device)).base;
  if (!shape.hasBias) {
    places.erase(places.begin() + 2);
  }
  Stream &stream =
      **device.stream({"s", 0, 1, static_cast<uint32_t>(places.size())});
  device.call(stream, **convolution, places.data(),
              static_cast<uint32_t>(places.size()), workspace, origin);
  EXPECT_TRUE(world->drain(std::chrono::seconds(20)).ok());
  const auto &[expected, isResult] = expect(shape, sizes[3]);
  double worst = 0;
  for (int64_t i = 0; i < sizes[3]; ++i) {
    double error =
        std::abs(loadElement(shape.c, places.back(), i) - expected[i]);
    worst = std::max(worst, isResult[i] ? error : error * INFINITY);
  }
  return worst;
}

std::vector<size_t> orderOf(size_t rank, const std::vector<size_t> &first,
                            const std::vector<size_t> &last) {
  std::vector<size_t> order = first;
  for (size_t d = 2; d < rank; ++d) {
    order.push_back(d);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

std::vector<size_t> usualOrder(size_t rank, Operand operand) {
  return operand == kernelOperand ? orderOf(rank, {}, {0, 1})
                                  : orderOf(rank, {0}, {1});
}

ConvolutionShape makeShape(ConvolutionSizes sizes, const Order &order) {
  int64_t a[2], b[2], c[2];
  std::vector<std::pair<int64_t, int64_t *>> x = {
      {sizes.samples * (sizes.groupsBatch ? sizes.groups : 1), &a[0]},
      {sizes.inputs * (sizes.groupsBatch ? 1 : sizes.groups), &a[1]}};
  std::vector<std::pair<int64_t, int64_t *>> k = {
      {sizes.inputs, &b[0]}, {sizes.groups * sizes.outputs, &b[1]}};
  std::vector<std::pair<int64_t, int64_t *>> y = {
      {sizes.samples, &c[0]}, {sizes.groups * sizes.outputs, &c[1]}};
  for (Window &window : sizes.windows) {
    x.push_back({window.sizeA, &window.strideA});
    k.push_back({window.sizeB, &window.strideB});
    y.push_back({window.sizeC, &window.strideC});
  }
  lay(x, order(x.size(), inputOperand));
  lay(k, order(k.size(), kernelOperand));
  lay(y, order(y.size(), outputOperand));
  ConvolutionShape shape;
  if (sizes.groups > 1) {
    shape.indices.push_back(
        {Kind::batch, sizes.groups,
         sizes.groupsBatch ? sizes.samples * a[0] : sizes.inputs * a[1],
         sizes.outputs * b[1], sizes.outputs * c[1], 0});
  }
  shape.indices.push_back({Kind::m, sizes.samples, a[0], 0, c[0], 0});
  shape.indices.push_back({Kind::n, sizes.outputs, 0, b[1], c[1], 0});
  shape.indices.push_back({Kind::k, sizes.inputs, a[1], b[0], 0, 0});
  shape.windows = sizes.windows;
  return shape;
}

Window makeWindow(int64_t size, int64_t kernel, int64_t step, int64_t low,
                  int64_t high, int64_t dilationA, int64_t dilationB,
                  bool isReversed) {
  Window window;
  window.sizeA = size;
  window.sizeB = kernel;
  window.stepC = step;
  window.low = low;
  window.dilationA = dilationA;
  window.dilationB = dilationB;
  window.isReversed = isReversed;
  int64_t rest =
      (size - 1) * dilationA + 1 + low + high - (kernel - 1) * dilationB - 1;
  window.sizeC = rest < 0 ? 0 : rest / step + 1;
  return window;
}

void setBias(ConvolutionShape &shape) {
  shape.hasBias = true;
  for (ContractionIndex &index : shape.indices) {
    if (index.kind == Kind::n) {
      index.strideBias = 1;
      if (shape.indices.front().kind == Kind::batch) {
        shape.indices.front().strideBias = index.size;
      }
    }
  }
}

ConvolutionShape in(ConvolutionShape shape, DType type) {
  shape.a = shape.b = shape.c = shape.bias = shape.accumulate = type;
  return shape;
}

std::string describe(const ConvolutionShape &shape) {
  std::ostringstream text;
  for (const ContractionIndex &i : shape.indices) {
    text << nameOf(i.kind) << " " << i.size << " (" << i.strideA << ", "
         << i.strideB << ", " << i.strideC << ", " << i.strideBias << ") ";
  }
  for (const Window &w : shape.windows) {
    text << "window " << w.sizeA << ":" << w.dilationA << " * " << w.sizeB
         << ":" << w.dilationB << " -> " << w.sizeC << ":" << w.stepC << " low "
         << w.low << (w.isReversed ? " reversed" : "") << " (" << w.strideA
         << ", " << w.strideB << ", " << w.strideC << ") ";
  }
  text << "beta " << shape.beta << (shape.hasBias ? " bias" : "");
  return text.str();
}

} // namespace llmc::rt::test
