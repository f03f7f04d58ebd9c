// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests parse_kernel_version(), kernel_forms() and check_distilled_base(), and which BTF
// check_btf() accepts for which version of the kernel.
#include "common/btf/btf_check.h"
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

TEST(KernelForms, Versions)
{
    auto is = [](std::string_view text, uint32_t major, uint32_t minor) {
        return parse_kernel_version(text) == KernelVersion{major, minor};
    };
    EXPECT_TRUE(is("6.12", 6, 12));
    EXPECT_TRUE(is("6.12.117-1~deb12u1", 6, 12));
    EXPECT_TRUE(is("7.3-rc1", 7, 3));
    EXPECT_TRUE(is("7.3+", 7, 3));
    for (std::string_view none :
         {"", "6", "6.", ".12", "v6.12", "6.x", "6.12x", "-6.12", "6,12", "6.99999999999"})
        EXPECT_FALSE(parse_kernel_version(none)) << none;
    EXPECT_LT((KernelVersion{6, 12}), (KernelVersion{7, 1}));
}

constexpr std::string_view integer =
    "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n";

/// The error for INT 'int' followed by `text`, without the place; "" if there is no error.
std::string verdict(const std::string &text, std::optional<KernelVersion> kernel)
{
    TextBlob blob = from_text(std::string(integer) + text);
    auto result = check_btf(*blob.bytes, *blob, Where{"f"}, 8, kernel);
    return result ? "" : result.error().what;
}

TEST(KernelForms, NamesOfSections)
{
    auto with = [](const std::string &name, std::optional<KernelVersion> kernel) {
        return verdict("[2] VAR 'v' type_id=1 linkage=global\n[3] DATASEC '" + name +
                           "' size=4 vlen=1\ntype_id=2 offset=0 size=4\n",
                       kernel);
    };
    const std::string fault =
        "name is not an identifier; kernels before 6.9 require one for a section";
    for (std::string name : {"9lives", ".data-x", "a/b$c+d", "?.struct_ops"}) {
        EXPECT_EQ(with(name, KernelVersion{6, 8}), "type 3 (DATASEC '" + name + "'): " + fault);
        EXPECT_EQ(with(name, KernelVersion{6, 9}), "");
        EXPECT_EQ(with(name, std::nullopt), "");
    }
    EXPECT_EQ(with(".data..percpu", KernelVersion{5, 10}), "");
    EXPECT_NE(with("a\tb", KernelVersion{6, 9}), "");
}

TEST(KernelForms, LengthsOfNames)
{
    const std::string longest(512, 'a'), longest_before_6_1(128, 'a');
    auto with = [](const std::string &name, std::optional<KernelVersion> kernel) {
        return verdict("[2] STRUCT '" + name + "' size=4 vlen=1\n'" + name +
                           "' type_id=1 bits_offset=0\n",
                       kernel);
    };
    EXPECT_EQ(with(longest_before_6_1, KernelVersion{5, 10}), "");
    EXPECT_NE(with(longest_before_6_1 + "a", KernelVersion{6, 0})
                  .find("name has 129 characters, kernels before 6.1 read 128 at most"),
              std::string::npos);
    EXPECT_NE(with(longest + "a", KernelVersion{6, 0})
                  .find("name has 513 characters, kernels before 6.1 read 128 at most"),
              std::string::npos);
    EXPECT_EQ(with(longest, KernelVersion{6, 1}), "");
    EXPECT_NE(with(longest + "a", std::nullopt).find("513 characters, kernels read 512"),
              std::string::npos);
}

TEST(KernelForms, OrderOfTags)
{
    const std::string text = "[2] CONST '' type_id=3\n[3] TYPE_TAG 't' type_id=1";
    EXPECT_EQ(verdict(text, std::nullopt), "");
    EXPECT_EQ(verdict(text, KernelVersion{7, 2}), "");
    EXPECT_EQ(verdict(text, KernelVersion{7, 1}),
              "type 2 (CONST ''): a TYPE_TAG follows it, which kernels before 7.2 refuse");
    EXPECT_EQ(verdict("[2] TYPE_TAG 't' type_id=3\n[3] CONST '' type_id=1", KernelVersion{6, 1}),
              "");
}

/// A struct btf_verifier_env shows that the BTF belongs to a kernel. Without an enumerator
/// BTF_MAX_VLEN, this kernel counts as older than 7.2, unless a version is given.
TEST(KernelForms, OrderOfTagsInAKernel)
{
    const std::string text = "[2] CONST '' type_id=3\n[3] TYPE_TAG 't' type_id=1\n"
                             "[4] STRUCT 'btf_verifier_env' size=4\n";
    EXPECT_NE(verdict(text, std::nullopt), "");
    EXPECT_EQ(verdict(text, KernelVersion{7, 2}), "");
    EXPECT_EQ(verdict(text + "[5] ENUM 'btf_max' size=4 encoding=UNSIGNED\n"
                             "'BTF_MAX_VLEN' val=16777215",
                      std::nullopt),
              "");
}

