//===- RealCudnn.cpp - Whether cuDNN itself takes our calls ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes convolutions and attentions ready by the backend's own code, with the
// libcudnn of this machine, for the description of a GPU: engines are offered,
// one of them is what a plan wants, and its execution plan is finalized.
// Nothing is computed, and nothing measured. Run by real_cudnn.py.
//
//===----------------------------------------------------------------------===//

#include "AttentionOp.h"
#include "ConvolutionOp.h"

#include <cstdio>
#include <cstring>
#include <iterator>

using namespace llmc::rt;
using namespace llmc::rt::cuda;

namespace {

using Kind = ContractionIndexKind;

/// An H100, as cuDNN describes devices.
constexpr const char *h100 =
    R"({"cudaDeviceId": 0, "deviceId": 0, "deviceVer": 900,
"driverVer": 13000, "maxGridSize": [2147483647, 65535, 65535],
"maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
"multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
"maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024,
"maxSharedMemoryPerSM": 233472, "maxRegistersPerSM": 65536,
"maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
"pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1,
"smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
"l2CacheSize": 52428800, "deviceName": "NVIDIA H100",
"totalGlobalMem": 85000000000, "memBusWidth": 5120, "memoryBusWidth": 5120})";

struct Case {
  const char *name;
  ConvolutionShape shape;
  std::vector<DType> types = {DType::f32};
};

/// `places` of 18 elements under a kernel of 3, 16 features to 32.
ConvolutionShape makeForward(size_t places, bool isInside, int64_t stride) {
  ConvolutionShape shape;
  int64_t sizeY = (18 + 2 - 3) / stride + 1;
  int64_t x = 1, w = 1, y = 1;
  auto addPlaces = [&] {
    for (size_t i = 0; i < places; ++i) {
      shape.windows.insert(shape.windows.begin(),
                           {18, 3, sizeY, x, w, y, 1, 1, stride, 1});
      x *= 18;
      w *= 3;
      y *= sizeY;
    }
  };
  if (!isInside) {
    addPlaces();
  }
  ContractionIndex n{Kind::n, 32, 0, w, y, 0};
  ContractionIndex k{Kind::k, 16, x, 32 * w, 0, 0};
  x *= 16;
  y *= 32;
  w *= 16 * 32;
  if (isInside) {
    addPlaces();
  }
  shape.indices = {{Kind::m, 8, x, 0, y}, n, k};
  return shape;
}

/// Of the input: what was a is the result.
ConvolutionShape makeData(const ConvolutionShape &forward) {
  ConvolutionShape shape = forward;
  for (ContractionIndex &index : shape.indices) {
    std::swap(index.strideA, index.strideC);
    index.kind = index.kind == Kind::n   ? Kind::k
                 : index.kind == Kind::k ? Kind::n
                                         : index.kind;
  }
  for (ConvolutionWindow &v : shape.windows) {
    v = {v.sizeC,   v.sizeB, v.sizeA,     v.strideC, v.strideB,
         v.strideA, v.stepC, v.dilationB, 1,         v.sizeB - 1 - v.low,
         true};
  }
  return shape;
}

/// Of the kernel: what was b is the result.
ConvolutionShape makeFilter(const ConvolutionShape &forward) {
  ConvolutionShape shape = forward;
  for (ContractionIndex &index : shape.indices) {
    std::swap(index.strideB, index.strideC);
    index.kind = index.kind == Kind::m   ? Kind::k
                 : index.kind == Kind::k ? Kind::m
                                         : index.kind;
  }
  for (ConvolutionWindow &v : shape.windows) {
    v = {v.sizeA,   v.sizeC, v.sizeB, v.strideA,   v.strideC,
         v.strideB, 1,       v.stepC, v.dilationB, v.low};
  }
  return shape;
}

