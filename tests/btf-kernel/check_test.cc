// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests what btf-kernel check reports about a valid kernel, and about kernels with one fault each.
// check_ids_test.cc has most tests of .BTF_ids.
#include "tests/btf-kernel/check_fixture.h"

namespace btflink::kernel
{

namespace
{

TEST_F(CheckKernel, Good)
{
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(notes(), Lines());
    EXPECT_EQ(report_.kfuncs, 3u);
    EXPECT_EQ(report_.tagged, 3u);
    EXPECT_EQ(report_.with_btf, 1u);
}

TEST_F(CheckKernel, TagsLost)
{
    set_vmlinux(replaced(vmlinux_text, "[9] DECL_TAG 'bpf_kfunc' type_id=7",
                         "[9] DECL_TAG 'other' type_id=7"));
    set_module(module_text);
    EXPECT_EQ(findings(), Lines{"kfunc-tag vmlinux: kfunc bpf_take has no tag bpf_kfunc: vmlinux.h "
                                "does not declare it"});
}

TEST_F(CheckKernel, TagOfModuleLost)
{
    set_module(replaced(module_text, "DECL_TAG 'bpf_kfunc'", "DECL_TAG 'other'"));
    EXPECT_EQ(
        findings(),
        Lines{
            "kfunc-tag mine: kfunc bpf_mine has no tag bpf_kfunc: vmlinux.h does not declare it"});
}

TEST_F(CheckKernel, AllTagsLost)
{
    std::string text = replaced(vmlinux_text, "DECL_TAG 'bpf_kfunc'", "DECL_TAG 'other'");
    set_vmlinux(replaced(text, "DECL_TAG 'bpf_kfunc'", "DECL_TAG 'other'"));
    set_module(module_text);
    EXPECT_EQ(findings(), Lines()); // an old pahole makes no tags
    EXPECT_EQ(notes(), Lines{"kfunc-tag vmlinux: none of 2 kfuncs has the tag bpf_kfunc"});
    EXPECT_EQ(unchecked(), Lines());
    const std::string config = std::exchange(kernel_.config, "");
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(unchecked(),
              Lines{"kfunc-tag: there is no configuration that says whether kfuncs are tagged"});
    kernel_.config = config + "CONFIG_PAHOLE_VERSION=130\n";
    EXPECT_EQ(findings().size(), 2u);
    kernel_.modules.clear();
    kernel_.config.clear();
    kernel_.version = KernelVersion{7, 3}; // from 7.2 on, resolve_btfids makes the tags
    EXPECT_EQ(findings().size(), 2u);
}

TEST_F(CheckKernel, TaskStructRedefined)
{
    set_module(std::string(module_text) + R"(
    [22] STRUCT 'task_struct' size=16
        'pid' type_id=1 bits_offset=0
        'files' type_id=3 bits_offset=64)");
    EXPECT_EQ(findings(), Lines{"redefined mine: has a copy of vmlinux's struct task_struct"});
    EXPECT_EQ(last(false)[0].degree, Degree::error);
    EXPECT_EQ(last(false)[0].subject, "struct task_struct");
}

TEST_F(CheckKernel, TaskStructRedefinedFarDown)
{
    const std::string more = R"(
    [22] STRUCT 'task_struct' size=16
        'pid' type_id=1 bits_offset=0
        'files' type_id=23 bits_offset=64
    [23] PTR '' type_id=24
    [24] STRUCT 'files_struct' size=8
        'count' type_id=1 bits_offset=0
        'max' type_id=1 bits_offset=32)";
    set_module(module_text + more);
    EXPECT_EQ(findings(),
              Lines{"redefined mine: defines 1 type of vmlinux again, because of struct "
                    "files_struct (vmlinux -> here: size 4 -> 8): task_struct"});
    EXPECT_EQ(notes(), Lines{"redefined mine: struct files_struct differs from the type of "
                             "that name in vmlinux (vmlinux -> here: size 4 -> 8)"});
    // Now bpf_mine, a kfunc, takes the module's task_struct.
    const std::string taking = replaced(module_text,
                                        "[19] FUNC_PROTO '' ret_type_id=1\n        'm' "
                                        "type_id=18\n        'task' type_id=5",
                                        "[19] FUNC_PROTO '' ret_type_id=1\n        'm' "
                                        "type_id=18\n        'task' type_id=25");
    set_module(taking + more + "\n[25] PTR '' type_id=22");
    EXPECT_EQ(findings().back(),
              "kfunc-type mine: kfunc bpf_mine, argument 1: task_struct is the module's own (type "
              "22), not vmlinux's (2); because of struct files_struct (vmlinux -> here: size 4 -> "
              "8)");
}

/// The module only declares files_struct, so it has its own task_struct and bpf_prog_aux. One fault
/// of an encoder can cause a finding like the second one in many modules. The `cause` of such a
/// finding names no type, so all of them are printed as one line.
TEST_F(CheckKernel, RedefinedByADeclaration)
{
    std::string text = replaced(vmlinux_text, "'x' type_id=1", "'x' type_id=5");
    set_vmlinux(replaced(text, "'bpf_prog_aux' size=4", "'bpf_prog_aux' size=8"));
    set_module(std::string(module_text) + R"(
    [22] STRUCT 'task_struct' size=16
        'pid' type_id=1 bits_offset=0
        'files' type_id=23 bits_offset=64
    [23] PTR '' type_id=24
    [24] FWD 'files_struct' fwd_kind=struct
    [25] STRUCT 'bpf_prog_aux' size=8
        'x' type_id=26 bits_offset=0
    [26] PTR '' type_id=22)");
    EXPECT_EQ(findings(), Lines());
    ASSERT_EQ(last(true).size(), 2u);
    EXPECT_EQ(last(true)[1].error.what,
              "defines 1 type of vmlinux again, because of struct task_struct (vmlinux -> "
              "here: struct files_struct is only declared): bpf_prog_aux");
    EXPECT_EQ(last(true)[1].cause,
              "types of vmlinux are defined again because of a type that only the module or only "
              "vmlinux defines");
    EXPECT_EQ(last(true)[1].subject, "struct task_struct");
}

/// vmlinux has two structs foo, and the module's bar refers to the one that vmlinux's bar does not
/// refer to. The finding names foo, not the TYPE_TAG between bar and foo.
TEST_F(CheckKernel, RefersToTheOtherOfTwoTypes)
{
    set_vmlinux(std::string(vmlinux_text) + R"(
    [17] STRUCT 'foo' size=4
        'a' type_id=1 bits_offset=0
    [18] TYPE_TAG 'rcu' type_id=17
    [19] PTR '' type_id=18
    [20] STRUCT 'bar' size=8
        'p' type_id=19 bits_offset=0
    [21] STRUCT 'foo' size=8
        'b' type_id=1 bits_offset=0
    [22] TYPE_TAG 'rcu' type_id=21)");
    set_module(R"(
    [23] STRUCT 'bar' size=8
        'p' type_id=24 bits_offset=0
    [24] PTR '' type_id=22)");
    EXPECT_EQ(findings().size(), 1u); // .BTF_ids names bpf_mine, which is gone
    EXPECT_EQ(notes(),
              Lines{"redefined mine: struct bar differs from the type of that name in vmlinux "
                    "(vmlinux -> here: refers to another struct foo)"});
}

/// The order of a union's members is not visible in their offsets. A check that compares only
/// members of the same name would count all unions of this test as copies.
TEST_F(CheckKernel, MembersInAnotherOrder)
{
    set_vmlinux(std::string(vmlinux_text) + R"(
    [17] INT 'unsigned int' size=4 bits_offset=0 nr_bits=32 encoding=(none)
    [18] UNION 'numbers' size=4
        'x' type_id=1 bits_offset=0
        'y' type_id=17 bits_offset=0
    [19] UNION 'ints' size=4
        'x' type_id=1 bits_offset=0
        'y' type_id=1 bits_offset=0
    [20] STRUCT 'a' size=4
        'first' type_id=1 bits_offset=0
    [21] STRUCT 'b' size=4
        'first' type_id=1 bits_offset=0
    [22] UNION 'structs' size=4
        'x' type_id=20 bits_offset=0
        'y' type_id=21 bits_offset=0
    [23] UNION '' size=4
        'x' type_id=1 bits_offset=0
        'y' type_id=17 bits_offset=0
    [24] STRUCT 'outer' size=4
        'in' type_id=23 bits_offset=0
    [25] STRUCT 'flat' size=8
        'x' type_id=1 bits_offset=0
        'y' type_id=1 bits_offset=32)");
    set_module(R"(
    [26] UNION 'numbers' size=4
        'y' type_id=17 bits_offset=0
        'x' type_id=1 bits_offset=0
    [27] UNION 'ints' size=4
        'y' type_id=1 bits_offset=0
        'x' type_id=1 bits_offset=0
    [28] STRUCT 'a' size=4
        'first' type_id=1 bits_offset=0
    [29] STRUCT 'b' size=4
        'first' type_id=1 bits_offset=0
    [30] UNION 'structs' size=4
        'y' type_id=29 bits_offset=0
        'x' type_id=28 bits_offset=0
    [31] UNION '' size=4
        'y' type_id=17 bits_offset=0
        'x' type_id=1 bits_offset=0
    [32] STRUCT 'outer' size=4
        'in' type_id=31 bits_offset=0
    [33] STRUCT '' size=4
        'y' type_id=1 bits_offset=0
    [34] STRUCT 'flat' size=8
        'x' type_id=1 bits_offset=0
        '' type_id=33 bits_offset=32)");
    kernel_.modules[0].btf_ids.clear();
    EXPECT_EQ(findings(), Lines());
    auto line = [](const std::string &type, const std::string &what) {
        return "redefined mine: " + type +
               " differs from the type of that name in vmlinux (vmlinux -> here: " + what + ")";
    };
    const std::string order = "members are in another order, or nested in another way";
    EXPECT_EQ(notes(), Lines({line("union numbers", order), line("union ints", order),
                              "redefined mine: has a copy of vmlinux's struct a",
                              "redefined mine: has a copy of vmlinux's struct b",
                              line("union structs", order), line("struct outer", "union: " + order),
                              line("struct flat", order)}));
}

/// Deduplication does not merge enums that differ in the order of enumerators, the kind or the
/// sign.
TEST_F(CheckKernel, EnumsThatNoEncoderMerges)
{
    set_vmlinux(std::string(vmlinux_text) + R"(
    [17] ENUM 'order' size=4 encoding=UNSIGNED vlen=2
        'A' val=0
        'C' val=1
    [18] ENUM64 'wide' size=8 encoding=UNSIGNED vlen=1
        'W' val=0
    [19] ENUM 'sign' size=4 encoding=UNSIGNED vlen=1
        'S' val=0
    [20] ENUM 'same' size=4 encoding=UNSIGNED vlen=1
        'X' val=0
    [21] STRUCT 'user' size=8
        'wide' type_id=18 bits_offset=0)");
    set_module(R"(
    [22] ENUM 'order' size=4 encoding=UNSIGNED vlen=2
        'C' val=1
        'A' val=0
    [23] ENUM 'wide' size=8 encoding=UNSIGNED vlen=1
        'W' val=0
    [24] ENUM 'sign' size=4 encoding=SIGNED vlen=1
        'S' val=0
    [25] ENUM 'same' size=4 encoding=UNSIGNED vlen=1
        'X' val=0
    [26] STRUCT 'user' size=8
        'wide' type_id=23 bits_offset=0)");
    kernel_.modules[0].btf_ids.clear();
    EXPECT_EQ(findings().size(), 1u); // enum wide has 8 bytes and is not an ENUM64
    auto line = [](const std::string &type, const std::string &what) {
        return "redefined mine: enum " + type +
               " differs from the type of that name in vmlinux (vmlinux -> here: " + what + ")";
    };
    EXPECT_EQ(notes(), Lines({line("order", "enumerators are in another order"),
                              line("wide", "ENUM64 -> ENUM"), line("sign", "unsigned -> signed"),
                              "redefined mine: has a copy of vmlinux's enum same",
                              "redefined mine: defines 1 type of vmlinux again, because of enum "
                              "wide (vmlinux -> here: ENUM64 -> ENUM): user"}));
}

/// Deduplication compares the names of numbers, which gcc and clang spell differently.
TEST_F(CheckKernel, NumbersOfAnotherCompiler)
{
    set_vmlinux(std::string(vmlinux_text) + R"(
    [17] INT 'long unsigned int' size=8 bits_offset=0 nr_bits=64 encoding=(none)
    [18] STRUCT 'user' size=8
        'x' type_id=17 bits_offset=0)");
    set_module(R"(
    [19] INT 'unsigned long' size=8 bits_offset=0 nr_bits=64 encoding=(none)
    [20] STRUCT 'user' size=8
        'x' type_id=19 bits_offset=0)");
    kernel_.modules[0].btf_ids.clear();
    findings();
    EXPECT_EQ(notes(), Lines{"redefined mine: struct user differs from the type of that name in "
                             "vmlinux (vmlinux -> here: unsigned long: long unsigned int -> "
                             "unsigned long)"});
}

/// A copy of a type is harmless if neither kfuncs nor helpers take the type.
TEST_F(CheckKernel, CopyThatNobodyTakes)
{
    const std::string copy = R"(
    [22] STRUCT 'files_struct' size=4
        'count' type_id=1 bits_offset=0)";
    set_module(module_text + copy);
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(notes(), Lines{"redefined mine: has a copy of vmlinux's struct files_struct"});
    set_vmlinux(replaced(vmlinux_text, "[5] PTR '' type_id=2", "[5] PTR '' type_id=4"));
    set_module(module_text + copy);
    EXPECT_EQ(findings(), Lines{"redefined mine: has a copy of vmlinux's struct files_struct"});
}

