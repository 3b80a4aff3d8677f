//===- ExternalDataTest.cpp - Nothing outside the folder is read ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Import/Onnx/ExternalData.h"
#include "gmock/gmock.h"
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace llmc;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
/// A folder with a model's data, and a file beside the folder.
class ExternalDataTest : public testing::Test {
protected:
  void SetUp() override {
    root = fs::temp_directory_path() /
           ("llmc-external-" + std::to_string(::getpid()));
    fs::remove_all(root);
    fs::create_directories(root / "model" / "sub");
    std::ofstream(root / "secret") << "0123456789abcdef";
    std::ofstream(root / "model" / "data") << "0123456789abcdef";
    std::ofstream(root / "model" / "sub" / "data") << "0123456789abcdef";
  }
  void TearDown() override { fs::remove_all(root); }

  /// Where a tensor of eight bytes lies, or the error.
  std::string find(std::map<std::string_view, std::string_view> entries,
                   int64_t bytes = 8) {
    onnx::Tensor tensor;
    tensor.name = "w";
    tensor.external = std::move(entries);
    onnx::ExternalData data((root / "model" / "m.onnx").string());
    rt::Result<onnx::FileRegion> region = data.find(tensor, bytes);
    if (!region)
      return region.message();
    rt::Result<std::string> read = data.read(*region);
    return read ? *read : read.message();
  }

  fs::path root;
};
} // namespace

TEST_F(ExternalDataTest, ReadsRegions) {
  EXPECT_EQ(find({{"location", "data"}, {"offset", "4"}, {"length", "8"}}),
            "456789ab");
  EXPECT_EQ(find({{"location", "data"}, {"offset", "8"}}), "89abcdef");
  EXPECT_EQ(find({{"location", "sub/data"}, {"length", "8"}}), "01234567");
}

TEST_F(ExternalDataTest, RefusesPathsOutside) {
  for (const char *location : {"../secret", "sub/../../secret", "", "./data",
                               "sub//data", "sub/", "/etc/passwd"})
    EXPECT_THAT(find({{"location", location}}),
                HasSubstr("expected a path within the model's folder, got '" +
                          std::string(location) + "'"));
  EXPECT_THAT(find({{"location", std::string_view("data\0x", 6)}}),
              HasSubstr("expected a path within"));
  EXPECT_THAT(find({}), HasSubstr("expected a location, got none"));
}

TEST_F(ExternalDataTest, RefusesLinks) {
  fs::create_symlink(root / "secret", root / "model" / "link");
  fs::create_directory_symlink(root, root / "model" / "up");
  fs::create_hard_link(root / "secret", root / "model" / "hard");
  EXPECT_THAT(find({{"location", "link"}}),
              HasSubstr("expected no symbolic link in 'link', got one"));
  EXPECT_THAT(find({{"location", "up/secret"}}), HasSubstr("'up/secret'"));
  EXPECT_THAT(find({{"location", "hard"}}),
              HasSubstr("expected a file with one name, got 'hard' with 2"));
}

TEST_F(ExternalDataTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((root / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(find({{"location", "pipe"}}),
              HasSubstr("expected a regular file, got 'pipe'"));
  EXPECT_THAT(find({{"location", "sub"}}), HasSubstr("'sub'"));
  EXPECT_THAT(find({{"location", "nothing"}}),
              HasSubstr("cannot open 'nothing': No such file"));
}

TEST_F(ExternalDataTest, ChecksNumbers) {
  for (const char *text :
       {"-1", "1e1", "0x4", " 4", "", "99999999999999999999"})
    EXPECT_THAT(find({{"location", "data"}, {"offset", text}}),
                HasSubstr("expected 'offset' to be a number, got '" +
                          std::string(text) + "'"));
  EXPECT_THAT(find({{"location", "data"}, {"offset", "17"}}),
              HasSubstr("expected an offset of at most 16, got 17"));
  EXPECT_THAT(find({{"location", "data"}, {"offset", "12"}, {"length", "8"}}),
              HasSubstr("expected 8 bytes within the file, got 8 of 4"));
  EXPECT_THAT(find({{"location", "data"}, {"length", "4"}}),
              HasSubstr("expected 8 bytes within the file, got 4 of 16"));
}
