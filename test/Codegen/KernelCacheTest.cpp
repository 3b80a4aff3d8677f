//===- KernelCacheTest.cpp - Kernels compiled before ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Codegen/KernelCache.h"
#include "../Dialect/Graph/GraphContext.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace llmc;
using namespace llmc::test;
using codegen::KernelCache;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

struct Caching : testing::Test {
  std::string folder = testing::TempDir() + "kernel-cache";

  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }

  KernelCache open() {
    auto cache = KernelCache::open(folder);
    EXPECT_TRUE(cache) << cache.status().message();
    return std::move(*cache);
  }
  std::string refusal(const std::string &path) {
    auto cache = KernelCache::open(path);
    return cache ? "" : cache.status().message();
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (auto &entry : fs::directory_iterator(folder))
      if (entry.path().filename() != "trimmed")
        names.push_back(entry.path().filename());
    llvm::sort(names);
    return names;
  }
};

TEST_F(Caching, FindsWhatWasStored) {
  KernelCache cache = open();
  std::string key = cache.getKey("one"), other = cache.getKey("two");
  EXPECT_NE(key, other);
  EXPECT_EQ(cache.find(key), std::nullopt);
  ASSERT_TRUE(cache.store(key, llvm::StringRef("a\0b", 3)));
  EXPECT_EQ(cache.find(key), std::string("a\0b", 3));
  EXPECT_EQ(open().find(key), std::string("a\0b", 3));
  EXPECT_EQ(cache.find(other), std::nullopt);
  ASSERT_TRUE(cache.store(key, "later"));
  EXPECT_EQ(cache.find(key), "later");
  EXPECT_THAT(files(), ElementsAre(key + ".o"));
}

TEST_F(Caching, ADamagedEntryIsNone) {
  KernelCache cache = open();
  std::string key = cache.getKey("one"), path = folder + "/" + key + ".o";
  ASSERT_TRUE(cache.store(key, "object"));
  for (int size : {0, 7, 8, 13}) {
    fs::resize_file(path, size);
    EXPECT_EQ(cache.find(key), std::nullopt) << size;
    ASSERT_TRUE(cache.store(key, "object"));
  }
  std::fstream(path, std::ios::in | std::ios::out).seekp(9).put('x');
  EXPECT_EQ(cache.find(key), std::nullopt);
}

TEST_F(Caching, RefusesFoldersThatOthersMayWrite) {
  open();
  for (mode_t mode : {0770, 0702}) {
    chmod(folder.c_str(), mode);
    EXPECT_EQ(
        refusal(folder),
        "kernel cache: expected a folder that you own and nobody else may "
        "write, got '" +
            folder + "', which others may write");
  }
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(refusal(folder), "");
  std::ofstream(folder + "/file");
  EXPECT_THAT(refusal(folder + "/file"),
              HasSubstr("got '" + folder + "/file'"));
  EXPECT_THAT(refusal(folder + "/file/x"), HasSubstr("Not a directory"));
}

TEST_F(Caching, SaysThatItCannotWrite) {
  KernelCache cache = open();
  fs::remove_all(folder);
  auto status = cache.store(cache.getKey("one"), "object");
  EXPECT_EQ(status.kind(), rt::ErrorKind::usage);
  EXPECT_THAT(status.message(),
              HasSubstr("kernel cache: expected to write '" + folder));
}