TEST_F(CheckKernel, CutValues)
{
    const std::string cut = std::string(module_text) + R"(
    [22] ENUM 'queue' size=8 encoding=UNSIGNED vlen=1
        'LOCAL' val=2
    [23] ENUM '' size=8 encoding=UNSIGNED vlen=1
        'FIRST' val=2)";
    set_module(cut + R"(
    [24] ENUM64 'right' size=8 encoding=UNSIGNED vlen=1
        'SECOND' val=2)");
    const Lines said = {
        "enum64 mine: enum queue has 8 bytes and is not an ENUM64: its values are cut to 32 bits",
        "enum64 mine: enum with FIRST has 8 bytes and is not an ENUM64: its values are cut to 32 "
        "bits"};
    EXPECT_EQ(findings(), said);
    EXPECT_EQ(last(false)[0].degree, Degree::error);
    kernel_.version = std::nullopt;
    EXPECT_EQ(findings(), said);
    EXPECT_EQ(last(false)[0].degree, Degree::suspicious);
    kernel_.version = KernelVersion{5, 19}; // does not know ENUM64: only type 24 is an error
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_NE(findings()[0].find("ENUM64 'right'"), std::string::npos);
    set_module(cut);
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(notes(), said);
}

TEST_F(CheckKernel, HeaderOnly)
{
    set_module("");
    kernel_.modules[0].btf_ids.clear();
    kernel_.modules[0].id_symbols.clear();
    EXPECT_EQ(findings(), Lines{"empty mine: has a header and no types: many readers refuse it"});
    kernel_.modules[0].btf.clear();
    EXPECT_EQ(findings(), Lines{"empty mine: is empty"});
    EXPECT_EQ(last(false)[0].degree, Degree::error);
    kernel_.config = "CONFIG_DEBUG_INFO_BTF=y\n";
    EXPECT_EQ(findings(), Lines{"empty mine: is empty"});
    EXPECT_EQ(last(false)[0].degree, Degree::suspicious);
}

