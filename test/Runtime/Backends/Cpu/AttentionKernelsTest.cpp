//===- AttentionKernelsTest.cpp - Tiles for each kind of vector -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every set of kernels that this processor runs, not only the best.
//
//===----------------------------------------------------------------------===//

#include "Attention/AttentionKernels.h"

#include "llmc/Runtime/Base/RandomBits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace llmc::rt::test {
namespace {

template <typename T> class AttentionKernels : public testing::Test {
protected:
  using Kernels = cpu::AttentionKernels<T>;

  template <typename Check> void forEach(const Check &check) {
    const Kernels *list[3];
    int count = cpu::listAttentionKernels(list);
    ASSERT_GE(count, 1);
    EXPECT_EQ(list[0], &cpu::attentionKernels<T>());
    for (int i = 0; i < count; ++i) {
      check(*list[i]);
    }
  }
  /// In [-1, 1].
  static std::vector<T> waves(int64_t count, double step) {
    std::vector<T> values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(static_cast<T>(std::sin(step * double(i) + step)));
    }
    return values;
  }
  static constexpr T exact = std::numeric_limits<T>::epsilon();
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionKernels, Types, );

TYPED_TEST(AttentionKernels, Products) {
  this->forEach([&](const auto &kernels) {
    int64_t panel = kernels.panel, m = 2 * kernels.block, n = 2 * panel, k = 7;
    auto a = this->waves(m * 11, 0.3), b = this->waves(2 * 9 * panel, 0.7);
    for (bool isTurned : {false, true}) {
      for (bool isAdded : {false, true}) {
        int64_t aRow = isTurned ? 1 : 11, aStep = isTurned ? m : 1;
        auto c = this->waves(m * n, 1.1), before = c;
        kernels.multiply({m, n, k, a.data(), aRow, aStep, b.data(), 9 * panel,
                          c.data(), n, panel, isAdded});
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            double sum = isAdded ? before[i * n + j] : 0;
            for (int64_t l = 0; l < k; ++l) {
              sum += double(a[i * aRow + l * aStep]) *
                     double(b[j / panel * 9 * panel + l * panel + j % panel]);
            }
            ASSERT_NEAR(c[i * n + j], sum, 16 * this->exact);
          }
        }
      }
    }
  });
}

// 2^x of what a score lies below the greatest: in 2 units in the last place.
TYPED_TEST(AttentionKernels, Powers) {
  using T = TypeParam;
  this->forEach([&](const auto &kernels) {
    int64_t panel = kernels.panel;
    std::vector<T> greatest(panel), sum(panel), factor(panel), scores(panel);
    for (double x = -126; x <= 0; x += 0.0137) {
      std::fill(scores.begin(), scores.end(), static_cast<T>(x));
      std::fill(greatest.begin(), greatest.end(), T(0));
      kernels.softmax({scores.data(), panel, 1, nullptr, nullptr},
                      greatest.data(), sum.data(), factor.data());
      double power = std::exp2(double(static_cast<T>(x)));
      ASSERT_NEAR(scores[panel - 1], power, 2 * power * this->exact) << x;
    }
    T infinity = static_cast<T>(INFINITY);
    scores.assign(panel, T(0));
    scores[0] = -infinity;
    scores[1] = static_cast<T>(NAN);
    scores[2] = static_cast<T>(3000);
    scores[3] = static_cast<T>(-3000);
    std::vector<T> terms(panel, T(1)), none(panel);
    kernels.grade({scores.data(), panel, 1, nullptr, nullptr}, terms.data(), 1,
                  none.data(), none.data());
    EXPECT_EQ(scores[0], 0);
    EXPECT_TRUE(std::isnan(scores[1]));
    EXPECT_EQ(scores[2], infinity);
    EXPECT_EQ(scores[3], 0);
  });
}

/// Scores, a bias and the limits of lanes, as plain numbers.
template <typename T> struct Case {
  explicit Case(int64_t panel, int64_t row)
      : scores(count * row), bias(count * row), limit(panel) {
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = static_cast<T>(3 * std::sin(0.9 * double(i)));
      bias[i] = static_cast<T>(std::sin(1.7 * double(i)));
    }
    for (int64_t i = 0; i < panel; ++i) {
      limit[i] = static_cast<T>(i % (count + 1));
    }
  }
  double at(int64_t place, int64_t c, int64_t lane) const {
    return double(c) < double(limit[lane])
               ? double(scores[place]) + double(bias[place])
               : -INFINITY;
  }
  static constexpr int64_t count = 5;
  std::vector<T> scores, bias, limit;
};

