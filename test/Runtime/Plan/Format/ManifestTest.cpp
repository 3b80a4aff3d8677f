//===- ManifestTest.cpp - What a kernel object says of itself -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

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

TEST(Manifest, ImagesAndLaunchShapes) {
  Manifest manifest = makeSampleManifest();
  manifest.images.push_back({KernelFormat::ptx, "", ".version 8.0"});
  manifest.images.push_back(
      {KernelFormat::cubin, "sm_90", std::string("\x7f\0ELF", 5)});
  KernelInfo &grad = manifest.kernels[2];
  grad.target = "cuda";
  grad.codes = {{2, "k_grad_wide"}, {1, "k_grad"}};
  grad.threadsPerBlock = 128;
  grad.rowsPerBlock = 4;
  grad.sharedBytes = 1024;
  grad.arguments[0].alignment = 16;
  std::string bytes = serializeManifest(manifest);
  auto back = parseManifest(bytes.data(), bytes.size());
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(serializeManifest(*back), bytes);
  const KernelInfo &info = back->kernels[2];
  EXPECT_EQ(info.target, "cuda");
  EXPECT_EQ(info.threadsPerBlock, 128u);
  EXPECT_EQ(info.rowsPerBlock, 4);
  EXPECT_EQ(info.sharedBytes, 1024u);
  EXPECT_EQ(info.arguments[0].alignment, 16u);
  EXPECT_EQ(info.arguments[1].alignment, 4u); // that of f32
  ASSERT_EQ(info.codes.size(), 2u);
  EXPECT_EQ(info.codes[0].symbol, "k_grad_wide");
  const KernelImage &image = back->images[info.codes[0].image];
  EXPECT_EQ(image.format, KernelFormat::cubin);
  EXPECT_EQ(image.architecture, "sm_90");
  EXPECT_EQ(image.data, manifest.images[2].data);
  EXPECT_EQ(back->images[0].format, KernelFormat::object);
  EXPECT_EQ(back->kernels[0].codes[0].symbol, "k_embed");
}

/// Where the tables of the sample's flat form lie.
struct Flat {
  explicit Flat(const Manifest &manifest) : bytes(serializeManifest(manifest)) {
    std::memcpy(&header, bytes.data(), sizeof(header));
  }
  template <typename T> T &at(size_t offset) {
    return *reinterpret_cast<T *>(bytes.data() + offset);
  }
  LlmcManifestHeader &head() { return at<LlmcManifestHeader>(0); }
  size_t kernelsAt() const { return sizeof(header); }
  size_t argumentsAt() const {
    return kernelsAt() + header.numKernels * sizeof(LlmcManifestKernel);
  }
  size_t tiesAt() const {
    return argumentsAt() + header.numArguments * sizeof(LlmcManifestArgument) +
           header.numScalars * sizeof(LlmcManifestScalar);
  }
  size_t imagesAt() const {
    return tiesAt() + header.numTies * sizeof(LlmcManifestTie);
  }
  size_t codesAt() const {
    return imagesAt() + header.numImages * sizeof(LlmcManifestImage);
  }
  LlmcManifestKernel &kernel() { return at<LlmcManifestKernel>(kernelsAt()); }
  LlmcManifestArgument &argument() {
    return at<LlmcManifestArgument>(argumentsAt());
  }
  LlmcManifestTie &tie() { return at<LlmcManifestTie>(tiesAt()); }
  LlmcManifestImage &image(int i = 0) {
    return at<LlmcManifestImage>(imagesAt() + i * sizeof(LlmcManifestImage));
  }
  LlmcManifestCode &code() { return at<LlmcManifestCode>(codesAt()); }
  size_t stringsEnd() const {
    return codesAt() + header.numCodes * sizeof(LlmcManifestCode) +
           header.stringBytes;
  }

  std::string bytes;
  LlmcManifestHeader header;
};

