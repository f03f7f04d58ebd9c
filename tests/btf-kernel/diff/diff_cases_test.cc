// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests btf-kernel diff. Each file of cases/ has two kernels as BTF text, and the expected output
// after the table of numbers. The parts begin with "== old", "== new", "== old module NAME",
// "== new module NAME" and, for the output, "== said". In the file, a line of the output that
// begins with "== " is indented by one space. Lines that begin with '#' are comments. Blank lines
// do not count.
#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/difference.h"
#include "common/io/file_io.h"
#include "tests/tools/btf_text.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>

namespace btflink::kernel::diff
{

namespace
{

using Parts = std::map<std::string, std::string>;

Parts read_case(const std::string &path)
{
    auto bytes = read_file(path);
    EXPECT_TRUE(bytes) << path;
    std::string_view text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    Parts parts;
    std::string *part = nullptr;
    while (!text.empty()) {
        std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with("== "))
            part = &parts[line.substr(3)];
        else if (part && !line.starts_with('#') && !line.empty())
            part->append(line.starts_with(" == ") ? line.substr(1) : line).push_back('\n');
    }
    return parts;
}

/// A kernel of a case. `blobs` has the bytes to which the Btfs in `types` point.
struct CaseKernel {
    std::vector<std::vector<std::byte>> blobs;
    KernelTypes types;

    std::shared_ptr<const Btf> add(const std::string &text, const std::shared_ptr<const Btf> &base)
    {
        auto blob = text_to_btf(text, Where{"case"}, host_order, base.get());
        EXPECT_TRUE(blob) << blob.error().str();
        blobs.push_back(std::move(*blob));
        auto btf = Btf::parse(blobs.back(), Where{"case"}, base);
        EXPECT_TRUE(btf) << btf.error().str();
        return std::make_shared<const Btf>(std::move(*btf));
    }
};

CaseKernel make(const Parts &parts, const std::string &side)
{
    CaseKernel made;
    made.types.name = side;
    made.types.vmlinux = made.add(parts.at(side), nullptr);
    const std::string prefix = side + " module ";
    for (const auto &[name, text] : parts)
        if (name.starts_with(prefix))
            made.types.modules.push_back(
                {name.substr(prefix.size()), made.add(text, made.types.vmlinux)});
    return made;
}

/// The output after the table of numbers.
std::string said(const Parts &parts)
{
    CaseKernel before = make(parts, "old"), after = make(parts, "new");
    std::string text = as_text(compare(before.types, after.types).difference, {});
    const std::string last_row = "\nmodules ";
    return text.substr(text.find('\n', text.find(last_row) + 1) + 1);
}

std::string without_blank_lines(std::string text)
{
    for (size_t at; (at = text.find("\n\n")) != std::string::npos;)
        text.erase(at, 1);
    return text.starts_with('\n') ? text.substr(1) : text;
}

class DiffCases : public testing::TestWithParam<std::string>
{
};

TEST_P(DiffCases, Said)
{
    const Parts parts = read_case(GetParam());
    ASSERT_TRUE(parts.count("old") && parts.count("new") && parts.count("said"));
    EXPECT_EQ(without_blank_lines(said(parts)), without_blank_lines(parts.at("said")));
}

TEST_P(DiffCases, EqualToItself)
{
    const Parts parts = read_case(GetParam());
    for (const char *side : {"old", "new"}) {
        CaseKernel a = make(parts, side), b = make(parts, side);
        Difference d = compare(a.types, b.types).difference;
        EXPECT_TRUE(d.changes.empty());
        EXPECT_TRUE(d.module_changes.empty());
    }
}

TEST(DiffMarkdown, OneOfSeveral)
{
    const Parts parts = read_case(DIFF_CASES "/one-of-several.txt");
    CaseKernel before = make(parts, "old"), after = make(parts, "new");
    const std::string text = as_markdown(compare(before.types, after.types).difference, {});
    EXPECT_NE(text.find("- `btf_trace_event` removed (one of several definitions)\n"),
              std::string::npos)
        << text;
}

std::vector<std::string> case_files()
{
    std::vector<std::string> files;
    for (const auto &entry : std::filesystem::directory_iterator(DIFF_CASES))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

INSTANTIATE_TEST_SUITE_P(Files, DiffCases, testing::ValuesIn(case_files()), [](const auto &file) {
    std::string name = std::filesystem::path(file.param).stem();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace

} // namespace btflink::kernel::diff
