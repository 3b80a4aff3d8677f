//===- WalkthroughKernels.cpp - Kernels of the walkthrough's plan ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain functions with a manifest, as code generation makes them, for 4 local
// samples, width 4 and 5 local rows of the vocabulary. Built as a shared object
// and loaded by the executor.
//
//===----------------------------------------------------------------------===//

#include "WalkthroughKernels.h"

#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"

#include <cmath>
#include <cstring>

using namespace llmc::rt::test;

template <typename T> static T *at(void *const *pointers, int i) {
  return static_cast<T *>(pointers[i]);
}

#define KERNEL(name)                                                           \
  extern "C" void name(void *const *p, const int64_t *s, int64_t begin,        \
                       int64_t end, void *)

// (tok, E) -> x0p[i] = E[tok[i] - off], or zero where the row lives elsewhere
KERNEL(k_embed) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t row = at<int32_t>(p, 0)[i] - s[0];
    bool here = row >= 0 && row < localVocabulary;
    for (int j = 0; j < width; ++j) {
      at<float>(p, 2)[i * width + j] =
          here ? at<float>(p, 1)[row * width + j] : 0.0f;
    }
  }
}

// abc -> h = tanh(a) b + c
KERNEL(k_h) {
  for (int64_t i = begin; i < end; ++i) {
    const float *abc = at<float>(p, 0) + i * 6;
    for (int j = 0; j < 2; ++j) {
      at<float>(p, 1)[i * 2 + j] = std::tanh(abc[j]) * abc[2 + j] + abc[4 + j];
    }
  }
}

// lg -> greatest of each row
KERNEL(k_rowmax) {
  for (int64_t i = begin; i < end; ++i) {
    const float *lg = at<float>(p, 0) + i * localVocabulary;
    float most = lg[0];
    for (int j = 1; j < localVocabulary; ++j) {
      most = lg[j] > most ? lg[j] : most;
    }
    at<float>(p, 1)[i] = most;
  }
}

// (lg, max, tgt) -> sum of exp(lg - max), lg[tgt - off]
KERNEL(k_expsum) {
  for (int64_t i = begin; i < end; ++i) {
    const float *lg = at<float>(p, 0) + i * localVocabulary;
    float sum = 0;
    for (int j = 0; j < localVocabulary; ++j) {
      sum += std::exp(lg[j] - at<float>(p, 1)[i]);
    }
    int64_t row = at<int32_t>(p, 2)[i] - s[0];
    at<float>(p, 3)[i] = sum;
    at<float>(p, 4)[i] = row >= 0 && row < localVocabulary ? lg[row] : 0.0f;
  }
}

// (sum, max, pick) -> lse; loss sum and count grow
KERNEL(k_lse) {
  for (int i = 0; i < localBatch; ++i) {
    float lse = std::log(at<float>(p, 0)[i]) + at<float>(p, 1)[i];
    at<float>(p, 3)[i] = lse;
    at<float>(p, 4)[0] += lse - at<float>(p, 2)[i];
  }
  at<float>(p, 5)[0] += localBatch;
}

// (lg, lse, tgt) -> exp(lg - lse) - onehot(tgt - off)
KERNEL(k_dlg) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t row = at<int32_t>(p, 2)[i] - s[0];
    for (int j = 0; j < localVocabulary; ++j) {
      int64_t k = i * localVocabulary + j;
      float one = j == row ? 1.0f : 0.0f;
      at<float>(p, 3)[k] =
          std::exp(at<float>(p, 0)[k] - at<float>(p, 1)[i]) - one;
    }
  }
}

// (dh, abc) -> da, db, dc in place of abc
KERNEL(k_dabc) {
  for (int64_t i = begin; i < end; ++i) {
    float *abc = at<float>(p, 1) + i * 6;
    for (int j = 0; j < 2; ++j) {
      float dh = at<float>(p, 0)[i * 2 + j], t = std::tanh(abc[j]);
      abc[j] = dh * abc[2 + j] * (1 - t * t);
      abc[2 + j] = dh * t;
      abc[4 + j] = dh;
    }
  }
}

// (tok, dx1, s) -> gE[tok[i] - off] += dx1[i] + s[i]; foreign rows are dropped
KERNEL(k_emb_bwd) {
  for (int i = 0; i < localBatch; ++i) {
    int64_t row = at<int32_t>(p, 0)[i] - s[0];
    for (int j = 0; j < width && row >= 0 && row < localVocabulary; ++j) {
      at<float>(p, 3)[row * width + j] +=
          at<float>(p, 1)[i * width + j] + at<float>(p, 2)[i * width + j];
    }
  }
}

