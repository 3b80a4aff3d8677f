//===- Window.h - A window along one dimension ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reduce_window and convolution share. Along a dimension the input is
// first dilated (elements of padding between its own), then padded or, by
// negative amounts, cropped at both edges. The window stands at 0, stride,
// 2 stride, ... and sees `window` elements, each `windowDilation` after the one
// before.
//
//   size 5, low 1, window 3, stride 2:   (. 0 1) (1 2 3) (3 4 .)
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_WINDOW_H
#define LLMC_DIALECT_STABLEHLO_IR_WINDOW_H

#include <cstdint>
#include <optional>

namespace llmc::stablehlo {

struct WindowDim {
  int64_t size = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t low = 0, high = 0;
  int64_t baseDilation = 1, windowDilation = 1;
  /// The window's elements are taken from its end.
  bool isReversed = false;

  /// Where the window stands; nothing if a size is beyond 64 bits. Strides and
  /// dilations are at least 1.
  std::optional<int64_t> countPlaces() const;

  /// Positions that a convolution may reach: sums of a few are 64-bit numbers.
  static constexpr int64_t kMostPositions = int64_t(1) << 48;
  /// Elements, dilated, of input and window, `places` with their stride, and
  /// both edges.
  bool reachesLessThan(int64_t most, int64_t places) const;
};

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_WINDOW_H