// Two tiles after one another: of a lane that has seen nothing the sum is 0.
TYPED_TEST(AttentionKernels, Softmax) {
  using T = TypeParam;
  this->forEach([&](const auto &kernels) {
    int64_t panel = kernels.panel, row = panel + 4;
    Case<T> before(panel, row), tile = before;
    std::vector<T> greatest(panel, static_cast<T>(-INFINITY)), sum(panel),
        factor(panel), seen(panel);
    kernels.softmax({tile.scores.data(), row, tile.count, tile.bias.data(),
                     tile.limit.data()},
                    greatest.data(), sum.data(), factor.data());
    for (int64_t lane = 0; lane < panel; ++lane) {
      double most = -INFINITY, total = 0;
      for (int64_t c = 0; c < tile.count; ++c) {
        most = std::max(most, before.at(c * row + lane, c, lane));
      }
      for (int64_t c = 0; c < tile.count; ++c) {
        double x = before.at(c * row + lane, c, lane);
        double p = x > -INFINITY ? std::exp2(x - most) : 0;
        total += p;
        ASSERT_NEAR(tile.scores[c * row + lane], p, 16 * this->exact);
      }
      ASSERT_EQ(std::isinf(greatest[lane]), lane % (tile.count + 1) == 0);
      ASSERT_NEAR(sum[lane], total, 32 * this->exact);
    }
    // The next tile has a score that is 2 above all.
    std::vector<T> next(panel), was = sum;
    for (int64_t lane = 0; lane < panel; ++lane) {
      next[lane] = std::isinf(greatest[lane]) ? T(1) : greatest[lane] + 2;
    }
    kernels.softmax({next.data(), panel, 1, nullptr, nullptr}, greatest.data(),
                    sum.data(), factor.data());
    for (int64_t lane = 0; lane < panel; ++lane) {
      bool isFirst = lane % (tile.count + 1) == 0;
      ASSERT_NEAR(factor[lane], isFirst ? 0 : 0.25, 4 * this->exact);
      ASSERT_NEAR(sum[lane], 1 + was[lane] / 4, 16 * this->exact);
    }
  });
}

TYPED_TEST(AttentionKernels, Gradients) {
  using T = TypeParam;
  this->forEach([&](const auto &kernels) {
    int64_t panel = kernels.panel, row = panel + 4;
    Case<T> before(panel, row), tile = before;
    std::vector<T> terms = this->waves((tile.count + 2) * row, 0.4);
    tile.scores.resize(terms.size(), T(9));
    std::vector<T> was = terms, logsumexp = this->waves(panel, 0.2),
                   delta = this->waves(panel, 0.6);
    kernels.grade({tile.scores.data(), row, tile.count, tile.bias.data(),
                   tile.limit.data()},
                  terms.data(), tile.count + 2, logsumexp.data(), delta.data());
    for (int64_t lane = 0; lane < panel; ++lane) {
      for (int64_t c = 0; c < tile.count + 2; ++c) {
        int64_t at = c * row + lane;
        double x = c < tile.count ? before.at(at, c, lane) : -INFINITY;
        double p = std::exp2(x - double(logsumexp[lane]));
        double ds = p * (double(was[at]) - double(delta[lane]));
        ASSERT_NEAR(tile.scores[at], p, 16 * (p + 1) * this->exact);
        ASSERT_NEAR(terms[at], ds, 32 * (p + 1) * this->exact);
      }
    }
  });
}

// Counters of 64 bits, whose high half changes from lane to lane.
TYPED_TEST(AttentionKernels, RandomBits) {
  using T = TypeParam;
  uint64_t key = 0x0123456789abcdef, counter = 0xfffffffa;
  for (auto bits :
       {RandomBits::threefry, RandomBits::jax32, RandomBits::jax64}) {
    for (bool keepsBelow : {false, true}) {
      bool isXored = bits == RandomBits::jax32;
      uint64_t limit = isXored ? 0x60000000 : 0x6000000000000001;
      Dropout dropout{bits, keepsBelow, limit, 1.25};
      this->forEach([&](const auto &kernels) {
        int64_t panel = kernels.panel, row = panel + 4, count = 40;
        std::vector<T> factors(count * row, T(9));
        kernels.draw(
            {{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)},
             counter,
             3,
             uint64_t(1) << 31,
             row,
             count,
             bits != RandomBits::threefry,
             isXored,
             keepsBelow,
             isXored ? limit << 32 : limit,
             T(1.25),
             factors.data()});
        for (int64_t i = 0; i < count * row; ++i) {
          uint64_t c = i / row, lane = i % row;
          uint64_t drawn = drawBits(bits, key, counter + 3 * c + (lane << 31));
          double expected =
              int64_t(lane) < panel ? factorOf(dropout, drawn) : 9;
          ASSERT_EQ(factors[i], expected) << nameOf(bits) << " " << i;
        }
      });
    }
  }
}

