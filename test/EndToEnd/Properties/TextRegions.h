//===- TextRegions.h - Random manual regions, and what they are -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of one tensor, written three times: on the whole tensor, as a
// manual region of `sdy`, and as the calls that JAX prints without Shardy. All
// compute the same. In the region a device takes its part by its number, parts
// are gathered, exchanged, shifted, and summed over the devices, and another
// region may stand in it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_TEXTREGIONS_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_TEXTREGIONS_H

#include "TextShardings.h"

namespace llmc::test::text {

struct RegionTexts {
  /// Functions, the first of which has the name that was asked for.
  std::string whole, sdy, hlo;
  /// Of the result.
  Shape shape;
};

/// A region over some axes; nothing where they split no dimension evenly.
/// `isExact`: on integers it gives integers.
RegionTexts makeRegion(const TextMesh &mesh, const std::string &name,
                       const Shape &shape, bool isExact, Draw &draw);

/// A function that JAX prints apart (a sort, a cumulative sum, a convolution, a
/// scan), the same in all texts.
RegionTexts makeLibraryCall(const std::string &name, const Shape &shape,
                            Draw &draw);

} // namespace llmc::test::text

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_TEXTREGIONS_H