TEST_F(CheckKernel, NoBtf)
{
    kernel_.modules[0].has_btf = false;
    kernel_.modules[0].btf.clear();
    EXPECT_EQ(findings(),
              Lines{"no-btf mine: has no .BTF although CONFIG_DEBUG_INFO_BTF_MODULES=y"});
    kernel_.config.clear();
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(notes(), Lines{"no-btf mine: has no .BTF"});
    kernel_.vmlinux->has_btf = false;
    EXPECT_EQ(findings(), Lines{"no-btf vmlinux: has no .BTF"});
}

TEST_F(CheckKernel, BadStringSection)
{
    std::vector<std::byte> &btf = kernel_.modules[0].btf;
    btf.back() = std::byte{'x'}; // the last string does not end
    const Lines found = findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].substr(0, 14), "verifier mine:");
    EXPECT_NE(found[0].find("string"), std::string::npos) << found[0];
}

TEST_F(CheckKernel, WrongBase)
{
    set_vmlinux(replaced(vmlinux_text, "[15] VAR 'counter'", "[15] VAR 'renamed_counter'"));
    kernel_.vmlinux->percpu = {{"renamed_counter", 8, 4}};
    const Lines found = findings();
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(found[0].starts_with("base mine: was made over another base, whose strings "
                                     "seem to have 134 bytes; those of "))
        << found[0];
    // With the wrong base, the module's references are meaningless, so the checks after those of
    // rules base and verifier are skipped.
    for (const std::string &line : found)
        EXPECT_TRUE(line.starts_with("base mine:") || line.starts_with("verifier mine:")) << line;
}