// The limit is compared in all of its bits: its neighbours decide otherwise.
TYPED_TEST(AttentionKernels, LimitsOfRandomBits) {
  using T = TypeParam;
  uint64_t drawn = drawBits(RandomBits::jax64, 5, 7);
  this->forEach([&](const auto &kernels) {
    for (int64_t beyond : {-1, 0, 1}) {
      std::vector<T> factors(kernels.panel);
      kernels.draw({{5, 0},
                    7,
                    0,
                    0,
                    0,
                    1,
                    true,
                    false,
                    true,
                    drawn + uint64_t(beyond),
                    T(2),
                    factors.data()});
      EXPECT_EQ(factors[0], beyond > 0 ? 2 : 0);
    }
  });
}

// What is dropped is 0, even a NaN; sums know no factors.
TYPED_TEST(AttentionKernels, Factors) {
  using T = TypeParam;
  this->forEach([&](const auto &kernels) {
    int64_t panel = kernels.panel;
    std::vector<T> scores(2 * panel, T(0)), factors(2 * panel, T(3)),
        greatest(panel, T(0)), sum(panel), factor(panel), delta(panel, T(1));
    factors[1] = 0;
    scores[2] = static_cast<T>(NAN);
    factors[2] = 0;
    std::vector<T> before = scores, terms(2 * panel, T(5));
    kernels.softmax({scores.data(), panel, 2, nullptr, nullptr, factors.data()},
                    greatest.data(), sum.data(), factor.data());
    EXPECT_EQ(scores[0], 3);
    EXPECT_EQ(scores[1], 0);
    EXPECT_EQ(scores[2], 0);
    EXPECT_EQ(sum[1], 2);
    scores = before;
    std::vector<T> none(panel);
    kernels.grade({scores.data(), panel, 2, nullptr, nullptr, factors.data()},
                  terms.data(), 2, none.data(), delta.data());
    EXPECT_EQ(scores[0], 3);
    EXPECT_EQ(terms[0], 14);
    EXPECT_EQ(scores[1], 0);
    EXPECT_EQ(terms[1], -1);
    EXPECT_EQ(scores[2], 0);
  });
}

TYPED_TEST(AttentionKernels, Moves) {
  using T = TypeParam;
  this->forEach([&](const auto &kernels) {
    int64_t panel = kernels.panel, n = panel + 3, row = n + 2, k = 5;
    std::vector<T> matrix = this->waves(n * row, 0.3);
    std::vector<T> packed(2 * 7 * panel, T(9));
    kernels.pack(matrix.data(), row, k, n, 7, packed.data());
    for (int64_t j = 0; j < 2 * panel; ++j) {
      for (int64_t i = 0; i < 7; ++i) {
        T expected = i < k && j < n ? matrix[i * row + j] : T(0);
        ASSERT_EQ(packed[(j / panel * 7 + i) * panel + j % panel], expected);
      }
    }
    for (int64_t rows : {int64_t(1), panel / 2, panel - 1, panel}) {
      for (int64_t depth : {int64_t(1), panel / 2, panel, n}) {
        std::vector<T> turned(depth * panel, T(9));
        kernels.packTransposed(matrix.data(), row, rows, depth, T(2),
                               turned.data());
        for (int64_t i = 0; i < depth * panel; ++i) {
          T expected =
              i % panel < rows ? 2 * matrix[i % panel * row + i / panel] : T(0);
          ASSERT_EQ(turned[i], expected);
        }
      }
    }
    std::vector<T> factor = {1, 2, 3}, scaled(3 * 2 * panel, T(1));
    kernels.scale(scaled.data(), 2 * panel, 3, panel, factor.data());
    for (int64_t i = 0; i < 3 * 2 * panel; ++i) {
      ASSERT_EQ(scaled[i],
                i % (2 * panel) < panel ? factor[i / (2 * panel)] : 1);
    }
  });
}

} // namespace
} // namespace llmc::rt::test