std::vector<Case> makeCases() {
  std::vector<Case> cases;
  for (size_t places : {1, 2, 3}) {
    for (bool isInside : {true, false}) {
      for (int64_t stride : {1, 2}) {
        ConvolutionShape forward = makeForward(places, isInside, stride);
        std::vector<DType> types = {DType::f32};
        if (places == 2 && !isInside) {
          types = {DType::f32, DType::bf16, DType::f16, DType::f64};
        }
        cases.push_back({"forward", forward, types});
        cases.push_back({"of the input", makeData(forward), types});
        cases.push_back({"of the kernel", makeFilter(forward), types});
      }
    }
  }
  ConvolutionShape reversed = makeForward(2, true, 1);
  for (ConvolutionWindow &window : reversed.windows) {
    window.isReversed = true;
  }
  cases.push_back({"reversed", reversed});
  ConvolutionShape dilated = makeForward(2, true, 1);
  for (ConvolutionWindow &window : dilated.windows) {
    window.dilationB = 2;
    window.low = 2;
  }
  cases.push_back({"dilated", dilated});
  ConvolutionShape cropped = makeForward(2, true, 1);
  cropped.windows[0].low = -1;
  cropped.windows[0].sizeC = 15;
  cases.push_back({"without its first places", cropped});
  ConvolutionShape grouped = makeForward(2, true, 1);
  grouped.indices[1].size = 8;
  grouped.indices[2].size = 4;
  grouped.indices.insert(grouped.indices.begin(), {Kind::batch, 4, 4, 8, 8});
  grouped.windows[1].strideB = 4 * 32;
  grouped.windows[0].strideB = 3 * 4 * 32;
  cases.push_back({"in groups", grouped});
  ConvolutionShape depthwise = makeForward(2, true, 1);
  depthwise.indices.erase(depthwise.indices.begin() + 1,
                          depthwise.indices.end());
  depthwise.indices.push_back({Kind::batch, 16, 1, 1, 1});
  depthwise.windows[1].strideB = 16;
  depthwise.windows[0].strideB = 3 * 16;
  cases.push_back({"of one feature in a group", depthwise});
  return cases;
}