TEST_F(Caching, TrimRemovesWhatWasUsedLongestAgo) {
  KernelCache cache = open();
  std::string keys[4];
  for (int i = 0; i < 4; ++i) {
    keys[i] = cache.getKey(std::to_string(i));
    ASSERT_TRUE(cache.store(keys[i], std::string(92, 'x')));
    timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    utimensat(AT_FDCWD, (folder + "/" + keys[i] + ".o").c_str(), times, 0);
  }
  // Not ours.
  for (const char *name : {"notes.o", "0123456789abcdef0123456789abcdeg.o",
                           "0123456789abcdef0123456789abcdef"})
    std::ofstream(folder + "/" + name) << "mine";
  EXPECT_TRUE(cache.find(keys[0]));
  cache.trim(400);
  EXPECT_EQ(files().size(), 7u);
  cache.trim(399);
  EXPECT_FALSE(cache.find(keys[1]));
  cache.trim(100);
  EXPECT_FALSE(cache.find(keys[2]));
  EXPECT_FALSE(cache.find(keys[3]));
  EXPECT_TRUE(cache.find(keys[0]));
  cache.trim(0);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(Caching, TrimsAtTimes) {
  KernelCache cache = open();
  std::string keys[] = {cache.getKey("old"), cache.getKey("new")};
  auto path = [&](int i) { return folder + "/" + keys[i] + ".o"; };
  auto fill = [&] {
    for (int i : {0, 1}) {
      ASSERT_TRUE(cache.store(keys[i], "object"));
      fs::resize_file(path(i), 200 << 20); // Without blocks on the disk.
    }
    timespec times[] = {{1, 0}, {1, 0}};
    utimensat(AT_FDCWD, path(0).c_str(), times, 0);
  };
  fill();
  cache.trimAtTimes();
  EXPECT_THAT(files(), ElementsAre(keys[1] + ".o"));
  fill();
  cache.trimAtTimes();
  EXPECT_EQ(files().size(), 2u);
  for (int minutes : {-11, 60}) {
    fill();
    fs::last_write_time(folder + "/trimmed", fs::file_time_type::clock::now() +
                                                 std::chrono::minutes(minutes));
    cache.trimAtTimes();
    EXPECT_THAT(files(), ElementsAre(keys[1] + ".o")) << minutes;
  }
}

/// Two kernels, of which the first stores `value`.
std::string kernels(const char *value) {
  return std::string(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) {
    %v = arith.constant )") +
         value + R"( : f32
    memref.store %v, %a[%b] : memref<4xf32>
    return
  }
  dist.kernel @k_1(write tensor<4xf32>) for "cpu" by @k_1_cpu
  func.func private @k_1_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) { return })";
}

TEST_F(Caching, KernelsAreCompiledOnce) {
  GraphContext context;
  context.get()
      ->loadDialect<dist::DistDialect, mlir::func::FuncDialect,
                    mlir::memref::MemRefDialect, mlir::arith::ArithDialect>();
  KernelCache cache = open();
  auto compile = [&](const char *value, const KernelCache *with,
                     codegen::KernelEffort effort = {}) {
    auto module = context.parse(kernels(value));
    auto objects = codegen::compileKernels(*module, {with, effort});
    EXPECT_TRUE(succeeded(objects)) << context.takeMessages();
    return *objects;
  };
  codegen::KernelObjects without = compile("1.0", nullptr);
  ASSERT_EQ(without.size(), 3u);
  EXPECT_EQ(compile("1.0", &cache), without);
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(compile("1.0", &cache), without);
  EXPECT_EQ(files().size(), 2u);
  // Another first kernel; the second and the manifest are the same.
  codegen::KernelObjects other = compile("2.0", &cache);
  EXPECT_NE(other[0], without[0]);
  EXPECT_EQ(other[1], without[1]);
  EXPECT_EQ(other[2], without[2]);
  EXPECT_EQ(files().size(), 3u);
  // What is in the cache is what is taken.
  for (const std::string &name : files())
    ASSERT_TRUE(cache.store(llvm::StringRef(name).drop_back(2), "planted"));
  EXPECT_THAT(compile("1.0", &cache),
              ElementsAre("planted", "planted", without[2]));
  // What was compiled with another effort is something else.
  EXPECT_NE(compile("1.0", &cache, codegen::KernelEffort::quick)[0], "planted");
}

TEST_F(Caching, ACacheThatIsGoneIsAnError) {
  GraphContext context;
  context.get()
      ->loadDialect<dist::DistDialect, mlir::func::FuncDialect,
                    mlir::memref::MemRefDialect, mlir::arith::ArithDialect>();
  KernelCache cache = open();
  fs::remove_all(folder);
  auto module = context.parse(kernels("1.0"));
  EXPECT_TRUE(failed(codegen::compileKernels(*module, {&cache})));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("kernel cache: expected to write '" + folder));
}

} // namespace