/// Programs that include <linux/btf.h> have the structs of the format.
TEST(KernelForms, ProgramsAreNoKernels)
{
    const std::string text = std::string(integer) + "[2] STRUCT 'btf_header' size=4\n";
    for (const std::string layout : {"", "[3] STRUCT 'btf_layout' size=4\n"}) {
        const KernelForms program = kernel_forms(std::nullopt, *from_text(text + layout));
        EXPECT_EQ(program.layout, std::nullopt);
        EXPECT_TRUE(program.tags_anywhere);
        const KernelForms kernel = kernel_forms(
            std::nullopt, *from_text(text + layout + "[" + (layout.empty() ? "3" : "4") +
                                     "] STRUCT 'btf_verifier_env' size=4\n"));
        EXPECT_EQ(kernel.layout, !layout.empty());
        EXPECT_FALSE(kernel.tags_anywhere);
    }
}

/// Distributions have added support for distilled bases to kernels before 6.11. A struct
/// btf_relocate shows this.
TEST(KernelForms, DistilledBases)
{
    auto accepts = [](std::optional<KernelVersion> kernel, const std::string &structs) {
        const TextBlob blob = from_text(std::string(integer) + structs);
        return bool(check_distilled_base(kernel, *blob, Where{"f"}));
    };
    const std::string kernel = "[2] STRUCT 'btf_verifier_env' size=4\n",
                      newer = kernel + "[3] STRUCT 'btf_relocate' size=4\n";
    EXPECT_TRUE(accepts(std::nullopt, ""));
    EXPECT_FALSE(accepts(std::nullopt, kernel));
    EXPECT_TRUE(accepts(std::nullopt, newer));
    EXPECT_FALSE(accepts(KernelVersion{6, 10}, kernel));
    EXPECT_TRUE(accepts(KernelVersion{6, 10}, newer));
    EXPECT_TRUE(accepts(KernelVersion{6, 11}, kernel));
}

TEST(KernelForms, TagsWithKflag)
{
    for (const std::string text : {"TYPE_TAG 't' type_id=1", "DECL_TAG 't' type_id=3 "
                                                             "component_idx=-1"}) {
        const std::string flagged = "[2] " + text + " kflag=1\n[3] TYPEDEF 'int_t' type_id=1";
        EXPECT_EQ(verdict(flagged, std::nullopt), "");
        EXPECT_EQ(verdict(flagged, KernelVersion{6, 15}), "");
        EXPECT_EQ(verdict(flagged, KernelVersion{6, 14}),
                  "type 2 (" + text.substr(0, text.find(" type_id")) +
                      "): kflag is set, which kernels before 6.15 refuse");
    }
}

TEST(KernelForms, Kinds)
{
    const std::pair<std::string, KernelVersion> kinds[] = {
        {"FLOAT 'float' size=4", {5, 13}},
        {"DECL_TAG 't' type_id=3 component_idx=-1", {5, 16}},
        {"TYPE_TAG 't' type_id=1", {5, 17}},
        {"ENUM64 'e' size=8 encoding=UNSIGNED", {6, 0}}};
    for (const auto &[type, since] : kinds) {
        const std::string text = "[2] " + type + "\n[3] TYPEDEF 'int_t' type_id=1\n";
        const KernelVersion before =
            since.minor ? KernelVersion{since.major, since.minor - 1} : KernelVersion{5, 19};
        EXPECT_NE(verdict(text, before).find("this kernel does not know the kind"),
                  std::string::npos);
        EXPECT_EQ(verdict(text, since), "");
        EXPECT_EQ(verdict(text, std::nullopt), "");
        // An older kernel to which a distribution has added the kind, as the enumerator shows.
        const std::string kind = type.substr(0, type.find(' '));
        EXPECT_EQ(verdict(text + "[4] ENUM '' size=4 encoding=UNSIGNED vlen=1\n'BTF_KIND_" + kind +
                              "' val=1",
                          before),
                  "");
    }
}

TEST(KernelForms, LongCountsAndLayout)
{
    TextBlob blob = from_text(std::string(integer));
    EXPECT_EQ(kernel_forms(std::nullopt, *blob).most_elements, btf::max_vlen);
    EXPECT_EQ(kernel_forms(KernelVersion{7, 1}, *blob).most_elements, btf::max_vlen);
    EXPECT_EQ(kernel_forms(KernelVersion{7, 2}, *blob).most_elements, btf::max_long_vlen);
    EXPECT_EQ(kernel_forms(std::nullopt, *blob).layout, std::nullopt);
    EXPECT_EQ(kernel_forms(KernelVersion{7, 0}, *blob).layout, false);
    EXPECT_EQ(kernel_forms(KernelVersion{7, 1}, *blob).layout, true);
}

} // namespace

} // namespace btflink::test