TEST_F(CheckKernel, TruncatedBase)
{
    // The module was made over 16 types. Now vmlinux has only the first 8.
    const std::string whole = vmlinux_text;
    set_vmlinux(whole.substr(0, whole.find("    [9]")));
    kernel_.vmlinux->btf_ids.clear();
    kernel_.vmlinux->id_symbols.clear();
    const Lines found = findings();
    ASSERT_FALSE(found.empty());
    for (const std::string &line : found)
        EXPECT_TRUE(line.starts_with("base mine:") || line.starts_with("verifier mine:")) << line;
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const std::string &line) {
        return line.starts_with("base mine:");
    }));
    kernel_.vmlinux->btf.resize(kernel_.vmlinux->btf.size() / 2);
    EXPECT_EQ(findings().front().substr(0, 17), "verifier vmlinux:");
}

TEST_F(CheckKernel, RenumberedBase)
{
    // The same types and strings, but types 5 and 6 are swapped.
    std::string text = vmlinux_text;
    text = replaced(
        text, "[5] PTR '' type_id=2\n    [6] FUNC_PROTO '' ret_type_id=1\n        'task' type_id=5",
        "[5] FUNC_PROTO '' ret_type_id=1\n        'task' type_id=6\n    [6] PTR '' type_id=2");
    text = replaced(text, "'bpf_take' type_id=6", "'bpf_take' type_id=5");
    text = replaced(text, "'bpf_hide' type_id=6", "'bpf_hide' type_id=5");
    text = replaced(text, "'task' type_id=5\n        'aux'", "'task' type_id=6\n        'aux'");
    set_vmlinux(text);
    const Lines found = findings();
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].substr(0, 43), "verifier mine: type 17 (STRUCT 'mine'): mem") << found[0];
    for (const std::string &line : found)
        EXPECT_TRUE(line.starts_with("base mine:") || line.starts_with("verifier mine:")) << line;
}

