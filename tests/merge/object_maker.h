// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes objects with object BTF from text, so that tests of the merge need no DWARF. BTF is given
// as text, symbols as assembler text; link trailer and address pool are made from both.
#pragma once

#include "common/object_btf/link_trailer.h"
#include "merge/merge.h"

#include <gtest/gtest.h>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::merge::test
{

/// A temporary folder of a test. It is removed when the test ends.
class TempDir
{
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir &) = delete;
    TempDir &operator=(const TempDir &) = delete;
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

/// Runs a shell command. If it fails, the test fails and prints the command.
void run(const std::string &command);
/// True if the tests know the assembler of this host.
bool can_assemble();
/// Links `objects` to DIR/NAME, by ld with `options`.
std::string link_file(const TempDir &dir, const std::string &name, const std::string &options,
                      const std::vector<std::string> &objects);

/// Base class of tests that need the assembler and a folder.
class ObjectTest : public testing::Test
{
protected:
    void SetUp() override;
    TempDir dir_;
};

struct FunctionSpec {
    std::string name;
    std::string symbol = ""; // its address, an assembler expression; "": none
    uint32_t func = 0;       // type id of its FUNC; 0: the prototype is "void (void)"
    uint32_t flags = 0;
    uint32_t true_func = 0; // type id of the FUNC with its true signature; 0: none
};

struct VariableSpec {
    uint32_t var;       // type id
    std::string symbol; // its address
    uint32_t flags = 0;
    uint32_t size = 0; // of a common symbol, which is in no DATASEC
};

struct ObjectSpec {
    std::string btf;        // as text; see tests/tools/btf_text.h
    uint32_t plain_end = 0; // first id that is not a plain type; 0: a blob without trailer
    std::string assembly = "";
    std::vector<FunctionSpec> functions = {};
    std::vector<VariableSpec> variables = {};
    bool pool = true;         // with an address pool
    uint8_t address_size = 8; // 4: i386, whose relocations keep their addends in the section
    FeatureSet features = default_features();
    uint32_t emitter = 100;                          // version of btf-emit
    std::string section_flags = "\"e\",@0x80425446"; // of .BTF
};

/// Writes DIR/NAME.o and returns its path.
std::string make_object(const TempDir &dir, const std::string &name, const ObjectSpec &spec);
/// Writes DIR/NAME.btf, a raw blob, and returns its path.
std::string make_raw(const TempDir &dir, const std::string &name, std::string_view text);

/// Merges into DIR/out.btf and returns it as text. It is also an error if nothing is written.
Result<std::string> merged(const TempDir &dir, Options options);
Result<std::string> merged(const TempDir &dir, std::vector<std::string> inputs,
                           std::string image = "");
/// The text of a merge that must succeed; otherwise the test fails.
std::string text_of(const Result<std::string> &result);
/// True if the merge failed with this message.
testing::AssertionResult fails(const Result<std::string> &result, std::string_view reason);
bool has(std::string_view text, std::string_view part);
/// Merges and returns the bytes. If there are none, the test fails.
std::vector<std::byte> merged_bytes(const TempDir &dir, Options options);
/// The value of a line of `report.stats`, e.g. "functions_kept"; -1: no such line.
int64_t stat(const Report &report, std::string_view name);

} // namespace btflink::merge::test

namespace btflink
{

/// Prints values in gtest's messages.
void PrintTo(const Result<std::string> &result, std::ostream *out);

} // namespace btflink
