//===- Random.cpp - Random values that do not depend on the layout --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox, the inverse normal distribution, and the fills made of them. This
// file must be compiled without floating-point contraction.
//
// Test: test/Runtime/Base/RandomTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Random.h"

#include "llmc/Runtime/Base/Hash.h"

#include <cmath>
#include <cstring>

namespace llmc::rt {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> x,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * x[0];
    uint64_t p1 = uint64_t(0xCD9E8D57u) * x[2];
    x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ key[0],
         static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ key[1],
         static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

RandomStream::RandomStream(uint64_t seed, std::string_view name)
    : seed_(seed), key_(hash64(name)) {}

uint64_t RandomStream::bits(uint64_t index) const {
  auto words = philox4x32(
      {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
       static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)},
      {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
  return words[0] | (uint64_t(words[1]) << 32);
}

double RandomStream::uniform(uint64_t index) const {
  return (static_cast<double>(bits(index) >> 12) + 0.5) * 0x1p-52;
}

uint64_t permute(uint64_t index, uint64_t count, uint64_t seed,
                 uint64_t epoch) {
  unsigned half = 1;
  while (half < 32 && (count - 1) >> (2 * half)) {
    ++half;
  }
  uint64_t mask = (uint64_t(1) << half) - 1;
  uint64_t left = index >> half, right = index & mask;
  do {
    for (uint32_t round = 0; round < 8; ++round) {
      auto words = philox4x32(
          {static_cast<uint32_t>(right), round, static_cast<uint32_t>(epoch),
           static_cast<uint32_t>(epoch >> 32)},
          {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
      uint64_t mixed = (left ^ words[0]) & mask;
      left = right;
      right = mixed;
    }
  } while ((left << half | right) >= count);
  return left << half | right;
}

/// ln(x) for normal x > 0, by ln(m 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1))
/// with m in [sqrt(1/2), sqrt(2)); the series stops below 1e-18.
static double logarithm(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  int exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
  double m;
  std::memcpy(&m, &bits, sizeof(m));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent += 1;
  }
  double s = (m - 1.0) / (m + 1.0);
  double z = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) {
    sum = sum * z + 1.0 / k;
  }
  return exponent * 0.69314718055994530942 + 2.0 * s * sum;
}

template <size_t n>
static double polynomial(const double (&coefficients)[n], double x) {
  double sum = coefficients[n - 1];
  for (size_t i = n - 1; i-- > 0;) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

/// The inverse of the normal distribution function (Wichura 1988, PPND16).
/// Assumes 0 < p < 1.
static double inverseNormal(double p) {
  static constexpr double a[] = {
      3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
      3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double b[] = {1.0,
                                 4.2313330701600911252e1,
                                 6.8718700749205790830e2,
                                 5.3941960214247511077e3,
                                 2.1213794301586595867e4,
                                 3.9307895800092710610e4,
                                 2.8729085735721942674e4,
                                 5.2264952788528545610e3};
  static constexpr double c[] = {
      1.42343711074968357734e0,  4.63033784615654529590e0,
      5.76949722146069140550e0,  3.64784832476320460504e0,
      1.27045825245236838258e0,  2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[] = {1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
  static constexpr double e[] = {
      6.65790464350110377720e0,  5.46378491116411436990e0,
      1.78482653991729133580e0,  2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3,
      2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-logarithm(q < 0 ? p : 1.0 - p));
  double x;
  if (r <= 5.0) {
    r -= 1.6;
    x = polynomial(c, r) / polynomial(d, r);
  } else {
    r -= 5.0;
    x = polynomial(e, r) / polynomial(f, r);
  }
  return q < 0 ? -x : x;
}

double RandomStream::normal(uint64_t index) const {
  return inverseNormal(uniform(index));
}

std::string_view nameOf(DrawKind kind) {
  switch (kind) {
  case DrawKind::zeros:
    return "zeros";
  case DrawKind::ones:
    return "ones";
  case DrawKind::constant:
    return "constant";
  case DrawKind::uniform:
    return "uniform";
  case DrawKind::normal:
    return "normal";
  case DrawKind::truncatedNormal:
    return "truncated_normal";
  }
  return "unknown";
}

double drawElement(const Draw &draw, const RandomStream &stream,
                   uint64_t index) {
  // The normal distribution function at -2: what lies below the truncation.
  constexpr double below = 0.022750131948179207;
  switch (draw.kind) {
  case DrawKind::zeros:
    return 0;
  case DrawKind::ones:
    return 1;
  case DrawKind::constant:
    return draw.a;
  case DrawKind::uniform:
    return draw.a + (draw.b - draw.a) * stream.uniform(index);
  case DrawKind::normal:
    return draw.a + draw.b * stream.normal(index);
  case DrawKind::truncatedNormal:
    return draw.a + draw.b * inverseNormal(below + (1.0 - 2.0 * below) *
                                                       stream.uniform(index));
  }
  return 0;
}

void drawSpan(const Draw &draw, const RandomStream &stream, uint64_t first,
              int64_t count, DType type, void *out) {
  for (int64_t i = 0; i < count; ++i) {
    storeElement(type, out, i, drawElement(draw, stream, first + i));
  }
}

} // namespace llmc::rt
