//===- ManifestTest.cpp - What a kernel object says of itself -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/KernelAbi.h"

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
