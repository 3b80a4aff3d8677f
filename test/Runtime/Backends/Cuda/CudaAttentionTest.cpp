//===- CudaAttentionTest.cpp - Attention by cuDNN -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention and its gradient on the stand-ins of driver and library, against
// plain sums in double. The stand-in offers engines that add in no fixed order
// or round what lies between first, so a wrong choice is seen.
//
//===----------------------------------------------------------------------===//

#include "../../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace llmc::rt::test {
namespace {

using AttendKind = AttentionIndexKind;
const Origin attentionOrigin{"attention", "model.py:88"};
using AttentionValues = std::map<std::string_view, std::vector<double>>;

/// In [-1, 1], without a pattern that sums cancel.
double elementAt(int64_t i, int salt) {
  return std::sin(1.7 * static_cast<double>(i) + salt);
}

struct AttentionSizes {
  int64_t samples, keyHeads, group, rows, columns, depth, values;
};

/// q, k, v and their gradients are [samples, lines, heads, features], the
/// result and its cotangent [samples, heads, lines, features].
AttentionShape makeAttention(const AttentionSizes &sizes, bool isGradient) {
  const auto &[samples, keyHeads, group, rows, columns, depth, values] = sizes;
  int64_t q = keyHeads * group * depth, k = keyHeads * depth,
          v = keyHeads * values, heads = keyHeads * group;
  AttentionShape shape;
  shape.dtype = DType::bf16;
  shape.scale = 0.5;
  shape.isGradient = isGradient;
  shape.indices = {
      {AttendKind::batch, samples, rows * q, columns * k, columns * v, 0,
       heads * rows * values, heads * rows, rows * q, columns * k, columns * v},
      {AttendKind::batch, keyHeads, group * depth, depth, values, 0,
       group * rows * values, group * rows, group * depth, depth, values},
      {AttendKind::batch, group, depth, 0, 0, 0, rows * values, rows, depth},
      {AttendKind::row, rows, q, 0, 0, 0, values, 1, q},
      {AttendKind::column, columns, 0, k, v, 0, 0, 0, 0, k, v},
      {AttendKind::depth, depth, 1, 1, 0, 0, 0, 0, 1, 1},
      {AttendKind::value, values, 0, 0, 1, 0, 1, 0, 0, 0, 1}};
  for (AttentionIndex &index : shape.indices) {
    if (!isGradient) {
      index.strideDq = index.strideDk = index.strideDv = 0;
    }
  }
  return shape;
}

/// All operands of forward and gradient, by name, as Library.h says.
class AttentionOracle {
public:
  explicit AttentionOracle(const AttentionSizes &sizes,
                           const AttentionShape &shape)
      : sizes(sizes), shape(shape) {
    const auto &[samples, keyHeads, group, rows, columns, depth, values] =
        sizes;
    int64_t heads = samples * keyHeads * group;
    int salt = 0;
    for (auto [name, count] : std::map<std::string_view, int64_t>{
             {"q", heads * rows * depth},
             {"k", samples * columns * keyHeads * depth},
             {"v", samples * columns * keyHeads * values},
             {"cotangent", heads * rows * values}}) {
      ++salt;
      for (int64_t i = 0; i < count; ++i) {
        std::byte rounded[2];
        storeElement(shape.dtype, rounded, 0, elementAt(i, salt));
        all[name].push_back(loadElement(shape.dtype, rounded, 0));
      }
    }
    all["out"] = all["cotangent"];
    all["dq"].assign(all["q"].size(), 0);
    all["dk"].assign(all["k"].size(), 0);
    all["dv"].assign(all["v"].size(), 0);
    all["logsumexp"].assign(heads * rows, 0);
    all["delta"].assign(heads * rows, 0);
    for (int64_t b = 0; b < samples; ++b) {
      for (int64_t h = 0; h < keyHeads * group; ++h) {
        for (int64_t row = 0; row < rows; ++row) {
          addRow(b, h, row);
        }
      }
    }
  }

  AttentionValues all;

private:
  void addRow(int64_t b, int64_t h, int64_t row) {
    const auto &[samples, keyHeads, group, rows, columns, depth, values] =
        sizes;
    int64_t heads = keyHeads * group, atRow = (b * heads + h) * rows + row;
    int64_t atQ = ((b * rows + row) * heads + h) * depth;
    auto atK = [&, &keyHeads = keyHeads, &columns = columns,
                &group = group](int64_t column, int64_t features) {
      return ((b * columns + column) * keyHeads + h / group) * features;
    };
    std::vector<double> p(columns);
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      double score = 0;
      for (int64_t d = 0; d < depth; ++d) {
        score += shape.scale * all["q"][atQ + d] * all["k"][atK(c, depth) + d];
      }
      bool isHidden = shape.isCausal && c > row + shape.shift;
      sum += p[c] = isHidden ? 0 : std::exp(score);
    }
    all["logsumexp"][atRow] = std::log(sum);
    double delta = 0;
    for (int64_t x = 0; x < values; ++x) {
      double out = 0;
      for (int64_t c = 0; c < columns; ++c) {
        out += p[c] / sum * all["v"][atK(c, values) + x];
      }
      all["out"][atRow * values + x] = out;
      delta += out * all["cotangent"][atRow * values + x];
    }
    all["delta"][atRow] = delta;
    for (int64_t c = 0; c < columns; ++c) {
      double product = 0;
      for (int64_t x = 0; x < values; ++x) {
        double g = all["cotangent"][atRow * values + x];
        product += g * all["v"][atK(c, values) + x];
        all["dv"][atK(c, values) + x] += p[c] / sum * g;
      }
      double ds = shape.scale * p[c] / sum * (product - delta);
      for (int64_t d = 0; d < depth; ++d) {
        all["dq"][atQ + d] += ds * all["k"][atK(c, depth) + d];
        all["dk"][atK(c, depth) + d] += ds * all["q"][atQ + d];
      }
    }
  }

