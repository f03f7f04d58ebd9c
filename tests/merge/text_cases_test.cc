// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Merges BTF given as text. Each file of cases/ is a case, with the BTF of some objects and the
// expected result of their merge, word by word. These lines begin the parts of a case:
//   == object                       the BTF of an object; one or more
//   == base                         the base of the merge
//   == distilled base               the expected distilled base, which the result extends
//   == result                       the expected result
//   == warning                      expected warnings, one per line
//   == result of btf__dedup         the expected result of --dedup=libbpf, if it differs from ours
//   == at most as many as btf__dedup  (no text) the result of --dedup=libbpf depends on libbpf's
//                                   version; it is not compared, but ours must not have more types
// A line that begins with '#' is a comment.
#include "common/io/file_io.h"
#include "tests/merge/object_maker.h"
#include "tests/tools/btf_text.h"

#include <bpf/libbpf.h>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace btflink::merge::test
{

namespace
{

struct Case {
    std::vector<std::string> objects;
    std::string base, distilled, result, warnings, of_libbpf;
    bool at_most = false;
};

Case read_case(const std::string &path)
{
    auto bytes = read_file(path);
    EXPECT_TRUE(bytes) << path;
    std::string_view text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    Case out;
    std::string *part = nullptr;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line == "== object") {
            part = &out.objects.emplace_back();
        } else if (line == "== base") {
            part = &out.base;
        } else if (line == "== distilled base") {
            part = &out.distilled;
        } else if (line == "== warning") {
            part = &out.warnings;
        } else if (line == "== result") {
            part = &out.result;
        } else if (line == "== result of btf__dedup") {
            part = &out.of_libbpf;
        } else if (line == "== at most as many as btf__dedup") {
            out.at_most = true;
        } else if (part && !line.starts_with('#') && !line.empty()) {
            part->append(line).push_back('\n');
        }
    }
    EXPECT_GE(out.objects.size(), 1u) << path << ": no object";
    return out;
}

class TextCases : public testing::TestWithParam<std::string>
{
protected:
    std::string write(const std::string &name, const std::string &text, const Btf *base)
    {
        std::string path = folder_ / name;
        auto blob = text_to_btf(text, Where{GetParam()}, host_order, base);
        EXPECT_TRUE(blob) << blob.error().str();
        EXPECT_TRUE(blob && write_file(path, *blob)) << path;
        return path;
    }

    TempDir folder_;
};

TEST_P(TextCases, Merge)
{
    Case c = read_case(GetParam());
    std::shared_ptr<const Btf> base;
    std::vector<std::byte> base_bytes, distilled_bytes;
    Options options;
    options.features.add(Feature::global_var);
    if (!c.distilled.empty())
        options.features.add(Feature::distilled_base);
    if (!c.base.empty()) {
        options.base = write("base.btf", c.base, nullptr);
        base_bytes = *read_file(options.base);
        base = std::make_shared<const Btf>(*Btf::parse(base_bytes, Where{"base"}));
    }
    for (size_t i = 0; i < c.objects.size(); ++i)
        options.inputs.push_back(write("object" + std::to_string(i), c.objects[i], nullptr));
    options.output = folder_ / "result.btf";
    uint32_t most = UINT32_MAX; // number of types of btf__dedup's result, if Case::at_most
    // libbpf 1.7 does not find the typedefs of a base (btf_dedup_prep); 1.8 does.
    const bool with_libbpf =
        c.base.empty() || libbpf_major_version() != 1 || libbpf_minor_version() != 7;
    if (!with_libbpf)
        std::printf("SKIP --dedup=libbpf: libbpf 1.7 does not find the typedefs of a base\n");
    for (Engine engine : {Engine::libbpf, Engine::hash})
        for (unsigned threads : {1, 4, 1}) {
            if (engine == Engine::libbpf && !with_libbpf)
                continue;
            options.engine = engine;
            options.threads = threads;
            // From here on, the first merge by our engine makes an index of the base, and later
            // ones use it. Engine::libbpf takes no index.
            if (threads > 1 && !c.base.empty())
                options.base_index = folder_ / "index";
            Report report;
            auto done = merge(options, report);
            ASSERT_TRUE(done) << done.error().str();
            std::string warnings;
            for (const std::string &text : report.warnings)
                warnings += text + '\n';
            EXPECT_EQ(warnings, c.warnings);
            auto bytes = read_file(options.output);
            ASSERT_TRUE(bytes);
            if (!c.distilled.empty()) {
                distilled_bytes = *read_file(options.output + ".base");
                base = std::make_shared<const Btf>(*Btf::parse(distilled_bytes, Where{"base"}));
                EXPECT_EQ(btf_to_text(*base), c.distilled);
            }
            auto result = Btf::parse(*bytes, Where{"result"}, base);
            ASSERT_TRUE(result) << result.error().str();
            if (engine == Engine::libbpf && c.at_most) {
                most = result->size();
                continue;
            }
            EXPECT_LE(result->size(), most);
            bool other = engine == Engine::libbpf && !c.of_libbpf.empty();
            EXPECT_EQ(btf_to_text(*result), other ? c.of_libbpf : c.result);
        }
}

class DistilledBase : public testing::Test
{
protected:
    /// Merges a STRUCT 's' over `base` (text; "": none), with a distilled base. Returns the error,
    /// or "none".
    std::string error(const std::string &base, const char *object = "[1] STRUCT 's' size=0")
    {
        Options options;
        options.inputs = {make_raw(folder_, "object", object)};
        if (!base.empty())
            options.base = make_raw(folder_, "base", base);
        options.output = folder_ / "out.btf";
        options.features.add(Feature::distilled_base);
        Report report;
        auto done = merge(options, report);
        EXPECT_EQ(std::filesystem::exists(options.output), bool(done));
        return done ? "none" : done.error().str();
    }

    TempDir folder_;
};

TEST_F(DistilledBase, NeedsABase)
{
    EXPECT_NE(error("").find("needs --base"), std::string::npos);
}

TEST_F(DistilledBase, NeedsSomethingOfIt)
{
    EXPECT_NE(error("[1] STRUCT 't' size=0").find("nothing to distil"), std::string::npos);
}

TEST_F(DistilledBase, IsNotMadeForAnEmptyResult)
{
    const std::string stale = folder_ / "out.btf.base";
    std::ofstream(stale) << "of an earlier merge";
    EXPECT_EQ(error("[1] STRUCT 's' size=0"), "none");
    EXPECT_FALSE(std::filesystem::exists(stale));
}

std::vector<std::string> case_files()
{
    std::vector<std::string> files;
    for (const auto &entry : std::filesystem::directory_iterator(MERGE_CASES))
        if (entry.path().extension() == ".txt")
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

INSTANTIATE_TEST_SUITE_P(Files, TextCases, testing::ValuesIn(case_files()), [](const auto &file) {
    std::string name = std::filesystem::path(file.param).stem();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace

} // namespace btflink::merge::test
