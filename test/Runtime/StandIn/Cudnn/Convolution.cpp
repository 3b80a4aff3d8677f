//===- Convolution.cpp - A convolution in plain loops ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn/Convolution.h"
#include "BlasLt/Numbers.h"

using namespace llmc::standin;

int64_t TensorFields::elementBytes() const {
  switch (type) {
  case CUDNN_DATA_DOUBLE:
    return 8;
  case CUDNN_DATA_FLOAT:
  case CUDNN_DATA_INT32:
    return 4;
  case CUDNN_DATA_BOOLEAN:
    return 1;
  default:
    return 2;
  }
}

uint64_t TensorFields::extent() const {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    last += (sizes[i] - 1) * strides[i];
  return (last + 1) * elementBytes();
}

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

TensorFields llmc::standin::readTensor(const Descriptor &tensor) {
  return {tensor.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0),
          tensor.get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1),
          tensor.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE,
                                      CUDNN_DATA_FLOAT),
          tensor.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
          tensor.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
          tensor.get<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0,
          tensor.get<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0) != 0};
}

static double readScalar(const Descriptor &operation, int name) {
  const Value &value = operation.values.at(name);
  return value.type == CUDNN_TYPE_DOUBLE ? operation.get<double>(name, 0)
                                         : operation.get<float>(name, 0);
}

/// The names are those of x, w and y and of what goes with them.
static Convolution readOperation(const Descriptor &operation) {
  struct Names {
    int written, alpha, beta, settings, x, w, y;
  };
#define NAMES(written, which, x, w, y)                                         \
  {written,                                                                    \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_ALPHA,                           \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_BETA,                            \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_CONV_DESC,                       \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_##x,                             \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_##w,                             \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_##y}
  Names names = NAMES(2, FORWARD, X, W, Y);
  if (operation.type ==
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
    names = NAMES(0, BWD_DATA, DX, W, DY);
  if (operation.type ==
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR)
    names = NAMES(1, BWD_FILTER, X, DW, DY);
#undef NAMES
  const Descriptor &settings = *operation.at(names.settings);
  Convolution made;
  made.written = names.written;
  made.tensors = {readTensor(*operation.at(names.x)),
                  readTensor(*operation.at(names.w)),
                  readTensor(*operation.at(names.y))};
  made.before = settings.list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  made.after = settings.list<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  made.strides = settings.list<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  made.dilations = settings.list<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  made.flips = settings.get<cudnnConvolutionMode_t>(
                   CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) ==
               CUDNN_CONVOLUTION;
  made.compute = settings.get<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
                                               CUDNN_DATA_FLOAT);
  made.alpha = readScalar(operation, names.alpha);
  made.beta = readScalar(operation, names.beta);
  return made;
}

Convolution llmc::standin::readConvolution(const Descriptor &graph) {
  return readOperation(*graph.at(CUDNN_ATTR_OPERATIONGRAPH_OPS));
}

static cudnnStatus_t mismatch(const char *why) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, why);
}

cudnnStatus_t llmc::standin::checkConvolution(const Descriptor &operation) {
  Convolution c = readOperation(operation);
  const auto &[x, w, y] = c.tensors;
  size_t dims = c.strides.size() + 2;
  if (dims < 4 || x.sizes.size() != dims || w.sizes.size() != dims ||
      y.sizes.size() != dims)
    return mismatch("tensors of other dims than the convolution's and two, or "
                    "of fewer than four");
  if (x.number == w.number || x.number == y.number || w.number == y.number)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
                       "two tensors of one number");
  int64_t elements = 1;
  for (int64_t size : w.sizes)
    elements *= size;
  if (w.extent() != static_cast<uint64_t>(elements * w.elementBytes()))
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "a filter with gaps");
  if (x.sizes[0] != y.sizes[0] || w.sizes[0] != y.sizes[1] ||
      x.sizes[1] % w.sizes[1] || w.sizes[0] % (x.sizes[1] / w.sizes[1]))
    return mismatch("samples, features or groups that do not go together");
  for (size_t i = 0; i + 2 < dims; ++i) {
    int64_t room = x.sizes[i + 2] + c.before[i] + c.after[i] -
                   c.dilations[i] * (w.sizes[i + 2] - 1) - 1;
    if (room < 0 || room / c.strides[i] + 1 != y.sizes[i + 2])
      return mismatch("y is not as long as x, the filter and the pads make it");
  }
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// The types that cuDNN's table of convolutions lists, of those that there are
/// here.
static bool hasTypes(const Convolution &c) {
  cudnnDataType_t type = c.tensors[0].type;
  bool isKnown = type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE ||
                 type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  auto wanted =
      type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  return isKnown && c.tensors[1].type == type && c.tensors[2].type == type &&
         c.compute == wanted;
}

