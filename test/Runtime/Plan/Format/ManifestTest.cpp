//===- ManifestTest.cpp - What a kernel object says of itself -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/KernelAbi.h"

#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;

TEST(Manifest, RoundTrip) {
  Manifest manifest = makeSampleManifest();
  manifest.features = {"avx2", "fma"};
  manifest.kernels[1].ties = {{0, 2}};
  manifest.kernels[1].scratchBytes = 100;
  std::string bytes = serializeManifest(manifest);
  auto back = parseManifest(bytes.data());
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(back->features, manifest.features);
  EXPECT_EQ(serializeManifest(*back), bytes);
  const KernelInfo *info = back->find("k_embed");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->arguments[0].dtype, DType::i32);
  EXPECT_EQ(info->scalars[0].high, 5);
  EXPECT_EQ(info->rows, 4);
  EXPECT_EQ(back->find("none"), nullptr);
}

TEST(Manifest, Empty) {
  std::string bytes = serializeManifest({});
  auto back = parseManifest(bytes.data(), bytes.size());
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(back->kernels.empty() && back->features.empty());
}

TEST(Manifest, DamageIsRefused) {
  std::string bytes = serializeManifest(makeSampleManifest());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(parseManifest(bytes.data(), size).kind(), ErrorKind::mismatch);
  }
  std::string bad = bytes;
  bad[0] = 'X';
  EXPECT_EQ(parseManifest(bad.data()).message(),
            "kernel manifest: bad magic number");
  bad = bytes;
  bad[8] = 9;
  EXPECT_EQ(parseManifest(bad.data()).message(),
            "kernel manifest: version 9, this runtime reads 1");
}

/// What is said of the sample's manifest after `breakIt`.
template <typename Break> static std::string parseBroken(Break breakIt) {
  Manifest manifest = makeSampleManifest();
  manifest.kernels[1].ties = {{0, 2}};
  breakIt(manifest);
  return parseManifest(serializeManifest(manifest).data()).message();
}

TEST(Manifest, MalformedKernelsAreRefused) {
  using M = Manifest;
  EXPECT_EQ(parseBroken([](M &) {}), "");
  auto argument = "kernel manifest: argument of 'k_loss' is malformed";
  EXPECT_EQ(parseBroken([](M &m) {
              m.kernels[1].arguments[1].dtype = static_cast<DType>(numDTypes);
            }),
            argument);
  EXPECT_EQ(parseBroken([](M &m) {
              m.kernels[1].arguments[1].access = static_cast<Access>(3);
            }),
            argument);
  EXPECT_EQ(
      parseBroken([](M &m) { m.kernels[1].arguments[1].extentBytes = -1; }),
      argument);
  EXPECT_EQ(
      parseBroken([](M &m) { m.kernels[1].arguments[1].extentBytes = 0; }), "");
  // The kernel has three arguments.
  EXPECT_EQ(parseBroken([](M &m) { m.kernels[1].ties = {{2, 2}}; }), "");
  auto tie = "kernel manifest: tie of 'k_loss' is malformed";
  EXPECT_EQ(parseBroken([](M &m) { m.kernels[1].ties = {{3, 2}}; }), tie);
  EXPECT_EQ(parseBroken([](M &m) { m.kernels[1].ties = {{0, 3}}; }), tie);
  auto size = "kernel manifest: 'k_loss' has malformed rows or scratch";
  EXPECT_EQ(parseBroken([](M &m) { m.kernels[1].rows = -1; }), size);
  EXPECT_EQ(parseBroken([](M &m) { m.kernels[1].rows = 0; }), "");
  EXPECT_EQ(parseBroken([](M &m) { m.kernels[1].scratchBytes = -1; }), size);
}

// The last kernel's ranges end where the tables end.
TEST(Manifest, RangesStayWithinTheirTables) {
  Manifest manifest = makeSampleManifest();
  manifest.kernels.back().scalars = {{0, 1}};
  manifest.kernels.back().ties = {{0, 1}};
  const std::string bytes = serializeManifest(manifest);
  using K = LlmcManifestKernel;
  auto parse = [&](uint32_t K::*member, uint32_t more) {
    std::string changed = bytes;
    char *at = changed.data() + sizeof(LlmcManifestHeader) +
               (manifest.kernels.size() - 1) * sizeof(K);
    K kernel;
    std::memcpy(&kernel, at, sizeof(K));
    kernel.*member += more;
    std::memcpy(at, &kernel, sizeof(K));
    return parseManifest(changed.data(), changed.size()).message();
  };
  for (auto member : {&K::firstArgument, &K::numArguments, &K::firstScalar,
                      &K::numScalars, &K::firstTie, &K::numTies}) {
    EXPECT_EQ(parse(member, 0), "");
    for (uint32_t more : {1u, 0x7fffffffu})
      EXPECT_EQ(parse(member, more),
                "kernel manifest: a kernel's range runs past its table");
  }
  EXPECT_EQ(parse(&K::name, 1000000),
            "kernel manifest: a kernel's range runs past its table");
}