/// What the reader says of the sample (with a tie, and a second image that
/// holds text) after an edit.
static std::string messageOf(void (*edit)(Flat &flat)) {
  Manifest manifest = makeSampleManifest();
  manifest.kernels[0].ties = {{0, 2}};
  manifest.images.push_back({KernelFormat::ptx, "", "text"});
  Flat flat(manifest);
  edit(flat);
  auto result = parseManifest(flat.bytes.data(), flat.bytes.size());
  if (result.ok()) {
    return "";
  }
  EXPECT_EQ(result.kind(), ErrorKind::mismatch);
  EXPECT_EQ(result.message().substr(0, 17), "kernel manifest: ");
  return result.message().substr(17);
}

// Each bound of each field, from both sides.
TEST(Manifest, Bounds) {
  using F = Flat;
  EXPECT_EQ(messageOf([](F &) {}), "");
  std::string argument = "argument of 'k_embed' is malformed";
  EXPECT_EQ(messageOf([](F &f) { f.argument().alignment = 64; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.argument().alignment = 1; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.argument().alignment = 0; }), argument);
  EXPECT_EQ(messageOf([](F &f) { f.argument().alignment = 24; }), argument);
  EXPECT_EQ(messageOf([](F &f) { f.argument().alignment = 128; }), argument);
  EXPECT_EQ(messageOf([](F &f) { f.argument().dtype = numDTypes; }), argument);
  EXPECT_EQ(messageOf([](F &f) { f.argument().access = 3; }), argument);
  EXPECT_EQ(messageOf([](F &f) { f.argument().extentBytes = -1; }), argument);
  EXPECT_EQ(messageOf([](F &f) { f.argument().reserved[1] = 1; }), argument);
  std::string rows = "'k_embed' has malformed rows or scratch";
  EXPECT_EQ(messageOf([](F &f) { f.kernel().rows = 0; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.kernel().rows = -1; }), rows);
  EXPECT_EQ(messageOf([](F &f) { f.kernel().scratchBytes = -1; }), rows);
  std::string block = "expected 'k_embed' to have at least 1 row and 1 thread "
                      "in a block, got ";
  EXPECT_EQ(messageOf([](F &f) { f.kernel().rowsPerBlock = 0; }),
            block + "0 and 1");
  EXPECT_EQ(messageOf([](F &f) { f.kernel().threadsPerBlock = 0; }),
            block + "1 and 0");
  EXPECT_EQ(messageOf([](F &f) { f.kernel().numCodes = 0; }),
            "'k_embed' has no code");
  EXPECT_EQ(messageOf([](F &f) { f.kernel().target = f.head().features + 4; }),
            "'k_embed' names no target"); // the zero behind "avx2"
  EXPECT_EQ(messageOf([](F &f) { f.tie().read = 3; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.tie().read = 4; }),
            "tie of 'k_embed' is malformed");
  EXPECT_EQ(messageOf([](F &f) { f.tie().written = 4; }),
            "tie of 'k_embed' is malformed");
}

TEST(Manifest, BoundsOfTables) {
  using F = Flat;
  std::string range = "a kernel's range runs past its table";
  EXPECT_EQ(messageOf([](F &f) { f.kernel().name = f.header.stringBytes; }),
            range);
  EXPECT_EQ(messageOf([](F &f) { f.kernel().target = f.header.stringBytes; }),
            range);
  EXPECT_EQ(messageOf([](F &f) { f.kernel().firstArgument = 1u << 31; }),
            range);
  EXPECT_EQ(messageOf([](F &f) { f.kernel().numScalars = 2; }), range);
  EXPECT_EQ(messageOf([](F &f) { f.kernel().numTies = 2; }), range);
  EXPECT_EQ(messageOf([](F &f) { f.kernel().firstCode = f.header.numCodes; }),
            range);
  EXPECT_EQ(messageOf([](F &f) { f.head().reserved = 7; }),
            "expected 0 in a reserved field of the header, got 7");
  EXPECT_EQ(messageOf([](F &f) { f.head().dataBytes += 1; }), "truncated");
  EXPECT_EQ(messageOf([](F &f) { f.head().features = f.header.stringBytes; }),
            "malformed names");
  EXPECT_EQ(messageOf([](F &f) { f.head().stringBytes = 0; }).empty(), false);
  // The names end with a zero; the data begins at a multiple of 16 bytes.
  EXPECT_EQ(messageOf([](F &f) { f.at<char>(f.stringsEnd() - 1) = 'x'; }),
            "malformed names");
  auto endWithNames = [](F &f) {
    while (f.stringsEnd() % 16 == 0) {
      f.header.stringBytes = --f.head().stringBytes;
    }
    f.at<char>(f.stringsEnd() - 1) = '\0';
    f.head().dataBytes = 0;
    f.bytes.resize(f.stringsEnd());
  };
  EXPECT_EQ(messageOf(endWithNames), "truncated");
}

