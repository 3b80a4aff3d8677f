//===- WalkthroughReference.h - The walkthrough's model on one device -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same model, plainly: no mesh, no parts, no schedule. Written from the
// model's formulas, and shares no code with the plan's kernels.
//
//   x = E[tok];  y = x W1;  h = tanh(a) b + c;  x1 = x + h W2
//   loss = mean over the step of logsumexp(x1 Eᵀ) - (x1 Eᵀ)[tgt]
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHREFERENCE_H
#define LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHREFERENCE_H

#include "WalkthroughKernels.h"

#include <cmath>
#include <vector>

namespace llmc::rt::test {

template <typename T> class Reference {
public:
  struct Parameter {
    std::vector<T> w, g, m, v;
    void resize(size_t n) {
      for (auto *list : {&w, &g, &m, &v}) {
        list->assign(n, T(0));
      }
    }
  };
  Parameter E, W1, W2; // [10, 4] [4, 12] [4, 4]
  T loss = 0, norm = 0;

  Reference() {
    E.resize(40);
    W1.resize(48);
    W2.resize(16);
  }

  /// One step over the microbatches' (token, target) pairs.
  void step(const std::vector<std::pair<int, int>> &samples, T lr, int t) {
    for (Parameter *p : {&E, &W1, &W2}) {
      p->g.assign(p->g.size(), T(0));
    }
    loss = 0;
    for (const auto &[tok, tgt] : samples) {
      sample(tok, tgt);
    }
    T count = static_cast<T>(samples.size()), squares = 0;
    for (Parameter *p : {&E, &W1, &W2}) {
      for (T &g : p->g) {
        g /= count;
        squares += g * g;
      }
    }
    loss /= count;
    norm = std::sqrt(squares);
    T scale = norm > T(clip) ? T(clip) / norm : T(1);
    for (Parameter *p : {&E, &W1, &W2}) {
      update(*p, scale, lr, t);
    }
  }

private:
  void sample(int tok, int tgt) {
    T x[4], y[12], h[4], x1[4], lg[10], dx1[4] = {}, dh[4] = {}, dy[12];
    for (int j = 0; j < 4; ++j) {
      x[j] = E.w[tok * 4 + j];
    }
    for (int j = 0; j < 12; ++j) {
      y[j] = 0;
      for (int k = 0; k < 4; ++k) {
        y[j] += x[k] * W1.w[k * 12 + j];
      }
    }
    for (int j = 0; j < 4; ++j) {
      h[j] = std::tanh(y[j]) * y[4 + j] + y[8 + j];
    }
    for (int j = 0; j < 4; ++j) {
      x1[j] = x[j];
      for (int k = 0; k < 4; ++k) {
        x1[j] += h[k] * W2.w[k * 4 + j];
      }
    }
    T sum = 0;
    for (int r = 0; r < 10; ++r) {
      lg[r] = 0;
      for (int j = 0; j < 4; ++j) {
        lg[r] += x1[j] * E.w[r * 4 + j];
      }
      sum += std::exp(lg[r]);
    }
    loss += std::log(sum) - lg[tgt];
    for (int r = 0; r < 10; ++r) {
      T dlg = std::exp(lg[r]) / sum - (r == tgt ? T(1) : T(0));
      for (int j = 0; j < 4; ++j) {
        E.g[r * 4 + j] += dlg * x1[j];
        dx1[j] += dlg * E.w[r * 4 + j];
      }
    }
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) {
        W2.g[k * 4 + j] += h[k] * dx1[j];
        dh[k] += dx1[j] * W2.w[k * 4 + j];
      }
    }
    for (int j = 0; j < 4; ++j) {
      T th = std::tanh(y[j]);
      dy[j] = dh[j] * y[4 + j] * (1 - th * th);
      dy[4 + j] = dh[j] * th;
      dy[8 + j] = dh[j];
    }
    for (int k = 0; k < 4; ++k) {
      T dx = dx1[k];
      for (int j = 0; j < 12; ++j) {
        W1.g[k * 12 + j] += x[k] * dy[j];
        dx += dy[j] * W1.w[k * 12 + j];
      }
      E.g[tok * 4 + k] += dx;
    }
  }

  static void update(Parameter &p, T scale, T lr, int t) {
    for (size_t i = 0; i < p.w.size(); ++i) {
      T g = p.g[i] * scale;
      p.m[i] = T(beta1) * p.m[i] + T(1 - beta1) * g;
      p.v[i] = T(beta2) * p.v[i] + T(1 - beta2) * g * g;
      T mHat = p.m[i] / T(1 - std::pow(beta1, t));
      T vHat = p.v[i] / T(1 - std::pow(beta2, t));
      p.w[i] -=
          lr * (mHat / (std::sqrt(vHat) + T(epsilon)) + T(decay) * p.w[i]);
    }
  }
};

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHREFERENCE_H
