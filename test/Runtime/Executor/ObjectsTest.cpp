//===- ObjectsTest.cpp - Which kernel objects are loaded ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object is code: it must be the plan's, the user's own, in the plan's
// folder, and made for this processor.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Binding/Objects.h"
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::rt::exec {
namespace {
using testing::HasSubstr;

class ObjectsTest : public testing::Test {
protected:
  std::string folder =
      testing::TempDir() + "objects-" + std::to_string(::getpid());
  std::string path = folder + "/k.so";
  const std::string bytes = "no code at all";
  plan::KernelObject object{"k.so", hash64(bytes.data(), bytes.size()), {}};
  std::unique_ptr<World> world = makeCpuWorld({});

  void SetUp() override {
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(writeFileAtomically(path, bytes).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Status load(bool trust = false) {
    plan::Plan plan;
    plan.objects = {object};
    return loadObjects(plan, folder, trust, {"avx2"}, world->device(0))
        .status();
  }
  void expectMismatch(const char *text, bool trust = false) {
    Status status = load(trust);
    EXPECT_EQ(status.kind(), ErrorKind::mismatch);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }
};

// What passes every check is handed to the device, which finds no code in it.
const char *const cannotBeLoaded = "kernel object cannot be loaded: ";

TEST_F(ObjectsTest, NoObjectsAreAnEmptyManifest) {
  auto manifest = loadObjects({}, folder, false, {}, world->device(0));
  ASSERT_TRUE(manifest.ok());
  EXPECT_TRUE(manifest->kernels.empty());
}

TEST_F(ObjectsTest, TheFileIsAPlainName) {
  expectMismatch(cannotBeLoaded);
  for (const char *name : {"", ".k.so", "../k.so", "a/k.so"}) {
    object.file = name;
    expectMismatch("expected a kernel object with a plain file name", true);
  }
}

TEST_F(ObjectsTest, TheFileIsARegularOne) {
  object.file = "none.so";
  expectMismatch("kernel object is missing");
  ASSERT_EQ(::symlink(path.c_str(), (folder + "/link.so").c_str()), 0);
  object.file = "link.so";
  expectMismatch("expected kernel object to be a regular file");
  std::filesystem::create_directories(folder + "/folder.so");
  object.file = "folder.so";
  expectMismatch("expected kernel object to be a regular file");
}

// Group and others may read and run it.
TEST_F(ObjectsTest, NobodyElseMayWriteIt) {
  for (mode_t mode : {0644, 0755}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    expectMismatch(cannotBeLoaded);
  }
  for (mode_t mode : {0664, 0646}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    expectMismatch("kernel object belongs to another user or may be written "
                   "by others");
    EXPECT_EQ(load().error().hint,
              "pass --trust-kernels if you trust its code");
    expectMismatch(cannotBeLoaded, true);
  }
}

TEST_F(ObjectsTest, ItIsThePlansOwn) {
  object.hash ^= 1;
  expectMismatch("expected kernel object with hash ", true);
}

TEST_F(ObjectsTest, TheProcessorHasItsFeatures) {
  object.features = {"avx2"};
  expectMismatch(cannotBeLoaded);
  object.features = {"avx2", "fma"};
  expectMismatch("expected a processor with feature 'fma'", true);
}

// Not even one that only its owner may write.
TEST_F(ObjectsTest, ItIsTheUsersOwn) {
  if (::chown(path.c_str(), ::geteuid() + 1, ::getegid()) != 0) {
    GTEST_SKIP() << "this user may not give files away";
  }
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  expectMismatch("kernel object belongs to another user or may be written by "
                 "others");
  expectMismatch(cannotBeLoaded, true);
}

// Code without a manifest, and with one that is none.
TEST_F(ObjectsTest, ItSaysWhatItHolds) {
  auto messageOf = [&](const std::string &code) {
    EXPECT_TRUE(writeFileAtomically(path, code).ok());
    object.hash = hash64(code.data(), code.size());
    Status status = load();
    EXPECT_EQ(status.kind(), ErrorKind::mismatch);
    EXPECT_EQ(status.error().file, path);
    return status.message();
  };
  EXPECT_EQ(messageOf(*readFile(LLMC_TEST_KERNELS)),
            "expected a manifest in the kernel object");
  object.file = "other.so";
  path = folder + "/other.so";
  EXPECT_EQ(messageOf(*readFile(LLMC_EMPTY_MANIFEST)),
            "kernel manifest: bad magic number");
}
} // namespace
} // namespace llmc::rt::exec