TEST(Manifest, BoundsOfImagesAndNames) {
  using F = Flat;
  EXPECT_EQ(messageOf([](F &f) { f.image(1).format = 2; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.image(1).format = 3; }),
            "an image has format 3, this runtime knows 0 to 2");
  EXPECT_NE(messageOf([](F &f) { f.image().reserved[0] = 1; }), "");
  std::string text = "an image of format ptx has malformed data";
  EXPECT_EQ(messageOf([](F &f) { f.image(1).dataBytes = 3; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.image(1).dataBytes = 5; }), text);
  EXPECT_EQ(messageOf([](F &f) { f.image(1).dataBytes = 0; }), text);
  EXPECT_EQ(messageOf([](F &f) { f.image(1).dataOffset = 1; }), text);
  EXPECT_EQ(messageOf([](F &f) { f.image(1).dataOffset = 16; }), text);
  // Inside the data, but not aligned.
  EXPECT_EQ(
      messageOf([](F &f) { f.image(1).dataOffset = f.image(1).dataBytes = 1; }),
      text);
  EXPECT_EQ(
      messageOf([](F &f) { f.image(1).architecture = f.header.stringBytes; }),
      text);
  EXPECT_EQ(messageOf([](F &f) { f.image(1).format = 0; }),
            "an image of format object has malformed data");
  std::string code = "code of 'k_embed' is malformed";
  EXPECT_EQ(messageOf([](F &f) { f.code().image = 1; }), "");
  EXPECT_EQ(messageOf([](F &f) { f.code().image = 2; }), code);
  EXPECT_EQ(messageOf([](F &f) { f.code().symbol = f.header.stringBytes; }),
            code);
  EXPECT_EQ(messageOf([](F &f) { f.code().symbol = f.head().features + 4; }),
            code);
  Manifest twice = makeSampleManifest();
  twice.kernels[0].codes.push_back({0, "other"});
  std::string bytes = serializeManifest(twice);
  EXPECT_EQ(parseManifest(bytes.data()).message(),
            "kernel manifest: 'k_embed' has two codes in one image");
  for (const char *name : {"_", "aAzZ_09", "ZA", "z", "k0"}) {
    Manifest named = makeSampleManifest();
    named.kernels[1].name = name;
    EXPECT_EQ(parseManifest(serializeManifest(named).data()).message(), "");
  }
  for (const char *name : {"k.1", "1k", "", "k-1", "k\xc3\xa4", "k{", "k`",
                           "k[", "k@", "k/", "k:"}) {
    Manifest named = makeSampleManifest();
    named.kernels[1].name = name;
    bytes = serializeManifest(named);
    EXPECT_EQ(parseManifest(bytes.data()).message(),
              "kernel manifest: expected a name of letters, digits and '_', "
              "got '" +
                  std::string(name) + "'");
  }
  Manifest same = makeSampleManifest();
  same.kernels[1].name = "k_embed";
  bytes = serializeManifest(same);
  EXPECT_EQ(parseManifest(bytes.data()).message(),
            "kernel manifest: two kernels are named 'k_embed'");
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
            "kernel manifest: version 9, this runtime reads 2");
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
              m.kernels[1].arguments[1].alignment = 4;
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