constexpr const char *distilled = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] STRUCT 'task_struct' size=16)";
constexpr const char *over_it = R"(
    [3] STRUCT 'mine' size=16
        'task' type_id=2 bits_offset=0)";

TEST_F(CheckKernel, TruncatedDistilledBase)
{
    set_module(over_it, distilled);
    const std::vector<std::byte> whole = kernel_.modules[0].base;
    for (size_t size : {size_t{1}, size_t{20}, size_t{30}, whole.size() - 1}) {
        kernel_.modules[0].base.assign(whole.begin(), whole.begin() + static_cast<long>(size));
        const Lines found = findings();
        ASSERT_FALSE(found.empty()) << size;
        EXPECT_EQ(found[0].substr(0, 14), "verifier mine:") << found[0];
    }
}

TEST_F(CheckKernel, InvalidName)
{
    set_module(replaced(module_text, "FUNC 'bpf_mine'", "FUNC 'bpf mine'"));
    const Lines found = findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].starts_with("verifier mine: type 20 (FUNC 'bpf mine'): ")) << found[0];
}

TEST_F(CheckKernel, FuncOfModuleLost)
{
    Ids ids;
    ids.set8("mine_kfuncs", {{0, 0}, {20, 0}}, {"bpf_gone", "bpf_mine"});
    ids.give(kernel_.modules[0]);
    EXPECT_EQ(findings(),
              Lines{"kfunc-func mine: kfunc bpf_gone of mine_kfuncs has no FUNC: no program "
                    "can call it"});
}

