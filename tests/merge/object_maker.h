// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes objects with object BTF from text and merges them, so that tests of the merge need no
// DWARF. BTF is given as text, code and data as assembler text. The link trailer and the address
// pool are made from lists of functions and variables.
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

/// A temporary folder. The destructor removes it.
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
/// True on x86-64, for which the assembler text of the tests is written.
bool can_assemble();
/// Links `objects` to DIR/NAME, by ld with `options`. Returns the path.
std::string link_file(const TempDir &dir, const std::string &name, const std::string &options,
                      const std::vector<std::string> &objects);

/// Base class of tests that need the assembler and a folder. Skips tests unless can_assemble().
class ObjectTest : public testing::Test
{
protected:
    void SetUp() override;
    TempDir dir_;
};

/// An instance of a function.
struct FunctionSpec {
    std::string name;        // one of the strings of the blob
    std::string symbol = ""; // the address, an assembler expression; "": no address
    uint32_t func = 0;       // type id of the FUNC; 0: no FUNC, the prototype is "void (void)"
    uint32_t flags = 0;      // bits of FunctionFlag; fn_has_address is added if there is an address
    uint32_t true_func = 0;  // type id of the FUNC with the true signature; 0: none
};

struct VariableSpec {
    uint32_t var;       // type id of the VAR
    std::string symbol; // the address, an assembler expression
    uint32_t flags = 0; // bits of VariableFlag
    uint32_t size = 0;  // in bytes; 0: the size that the DATASEC states
};

struct ObjectSpec {
    std::string btf;           // as text; see tests/tools/btf_text.h
    uint32_t plain_end = 0;    // first id that is not a plain type; 0: a blob without trailer
    std::string assembly = ""; // code and data
    std::vector<FunctionSpec> functions = {};
    std::vector<VariableSpec> variables = {};
    bool pool = true;         // with an address pool, unless plain_end is 0
    uint8_t address_size = 8; // 4: i386, whose relocations keep their addends in the section
    FeatureSet features = default_features();
    uint32_t emitter = 100;                          // version of btf-emit: 0.1.0
    std::string section_flags = "\"e\",@0x80425446"; // flags and type of .BTF; default: object BTF
};

/// Writes DIR/NAME.o and returns its path.
std::string make_object(const TempDir &dir, const std::string &name, const ObjectSpec &spec);
/// Writes DIR/NAME.btf, the raw blob that `text` describes, and returns its path.
std::string make_raw(const TempDir &dir, const std::string &name, std::string_view text);

/// Merges into DIR/out.btf and returns the result as text. If there is nothing to encode, returns
/// the merge's last warning as an error. The second form merges `inputs` with the default features
/// and Feature::global_var.
Result<std::string> merged(const TempDir &dir, Options options);
Result<std::string> merged(const TempDir &dir, std::vector<std::string> inputs,
                           std::string image = "");
/// The text of a merge that must succeed. On an error, the test fails and the text is "".
std::string text_of(const Result<std::string> &result);
/// Succeeds if the merge failed with a message that contains `reason`.
testing::AssertionResult fails(const Result<std::string> &result, std::string_view reason);
bool has(std::string_view text, std::string_view part);
/// Merges into DIR/out.btf and returns its bytes. If nothing is written, the test fails, and no
/// bytes are returned.
std::vector<std::byte> merged_bytes(const TempDir &dir, Options options);
/// The value in the line "NAME: VALUE" of `report.stats`; -1: no such line.
int64_t stat(const Report &report, std::string_view name);

} // namespace btflink::merge::test

namespace btflink
{

/// Used by gtest: prints the text or the error in messages.
void PrintTo(const Result<std::string> &result, std::ostream *out);

} // namespace btflink