/// First those that a caller who wants exact and repeatable sums must not take:
/// they compute in less. Then one that wants more workspace than anybody has,
/// one that fails when it is made ready, and those that are good.
std::vector<Engine> llmc::standin::enginesFor(const Convolution &c,
                                              bool isFallback) {
  if (!hasTypes(c))
    return {};
  bool isNarrow = c.tensors[0].elementBytes() == 2, isAligned = true;
  for (const TensorFields &tensor : c.tensors)
    isAligned = isAligned && tensor.alignment % 16 == 0;
  std::vector<Engine> engines;
  auto add = [&](int64_t number, std::vector<cudnnBackendNumericalNote_t> notes,
                 int64_t bytes, unsigned parts, bool rounds, bool refuses) {
    if (isNarrow && !rounds)
      notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    engines.push_back({number, notes, bytes, parts, rounds, refuses});
  };
  if (!isFallback) {
    add(30, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, 1, true, false);
    add(31,
        {CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
         CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
        0, 1, true, false);
    add(32, {CUDNN_NUMERICAL_NOTE_WINOGRAD}, 0, 1, true, false);
    add(33, {CUDNN_NUMERICAL_NOTE_FFT}, 0, 1, true, false);
    add(34, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}, 0, 1, true,
        false);
  }
  if (environmentNumber("LLMC_STANDIN_CUDNN_ENGINES", 1) == 0)
    return engines;
  if (!isFallback) {
    add(2, {}, int64_t(1) << 42, 1, false, false);
    add(3, {}, 0, 1, false, true);
    if (isAligned)
      add(28, {}, 4096, 2, false, false);
  }
  add(0, {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, 0, 1, false, false);
  return engines;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

double llmc::standin::loadElement(cudnnDataType_t type, const char *base,
                                  int64_t at) {
  switch (type) {
  case CUDNN_DATA_DOUBLE:
    return reinterpret_cast<const double *>(base)[at];
  case CUDNN_DATA_FLOAT:
    return reinterpret_cast<const float *>(base)[at];
  default:
    return decode(type == CUDNN_DATA_HALF ? kF16 : kBF16,
                  reinterpret_cast<const uint16_t *>(base)[at]);
  }
}

void llmc::standin::storeElement(cudnnDataType_t type, char *base, int64_t at,
                                 double value) {
  switch (type) {
  case CUDNN_DATA_DOUBLE:
    reinterpret_cast<double *>(base)[at] = value;
    break;
  case CUDNN_DATA_FLOAT:
    reinterpret_cast<float *>(base)[at] = static_cast<float>(value);
    break;
  default:
    reinterpret_cast<uint16_t *>(base)[at] = static_cast<uint16_t>(encode(
        type == CUDNN_DATA_HALF ? kF16 : kBF16, static_cast<float>(value)));
  }
}

namespace {
/// Sizes and strides of two dims and of three places, the first of which has
/// one element where there are two.
struct Box {
  std::array<int64_t, 5> sizes{1, 1, 1, 1, 1}, strides{};

  explicit Box(const TensorFields &tensor) {
    size_t lifted = 5 - tensor.sizes.size();
    for (size_t i = 0; i < tensor.sizes.size(); ++i) {
      sizes[i < 2 ? i : i + lifted] = tensor.sizes[i];
      strides[i < 2 ? i : i + lifted] = tensor.strides[i];
    }
  }
  int64_t count() const {
    return sizes[0] * sizes[1] * sizes[2] * sizes[3] * sizes[4];
  }
  /// By a row-major number.
  int64_t place(int64_t number) const {
    int64_t at = 0;
    for (int i = 4; i >= 0; --i) {
      at += number % sizes[i] * strides[i];
      number /= sizes[i];
    }
    return at;
  }
};

template <typename T> class Loops {
public:
  Loops(const Convolution &c, const Engine &engine,
        const std::array<char *, 3> &memory)
      : c(c), engine(engine), memory(memory),
        boxes{Box(c.tensors[0]), Box(c.tensors[1]), Box(c.tensors[2])} {
    size_t lifted = 3 - c.strides.size();
    for (size_t i = 0; i < c.strides.size(); ++i) {
      before[i + lifted] = c.before[i];
      steps[i + lifted] = c.strides[i];
      dilations[i + lifted] = c.dilations[i];
    }
  }
  void run();

private:
  void gather(int tensor);
  void addFeatures(int64_t n, int64_t k, int64_t f);
  void addPlace(int64_t at, const std::array<int64_t, 3> &y, int64_t x,
                int64_t w);

  const Convolution &c;
  const Engine &engine;
  const std::array<char *, 3> &memory;
  std::array<Box, 3> boxes;
  std::array<int64_t, 3> before{}, steps{1, 1, 1}, dilations{1, 1, 1};
  std::array<std::vector<T>, 3> values; ///< Row-major, sums where written.
  std::vector<std::vector<T>> parts;
  std::vector<T> *sums = nullptr;
};
} // namespace

template <typename T> void Loops<T>::gather(int tensor) {
  const Box &box = boxes[tensor];
  values[tensor].assign(box.count(), T(0));
  for (int64_t i = 0; tensor != c.written && i < box.count(); ++i) {
    double value =
        loadElement(c.tensors[tensor].type, memory[tensor], box.place(i));
    values[tensor][i] = static_cast<T>(
        engine.rounds ? roundTo(kTF32, static_cast<float>(value)) : value);
  }
}

/// The terms of one place of y, with all elements of a filter.
template <typename T>
void Loops<T>::addPlace(int64_t at, const std::array<int64_t, 3> &y, int64_t x,
                        int64_t w) {
  const auto &sizeX = boxes[0].sizes, &sizeW = boxes[1].sizes;
  std::array<int64_t, 3> j{};
  for (j[0] = 0; j[0] < sizeW[2]; ++j[0])
    for (j[1] = 0; j[1] < sizeW[3]; ++j[1])
      for (j[2] = 0; j[2] < sizeW[4]; ++j[2]) {
        int64_t atX = x, atW = w;
        bool isInside = true;
        for (int i = 0; i < 3; ++i) {
          int64_t place = steps[i] * y[i] + dilations[i] * j[i] - before[i];
          isInside = isInside && place >= 0 && place < sizeX[i + 2];
          atX = atX * sizeX[i + 2] + place;
          atW = atW * sizeW[i + 2] + (c.flips ? sizeW[i + 2] - 1 - j[i] : j[i]);
        }
        if (!isInside)
          continue;
        if (c.written == 0)
          (*sums)[atX] += values[1][atW] * values[2][at];
        else if (c.written == 1)
          (*sums)[atW] += values[0][atX] * values[2][at];
        else
          (*sums)[at] += values[0][atX] * values[1][atW];
      }
}

/// Sample n, feature k of y, feature f within the group of x.
template <typename T>
void Loops<T>::addFeatures(int64_t n, int64_t k, int64_t f) {
  const auto &sizeX = boxes[0].sizes, &sizeW = boxes[1].sizes,
             &sizeY = boxes[2].sizes;
  int64_t perGroup = sizeW[0] / (sizeX[1] / sizeW[1]);
  int64_t x = n * sizeX[1] + k / perGroup * sizeW[1] + f;
  int64_t w = k * sizeW[1] + f;
  int64_t at = (n * sizeY[1] + k) * sizeY[2] * sizeY[3] * sizeY[4];
  // In parts of what is summed up.
  int64_t summed = c.written == 2 ? f : c.written == 0 ? k : n;
  sums = &parts[summed % parts.size()];
  std::array<int64_t, 3> y{};
  for (y[0] = 0; y[0] < sizeY[2]; ++y[0])
    for (y[1] = 0; y[1] < sizeY[3]; ++y[1])
      for (y[2] = 0; y[2] < sizeY[4]; ++y[2])
        addPlace(at++, y, x, w);
}

template <typename T> void Loops<T>::run() {
  for (int tensor = 0; tensor < 3; ++tensor)
    gather(tensor);
  parts.assign(engine.partialSums, values[c.written]);
  for (int64_t n = 0; n < boxes[0].sizes[0]; ++n)
    for (int64_t k = 0; k < boxes[1].sizes[0]; ++k)
      for (int64_t f = 0; f < boxes[1].sizes[1]; ++f)
        addFeatures(n, k, f);
  const Box &box = boxes[c.written];
  const TensorFields &written = c.tensors[c.written];
  for (int64_t i = 0; i < box.count(); ++i) {
    T value = parts[0][i];
    for (size_t part = 1; part < parts.size(); ++part)
      value += parts[part][i];
    value *= static_cast<T>(c.alpha);
    int64_t at = box.place(i);
    if (c.beta != 0)
      value += static_cast<T>(c.beta) *
               static_cast<T>(loadElement(written.type, memory[c.written], at));
    storeElement(written.type, memory[c.written], at, value);
  }
}

void llmc::standin::convolve(const Convolution &convolution,
                             const Engine &engine,
                             const std::array<char *, 3> &memory) {
  if (convolution.compute == CUDNN_DATA_DOUBLE)
    Loops<double>(convolution, engine, memory).run();
  else
    Loops<float>(convolution, engine, memory).run();
}