TEST_F(CheckKernel, DistilledBase)
{
    set_module(over_it, distilled);
    EXPECT_EQ(findings(), Lines());
    set_module(over_it, replaced(distilled, "size=16", "size=24").c_str());
    EXPECT_EQ(findings()[0].substr(0, 10), "verifier m"); // the member is too long for its struct
    set_module(replaced(over_it, "size=16", "size=24"),
               replaced(distilled, "size=16", "size=24").c_str());
    EXPECT_EQ(findings(), Lines{"base mine: type 2 (STRUCT 'task_struct'): no type of this name in "
                                "vmlinux has the right kind, size and encoding"});
    // Two types with the same name and size: the kernel uses neither.
    set_vmlinux(std::string(vmlinux_text) + "\n[17] STRUCT 'task_struct' size=16");
    set_module(over_it, distilled);
    EXPECT_EQ(findings(),
              Lines({"ids-twice vmlinux: struct task_struct has 2 definitions, and type 2 is used: "
                     "type 2 -> type 17: - int pid at 0",
                     "base mine: type 2 (STRUCT 'task_struct'): types 2 and 17 of vmlinux both "
                     "match, so the kernel refuses the module's BTF"}));
}

/// A line "not checked" names each check that was left out, and the files.
TEST_F(CheckKernel, ChecksLeftOut)
{
    auto skipped = [&](const std::string &why) {
        std::string out;
        for (const SkippedCheck &u : report_.found.unchecked)
            if (u.why == why)
                out += std::string(rule_name(u.rule)) + ": " + joined(u.binaries, ", ") + "\n";
        return out;
    };
    const std::string valid = vmlinux_text, bad = replaced(valid, "'bpf_prog_aux'", "'9u'");
    set_vmlinux(bad);
    set_module(module_text);
    EXPECT_EQ(findings().size(), 1u);
    EXPECT_EQ(skipped("there is no valid BTF of vmlinux"),
              "verifier: mine\nbase: mine\nids: vmlinux, mine\nredefined: mine\n"
              "enum64: vmlinux, mine\nper-cpu: vmlinux, mine\nlayout: vmlinux\n");
    set_module(over_it, distilled);
    EXPECT_EQ(findings().size(), 1u);
    EXPECT_EQ(skipped("there is no valid BTF of vmlinux"),
              "base: mine\nids: vmlinux\nenum64: vmlinux\nper-cpu: vmlinux\nlayout: vmlinux\n");
    kernel_.vmlinux->btf.resize(20); // cannot be parsed
    EXPECT_EQ(findings().size(), 1u);
    EXPECT_EQ(skipped("there is no valid BTF of vmlinux").substr(0, 10), "base: mine");
    EXPECT_NE(skipped("there is no valid BTF of vmlinux").find("ids: vmlinux\n"),
              std::string::npos);
    set_vmlinux(valid);
    const std::string of_mine = "ids: mine\nredefined: mine\nenum64: mine\nper-cpu: mine\n",
                      why = "BTF with findings of verifier or base may refer to wrong types";
    set_module(replaced(module_text, "'mine'", "'9u'"));
    EXPECT_EQ(findings().size(), 1u);
    EXPECT_EQ(skipped(why), of_mine);
    kernel_.modules[0].btf.resize(20);
    EXPECT_EQ(findings().size(), 1u);
    EXPECT_EQ(skipped(why), of_mine);
}