/// Whether it is made ready; the reason where it is not.
Status accept(const Cudnn &cudnn, CudnnDescriptor device,
              const ConvolutionShape &shape, int64_t &workspace) {
  LLMC_TRY_ASSIGN(CudnnConvolution found, findCudnnConvolution(shape));
  ConvolutionOp op(cudnn, CudnnPlace{nullptr, device}, shape, std::move(found),
                   convolutionWorkspace(shape));
  LLMC_TRY(op.prepare("c"));
  workspace = op.chosenWorkspace();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct AttentionCase {
  const char *name;
  int64_t samples, keyHeads, group, rows, columns, depth, values;
  bool isCausal;
  int64_t shift = 0;
  DType dtype = DType::bf16;
  bool isPacked = false; ///< q, k and v are slices of one tensor.
};

/// The first few stand for all in the suite.
constexpr size_t ofTheSuite = 4;
const AttentionCase attentions[] = {
    {"of GPT-2, packed", 16, 12, 1, 1024, 1024, 64, 64, true, 0, DType::bf16,
     true},
    {"of groups", 2, 8, 4, 2048, 2048, 128, 128, true},
    {"after a prefix", 4, 8, 1, 64, 69, 64, 64, true, 5},
    {"of an image, in f16", 8, 12, 1, 197, 197, 64, 64, false, 0, DType::f16},
    {"in f16", 16, 12, 1, 1024, 1024, 64, 64, true, 0, DType::f16},
    {"of an image", 8, 12, 1, 197, 197, 64, 64, false},
    {"with one key", 2, 1, 8, 512, 512, 64, 64, true},
    {"of another text", 4, 8, 1, 128, 300, 64, 64, false},
    {"of short heads", 4, 4, 1, 64, 64, 8, 8, true},
    {"of 40 features", 4, 4, 1, 1000, 1000, 40, 40, false},
    {"of longer values", 4, 4, 1, 256, 256, 64, 128, true},
    {"of one row", 4, 4, 1, 1, 128, 64, 64, false},
    {"of two tokens", 1, 1, 1, 2, 2, 16, 16, true},
};

/// q, k, v and their gradients are [samples, lines, heads, features], the
/// result is [samples, heads, lines, features].
AttentionShape makeAttention(const AttentionCase &one, bool isGradient) {
  using Kind = AttentionIndexKind;
  const auto &[name, samples, keyHeads, group, rows, columns, depth, values,
               isCausal, shift, dtype, isPacked] = one;
  int64_t heads = keyHeads * group, q = heads * depth * (isPacked ? 3 : 1),
          k = keyHeads * depth * (isPacked ? 3 : 1),
          v = keyHeads * values * (isPacked ? 3 : 1);
  AttentionShape shape;
  shape.dtype = dtype;
  shape.scale = 0.125;
  shape.isGradient = isGradient;
  shape.isCausal = isCausal;
  shape.shift = shift;
  shape.indices = {
      {Kind::batch, samples, rows * q, columns * k, columns * v, 0,
       heads * rows * values, heads * rows, rows * heads * depth,
       columns * keyHeads * depth, columns * keyHeads * values},
      {Kind::batch, keyHeads, group * depth, depth, values, 0,
       group * rows * values, group * rows, group * depth, depth, values},
      {Kind::batch, group, depth, 0, 0, 0, rows * values, rows, depth},
      {Kind::row, rows, q, 0, 0, 0, values, 1, heads * depth},
      {Kind::column, columns, 0, k, v, 0, 0, 0, 0, keyHeads * depth,
       keyHeads * values},
      {Kind::depth, depth, 1, 1, 0, 0, 0, 0, 1, 1},
      {Kind::value, values, 0, 0, 1, 0, 1, 0, 0, 0, 1}};
  for (AttentionIndex &index : shape.indices) {
    if (!isGradient) {
      index.strideDq = index.strideDk = index.strideDv = 0;
    }
  }
  return shape;
}

Status runAttentions(const Cudnn &cudnn, CudnnDescriptor device, size_t most) {
  int accepted = 0, all = 0;
  for (const AttentionCase &one : attentions) {
    if (most-- == 0) {
      break;
    }
    for (bool isGradient : {false, true}) {
      LLMC_TRY_ASSIGN(CudnnAttention found,
                      findCudnnAttention(makeAttention(one, isGradient)));
      uint64_t room = attentionWorkspace(found);
      AttentionOp op(cudnn, CudnnPlace{nullptr, device}, std::move(found),
                     room);
      Status status = op.prepare("a");
      ++all;
      accepted += status.ok();
      std::printf("%s %s %s: %lld bytes of %llu%s%s\n",
                  status.ok() ? "takes" : "refused",
                  isGradient ? "the gradient" : "attention", one.name,
                  static_cast<long long>(op.chosenWorkspace()),
                  static_cast<unsigned long long>(room),
                  status.ok() ? "" : ": ", status.message().c_str());
    }
  }
  std::printf("cuDNN %zu accepted %d of %d attentions for sm_90\n",
              cudnn.cudnnGetVersion(), accepted, all);
  return Status::success();
}

Status run(bool ofAttention) {
  LLMC_TRY_ASSIGN(const Cudnn *cudnn, Cudnn::get());
  LLMC_TRY_ASSIGN(CudnnObject device,
                  CudnnObject::make(*cudnn, CudnnKind::deviceProperties));
  LLMC_TRY(device.set(CudnnAttribute::deviceText, CudnnType::text,
                      static_cast<int64_t>(std::strlen(h100)), h100));
  LLMC_TRY(device.finalize());
  if (ofAttention) {
    return runAttentions(*cudnn, device.get(), std::size(attentions));
  }
  int accepted = 0, all = 0;
  for (const Case &one : makeCases()) {
    for (DType type : one.types) {
      for (double beta : {0.0, 1.0}) {
        ConvolutionShape shape = one.shape;
        shape.a = shape.b = shape.c = type;
        shape.accumulate = type == DType::f64 ? DType::f64 : DType::f32;
        shape.beta = beta;
        int64_t workspace = 0;
        Status status = accept(*cudnn, device.get(), shape, workspace);
        ++all;
        accepted += status.ok();
        if (!status.ok()) {
          std::printf("refused %s of %zu in %s, beta %g: %s\n", one.name,
                      shape.windows.size(), nameOf(type).data(), beta,
                      status.message().c_str());
        }
      }
    }
  }
  std::printf("cuDNN %zu accepted %d of %d convolutions for sm_90\n",
              cudnn->cudnnGetVersion(), accepted, all);
  return runAttentions(*cudnn, device.get(), ofTheSuite);
}

} // namespace

/// `RealCudnn attentions` leaves convolutions out, and no attention.
int main(int argc, char **argv) {
  Status status = run(argc > 1 && std::strcmp(argv[1], "attentions") == 0);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
