//===- BackendTest.cpp - Backends announce themselves ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Backend.h"

#include <gtest/gtest.h>

namespace llmc::rt {
namespace {

class Named final : public Backend {
public:
  explicit Named(std::string name) : name(std::move(name)) {}
  std::string_view target() const override { return name; }
  std::vector<std::string> features() const override { return {}; }
  Result<uint64_t> libraryWorkspace(const LibraryShape &) const override {
    return uint64_t(0);
  }
  Result<std::unique_ptr<World>>
  makeWorld(const WorldOptions &) const override {
    return makeError(ErrorKind::unsupported, "no devices");
  }

private:
  std::string name;
};

// A backend is there from its announcement on until it goes; the list in the
// error is sorted.
TEST(BackendTest, TargetsComeAndGo) {
  std::string before = findBackend("nowhere").message();
  std::string others =
      findBackend("cuda").ok() ? "cpu, cuda, opaque" : "cpu, opaque";
  {
    BackendRegistration zeta(std::make_unique<Named>("zeta"));
    BackendRegistration alpha(std::make_unique<Named>("alpha"));
    Result<const Backend *> found = findBackend("zeta");
    ASSERT_TRUE(found.ok());
    EXPECT_EQ((*found)->target(), "zeta");
    Result<const Backend *> missing = findBackend("nowhere");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.kind(), ErrorKind::mismatch);
    EXPECT_EQ(missing.message(), "expected a plan for a target of this build "
                                 "(alpha, " +
                                     others + ", zeta), got 'nowhere'");
  }
  EXPECT_FALSE(findBackend("zeta").ok());
  EXPECT_EQ(before, "expected a plan for a target of this build (" + others +
                        "), got 'nowhere'");
}

} // namespace
} // namespace llmc::rt