  const AttentionSizes sizes;
  const AttentionShape &shape;
};

class CudaAttentionTest : public testing::TestWithParam<WorldKind> {
protected:
  Result<const LibraryOp *> prepare(const AttentionShape &shape) {
    return device.prepare({"attend", shape, 1, workspaceBytes});
  }

  /// The greatest difference of any result from plain sums.
  double greatestError(const AttentionSizes &sizes,
                       const AttentionShape &shape) {
    Result<const LibraryOp *> op = prepare(shape);
    if (!op.ok()) {
      ADD_FAILURE() << op.message();
      return INFINITY;
    }
    AttentionOracle oracle(sizes, shape);
    std::vector<LibraryOperand> operands = operandsOf(shape);
    std::vector<uint64_t> places;
    uint64_t end = 0;
    for (const LibraryOperand &operand : operands) {
      places.push_back(end);
      end += (oracle.all[operand.name].size() * 4 + 255) / 256 * 256;
    }
    Mirror mirror(*world, device, end + workspaceBytes);
    std::vector<void *> buffers;
    for (size_t i = 0; i < operands.size(); ++i) {
      std::byte *here = mirror.host() + places[i];
      const std::vector<double> &values = oracle.all[operands[i].name];
      for (size_t j = 0; operands[i].isRead && j < values.size(); ++j) {
        storeElement(operands[i].dtype, here, static_cast<int64_t>(j),
                     values[j]);
      }
      buffers.push_back(mirror.at(here));
    }
    EXPECT_TRUE(mirror.push().ok());
    if (world->beginStep(steps++)) {
      device.call(stream, **op, buffers.data(),
                  static_cast<uint32_t>(buffers.size()),
                  mirror.at(mirror.host() + end), attentionOrigin);
    }
    EXPECT_TRUE(world->submit().ok());
    Status status = world->drain(std::chrono::seconds(20));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(mirror.pull().ok());
    double worst = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::vector<double> &values = oracle.all[operands[i].name];
      for (size_t j = 0; operands[i].isWritten && j < values.size(); ++j) {
        double found = loadElement(operands[i].dtype, mirror.host() + places[i],
                                   static_cast<int64_t>(j));
        double error = std::abs(found - values[j]);
        worst = error <= worst ? worst : error; // Also of what is no number.
      }
    }
    return worst;
  }

  /// Forward and gradient; weights and factors of 8 or 11 bits.
  void expectRight(const AttentionSizes &sizes, bool isCausal, int64_t shift,
                   const char *what) {
    for (DType type : {DType::bf16, DType::f16}) {
      for (bool isGradient : {false, true}) {
        AttentionShape shape = makeAttention(sizes, isGradient);
        shape.dtype = type;
        shape.isCausal = isCausal;
        shape.shift = shift;
        EXPECT_LE(greatestError(sizes, shape),
                  type == DType::bf16 ? 3e-2 : 4e-3)
            << what << ", " << nameOf(type)
            << (isGradient ? ", gradient" : ", forward");
      }
    }
  }

  std::unique_ptr<World> world = GetParam().make(1);
  Device &device = world->device(0);
  Stream &stream = **device.stream({"s", 0, 1, 16});
  uint64_t steps = 0;
  const uint64_t workspaceBytes = 1 << 21;
};

TEST_P(CudaAttentionTest, ForwardAndGradient) {
  expectRight({2, 3, 1, 5, 5, 8, 8}, false, 0, "all");
  expectRight({2, 3, 1, 5, 5, 8, 8}, true, 0, "causal");
  expectRight({1, 2, 1, 3, 6, 8, 16}, true, 3, "after a prefix");
  expectRight({2, 2, 3, 7, 4, 16, 8}, true, 0, "groups");
  expectRight({1, 1, 4, 2, 9, 8, 8}, false, 0, "one key");
}

TEST_P(CudaAttentionTest, WhatCudnnLacksIsRefused) {
  AttentionShape shape = makeAttention({1, 1, 1, 4, 4, 8, 8}, false);
  shape.hasOffset = shape.isCausal = true;
  Status status = prepare(shape).status();
  EXPECT_EQ(exitCode(status.kind()), 15);
  EXPECT_EQ(status.message(),
            "cuDNN cannot compute attention 'attend': expected a diagonal that "
            "stands where the plan says, got one with an offset of the device");
  shape.hasOffset = false;
  setenv("LLMC_STANDIN_CUDNN_ENGINES", "0", 1);
  status = prepare(shape).status();
  setenv("LLMC_STANDIN_CUDNN_ENGINES", "1", 1);
  if (status.ok()) {
    GTEST_SKIP() << "this machine's cuDNN is no stand-in";
  }
  EXPECT_EQ(exitCode(status.kind()), 15);
  EXPECT_NE(status.message().find(
                "that computes attention 'attend' in one order, in its own "
                "type, with 2097152 bytes of workspace, got none among 2"),
            std::string::npos)
      << status.message();
  setenv("LLMC_STANDIN_CUDNN_VERSION", "91500", 1);
  status = prepare(shape).status();
  unsetenv("LLMC_STANDIN_CUDNN_VERSION");
  EXPECT_EQ(status.message(), "expected cuDNN 91600 or later for attention "
                              "'attend', got 91500");
}

INSTANTIATE_TEST_SUITE_P(Worlds, CudaAttentionTest,
                         testing::ValuesIn(cudaWorlds({})),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