static float squares(const float *g, int n, float count) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += (g[i] / count) * (g[i] / count);
  }
  return sum;
}

// (gE, gW1, gW2, count) -> sum of squares; E and W2 count on one copy only
KERNEL(k_sumsq) {
  float count = *at<float>(p, 3);
  *at<float>(p, 4) = (s[0] ? squares(at<float>(p, 0), 20, count) : 0.0f) +
                     squares(at<float>(p, 1), 12, count) +
                     (s[1] ? squares(at<float>(p, 2), 8, count) : 0.0f);
}

// (g, n2, count, lr, t) -> w, m, v
static void adamw(void *const *p, int n) {
  double norm = std::sqrt(*at<float>(p, 1));
  float count = *at<float>(p, 2), lr = *at<float>(p, 3);
  double t = *at<int32_t>(p, 4);
  auto scale = static_cast<float>(norm > clip ? clip / norm : 1);
  auto b1 = static_cast<float>(beta1), b2 = static_cast<float>(beta2);
  auto c1 = static_cast<float>(1 - std::pow(beta1, t));
  auto c2 = static_cast<float>(1 - std::pow(beta2, t));
  for (int i = 0; i < n; ++i) {
    float g = at<float>(p, 0)[i] / count * scale;
    float &w = at<float>(p, 5)[i], &m = at<float>(p, 6)[i];
    float &v = at<float>(p, 7)[i];
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    w -= lr * ((m / c1) / (std::sqrt(v / c2) + static_cast<float>(epsilon)) +
               static_cast<float>(decay) * w);
  }
}

KERNEL(k_adamw_20) { adamw(p, 20); }
KERNEL(k_adamw_12) { adamw(p, 12); }
KERNEL(k_adamw_8) { adamw(p, 8); }

// (loss sum, count, squares) -> loss, gradient norm
KERNEL(k_final) {
  *at<float>(p, 3) = *at<float>(p, 0) / *at<float>(p, 1);
  *at<float>(p, 4) = std::sqrt(*at<float>(p, 2));
}

// The manifest, written into its symbol when the object is loaded.
namespace {
using namespace llmc::rt;
using namespace llmc::rt::plan;

KernelArgument in(int64_t elements, DType type = DType::f32) {
  return {type, Access::read, 4 * elements};
}
KernelArgument out(int64_t elements) {
  return {DType::f32, Access::write, 4 * elements};
}
KernelArgument both(int64_t elements) {
  return {DType::f32, Access::readWrite, 4 * elements};
}
KernelInfo adamwInfo(const char *name, int64_t n) {
  return {name,
          {in(n), in(1), in(1), in(1), in(1, DType::i32), both(n), both(n),
           both(n)},
          {},
          {},
          1,
          0};
}

Manifest makeManifest() {
  KernelArgument ids = in(4, DType::i32);
  Interval offset{0, localVocabulary}, flag{0, 1};
  Manifest manifest;
  manifest.kernels = {
      {"k_embed", {ids, in(20), out(16)}, {offset}, {}, 4, 0},
      {"k_h", {in(24), out(8)}, {}, {}, 4, 0},
      {"k_rowmax", {in(20), out(4)}, {}, {}, 4, 0},
      {"k_expsum", {in(20), in(4), ids, out(4), out(4)}, {offset}, {}, 4, 0},
      {"k_lse", {in(4), in(4), in(4), out(4), both(1), both(1)}, {}, {}, 1, 0},
      {"k_dlg", {in(20), in(4), ids, out(20)}, {offset}, {}, 4, 0},
      {"k_dabc", {in(8), both(24)}, {}, {}, 4, 0},
      {"k_emb_bwd", {ids, in(16), in(16), both(20)}, {offset}, {}, 1, 0},
      {"k_sumsq",
       {in(20), in(12), in(8), in(1), out(1)},
       {flag, flag},
       {},
       1,
       0},
      adamwInfo("k_adamw_20", 20),
      adamwInfo("k_adamw_12", 12),
      adamwInfo("k_adamw_8", 8),
      {"k_final", {in(1), in(1), in(1), out(1), out(1)}, {}, {}, 1, 0},
  };
  manifest.setObjectCode();
  return manifest;
}
} // namespace

extern "C" {
alignas(16) char llmc_kernel_manifest[8192];
}

__attribute__((constructor)) static void writeManifest() {
  std::string bytes = serializeManifest(makeManifest());
  if (bytes.size() <= sizeof(llmc_kernel_manifest)) {
    std::memcpy(llmc_kernel_manifest, bytes.data(), bytes.size());
  }
}
