//===- ManifestTest.cpp - What a checkpoint says of itself ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/Manifest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace llmc::rt {
namespace {

CheckpointManifest sample() {
  CheckpointManifest manifest;
  manifest.step = 20;
  manifest.entry = "train";
  manifest.seed = std::numeric_limits<uint64_t>::max();
  manifest.mesh = "data=2";
  manifest.plan = "0123456789abcdef";
  manifest.version = "0.1.0";
  manifest.metrics = {{"loss", 0.1}, {"norm", INFINITY}};
  manifest.files = {{"process-00000.safetensors", 100, 0xfedcba9876543210u}};
  manifest.tensors = {{"w", DType::f32, {2, 3}, "parameter", ""},
                      {"w.m", DType::f64, {}, "optimizer", "w"}};
  return manifest;
}

TEST(Manifest, IsReadAsItWasWritten) {
  Result<CheckpointManifest> read = parseManifest(printManifest(sample()));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(printManifest(*read), printManifest(sample()));
  EXPECT_EQ(read->step, 20);
  EXPECT_EQ(read->seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(read->files.at(0).hash, 0xfedcba9876543210u);
  EXPECT_EQ(read->metrics.at("loss"), 0.1);
  EXPECT_TRUE(std::isnan(read->metrics.at("norm")));
  EXPECT_EQ(read->tensors.at(1).of, "w");
  EXPECT_EQ(read->tensors.at(1).dtype, DType::f64);
}

// A word of its text or a byte less is another one, or none.
TEST(Manifest, EveryChangeIsSeen) {
  const std::string text = printManifest(sample());
  for (size_t length = 0; length < text.size() - 2; ++length) {
    EXPECT_EQ(parseManifest(text.substr(0, length)).kind(),
              ErrorKind::malformed);
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == '7' ? '8' : '7';
    Result<CheckpointManifest> read = parseManifest(changed);
    EXPECT_TRUE(!read || printManifest(*read) == text) << at;
  }
}

// One that another program has signed is no more trusted.
TEST(Manifest, FilesStayInTheFolder) {
  for (const char *name : {"", "../x", "/etc/passwd", "a/b", ".."}) {
    CheckpointManifest manifest = sample();
    manifest.files[0].name = name;
    Result<CheckpointManifest> read = parseManifest(printManifest(manifest));
    ASSERT_EQ(read.kind(), ErrorKind::malformed) << name;
    EXPECT_EQ(read.message(), "expected the manifest of a checkpoint, got one "
                              "without a sound field 'files.name'");
  }
}

TEST(Manifest, SaysWhatIsWrong) {
  EXPECT_EQ(parseManifest("[]").message(),
            "expected the manifest of a checkpoint, got text that is no JSON "
            "object");
  EXPECT_EQ(parseManifest(std::string(1 << 20, '[')).kind(),
            ErrorKind::malformed);
  EXPECT_EQ(parseManifest(R"({"format": "x", "format_version": 9})").message(),
            "expected the manifest of a checkpoint, got format 'x' of version "
            "9");
}

} // namespace
} // namespace llmc::rt