/// Self-contained BTF does not need vmlinux.
TEST_F(CheckKernel, SelfContainedWithoutVmlinux)
{
    Binary &module = kernel_.modules[0];
    module.form = Binary::Form::raw_btf;
    module.btf_ids.clear();
    module.btf = *from_text("[1] STRUCT '9u' size=4").bytes;
    kernel_.vmlinux.reset();
    EXPECT_EQ(findings(),
              Lines({"no-btf vmlinux: there is no vmlinux, so split BTF without "
                     ".BTF.base cannot be checked",
                     "verifier mine: type 1 (STRUCT '9u'): name is not an identifier"}));
    module.btf = *from_text("[1] STRUCT 'mine' size=4").bytes;
    EXPECT_EQ(findings().size(), 1u);
    EXPECT_EQ(unchecked(), Lines({"base: self-contained BTF has no base",
                                  "ids: raw BTF comes without .BTF_ids, the section with ids and "
                                  "kfuncs",
                                  "redefined: self-contained BTF has all types itself"}));
}

TEST_F(CheckKernel, DistilledBaseForAnOldKernel)
{
    kernel_.version = KernelVersion{6, 10};
    set_module(over_it, distilled);
    EXPECT_EQ(findings(), Lines{"verifier mine: is a distilled base, which kernels before 6.11 do "
                                "not read"});
    EXPECT_EQ(unchecked()[0],
              "base: BTF with findings of verifier or base may refer to wrong types");
    // An old kernel with this struct reads distilled bases, too.
    set_vmlinux(std::string(vmlinux_text) + "\n[17] STRUCT 'btf_relocate' size=4");
    EXPECT_EQ(findings(), Lines());
}

/// Except for its byte order, the module is valid.
TEST_F(CheckKernel, OtherByteOrder)
{
    constexpr ByteOrder other =
        host_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    auto bytes = text_to_btf(module_text, Where{"text"}, other, vmlinux_.btf.get());
    ASSERT_TRUE(bytes) << bytes.error().str();
    kernel_.modules[0].btf = *bytes;
    EXPECT_EQ(findings(), Lines{"base mine: has another byte order than vmlinux"});
}

TEST_F(CheckKernel, RulesByVersion)
{
    set_module(replaced(module_text, "DECL_TAG 'bpf_kfunc' type_id=20 component_idx=-1",
                        "DECL_TAG 'bpf_kfunc' type_id=20 component_idx=-1 kflag=1"));
    EXPECT_EQ(findings(),
              Lines{"verifier mine: type 21 (DECL_TAG 'bpf_kfunc'): kflag is set, which "
                    "kernels before 6.15 refuse"});
    kernel_.version = KernelVersion{6, 15};
    EXPECT_EQ(findings(), Lines());
}

TEST_F(CheckKernel, PerCpu)
{
    kernel_.vmlinux->percpu = {{"counter", 16, 4}};
    EXPECT_EQ(findings(),
              Lines{"per-cpu vmlinux: per-CPU variable counter at offset 8: the symbol is at 16"});
    kernel_.vmlinux->percpu = {{"other", 8, 4}};
    EXPECT_EQ(findings(), Lines{"per-cpu vmlinux: per-CPU variable counter at offset 8: the symbol "
                                "other is there"});
    kernel_.vmlinux->percpu = {{"counter.llvm.123", 8, 4}};
    EXPECT_EQ(findings(), Lines());
    kernel_.vmlinux->percpu = {{"counter.llvm.123", 16, 4}};
    EXPECT_EQ(findings(),
              Lines{"per-cpu vmlinux: per-CPU variable counter at offset 8: the symbol is at 16"});
    kernel_.vmlinux->percpu = {{"counter", 8, 8}};
    EXPECT_EQ(findings(),
              Lines{"per-cpu vmlinux: per-CPU variable counter at offset 8: has 4 bytes, "
                    "the symbol 8"});
    kernel_.vmlinux->has_percpu = false;
    EXPECT_EQ(findings(),
              Lines{"per-cpu vmlinux: BTF has per-CPU variables, but there is no section "
                    ".data..percpu"});
    kernel_.vmlinux->has_symbols = false;
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(unchecked(),
              Lines{"per-cpu: there are no symbols to compare per-CPU variables with"});
}

} // namespace

} // namespace btflink::kernel
