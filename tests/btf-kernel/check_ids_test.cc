// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests what btf-kernel check says about ids and kfuncs: in a valid kernel, after one fault in
// .BTF_ids or in the BTF, and if .BTF_ids has no symbols or is missing.
#include "tests/btf-kernel/check_fixture.h"

namespace btflink::kernel
{

namespace
{

TEST_F(CheckKernel, SetLongerThanItsSection)
{
    kernel_.vmlinux->btf_ids[4] = std::byte{200};
    EXPECT_EQ(findings(),
              Lines{"ids vmlinux: __BTF_ID__set8__kfuncs: 200 ids do not fit into the section"});
}

TEST_F(CheckKernel, TypeDefinedTwice)
{
    const std::string again = R"(
    [17] STRUCT 'task_struct' size=16
        'pid' type_id=1 bits_offset=0
        'files' type_id=18 bits_offset=64
    [18] PTR '' type_id=19
    [19] STRUCT 'files_struct' size=4
        'max' type_id=1 bits_offset=0)";
    set_vmlinux(vmlinux_text + again);
    kernel_.modules.clear();
    EXPECT_EQ(findings(),
              Lines{"ids-twice vmlinux: struct task_struct has 2 definitions, and type 2 is used: "
                    "because of struct files_struct (type 4 -> type 19: count is called max)"});
    set_vmlinux(vmlinux_text + replaced(again, "'pid' type_id=1", "'tid' type_id=1"));
    EXPECT_EQ(findings(), Lines{"ids-twice vmlinux: struct task_struct has 2 definitions, and type "
                                "2 is used: type 2 -> type 17: pid is called tid"});
}

TEST_F(CheckKernel, IdsNeverFilled)
{
    Ids ids;
    ids.words = {0, 0, 1, 0, 4};
    ids.symbols = {{"__BTF_ID__struct__task_struct__7", 0, 4},
                   {"__BTF_ID__set8__kfuncs", 4, 0},
                   {"__BTF_ID__func__bpf_take__12", 12, 4}};
    ids.give(*kernel_.vmlinux);
    kernel_.modules.clear();
    const Lines said = {
        "ids vmlinux: was never filled in: all ids are 0, resolve_btfids has not run"};
    EXPECT_EQ(findings(), said);
    kernel_.vmlinux->id_symbols.clear();
    EXPECT_EQ(findings(), said);
    kernel_.vmlinux->btf_ids.assign(20, std::byte{0});
    EXPECT_EQ(findings(), said);
}

// Without symbols, a module whose ids are all 0 does not count as never filled in.
TEST_F(CheckKernel, IdsOfAModuleWithoutVmlinux)
{
    set_module("[2] STRUCT 'mine' size=4",
               "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED");
    kernel_.modules[0].btf_ids.assign(4, std::byte{0});
    EXPECT_EQ(findings(), Lines());
    kernel_.vmlinux->has_btf = false;
    EXPECT_EQ(findings(), Lines{"no-btf vmlinux: has no .BTF although CONFIG_DEBUG_INFO_BTF=y"});
}

TEST_F(CheckKernel, IdMissing)
{
    kernel_.vmlinux->btf_ids[0] = std::byte{0};
    EXPECT_EQ(findings(),
              Lines{"ids vmlinux: struct task_struct has id 0, but the BTF has the type"});
    kernel_.vmlinux->id_symbols[0].name = "__BTF_ID__struct__not_configured__7";
    EXPECT_EQ(findings(), Lines());
    kernel_.vmlinux->id_symbols[0].name = "__BTF_ID__func__opt__7";
    auto said = [](const std::string &why) {
        return Lines{"ids-func vmlinux: function opt has no FUNC: " + why};
    };
    EXPECT_EQ(findings(), said("no function has this name (inlined, or not compiled)"));
    EXPECT_EQ(last(false)[0].degree, Degree::suspicious);
    kernel_.vmlinux->id_functions = {"opt.constprop.0"};
    EXPECT_EQ(findings(), said("the compiler left only opt.constprop.0"));
    kernel_.vmlinux->id_functions = {"opt", "opt.part.0"};
    EXPECT_EQ(findings(), said("it exists, but was left out of the BTF (optimized, or its "
                               "prototypes differ)"));
}

TEST_F(CheckKernel, SetOfTypes)
{
    Ids ids;
    ids.words = {2, 0, 4};
    ids.symbols = {{"__BTF_ID__set__types", 0, 0},
                   {"__BTF_ID__struct__not_configured__7", 4, 4},
                   {"__BTF_ID__struct__files_struct__8", 8, 4}};
    ids.give(*kernel_.vmlinux);
    kernel_.modules.clear();
    EXPECT_EQ(findings(), Lines());
    ids.symbols[1].name = "__BTF_ID__func__opt__7";
    ids.give(*kernel_.vmlinux);
    EXPECT_EQ(findings(), Lines{"ids-func vmlinux: function opt has no FUNC: no function has this "
                                "name (inlined, or not compiled)"});
    ids.words = {2, 0, 0};
    ids.symbols[1].name = "__BTF_ID__struct__not_configured__7";
    ids.give(*kernel_.vmlinux);
    EXPECT_EQ(findings(),
              Lines{"ids vmlinux: 1 of 2 ids of types are 0, but the BTF has the types"});
    ids.words = {2, 0, 4};
    ids.symbols[2].name = "__BTF_ID__typedef__files_struct__8";
    ids.give(*kernel_.vmlinux);
    EXPECT_EQ(findings(), Lines{"ids vmlinux: types has id 4, which is STRUCT 'files_struct', but "
                                "no symbol of the set names it"});
    // An entry of BTF_ID_UNUSED has no symbol.
    ids.symbols = {{"__BTF_ID__set__types", 0, 0}, {"__BTF_ID__struct__files_struct__8", 8, 4}};
    ids.give(*kernel_.vmlinux);
    EXPECT_EQ(findings(), Lines());
}

// resolve_btfids does not see the types of vmlinux if a module has a distilled base. So an id of 0
// is right for a type that only vmlinux has.
TEST_F(CheckKernel, IdsOverDistilledBase)
{
    constexpr const char *base = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED)";
    constexpr const char *over_it = R"(
    [2] STRUCT 'mine' size=4
        'a' type_id=1 bits_offset=0)";
    set_module(over_it, base);
    Ids ids;
    ids.words = {2, 0, 2, 0};
    ids.symbols = {{"__BTF_ID__set__types", 0, 0},
                   {"__BTF_ID__struct__files_struct__1", 4, 4},
                   {"__BTF_ID__struct__mine__2", 8, 4},
                   {"__BTF_ID__struct__files_struct__3", 12, 4}};
    ids.give(kernel_.modules[0]);
    EXPECT_EQ(findings(), Lines());
    ids.words = {0};
    ids.symbols = {{"__BTF_ID__struct__files_struct__3", 0, 4}};
    ids.give(kernel_.modules[0]);
    EXPECT_EQ(findings(), Lines());
}

TEST_F(CheckKernel, FuncLost)
{
    set_vmlinux(replaced(vmlinux_text, "FUNC 'bpf_take'", "FUNC 'take'"));
    set_module(module_text);
    EXPECT_EQ(findings(), Lines{"ids vmlinux: kfuncs has id 7, which is FUNC 'take', but no "
                                "symbol of the set names it"});
    Ids ids;
    ids.set8("kfuncs", {{0, 0}, {8, 1 << 16}}, {"bpf_hide", "bpf_take"});
    ids.give(*kernel_.vmlinux);
    EXPECT_EQ(
        findings(),
        Lines{"kfunc-func vmlinux: kfunc bpf_take of kfuncs has no FUNC: no program can call it"});
    kernel_.vmlinux->id_symbols.clear(); // as in a vmlinuz, which has no symbols
    EXPECT_EQ(findings(), Lines{"kfunc-func vmlinux: 1 of 2 kfuncs of a set have no id: no program "
                                "can call them (it is the set of bpf_hide)"});
}

TEST_F(CheckKernel, ImplicitArguments)
{
    set_vmlinux(replaced(vmlinux_text, "bpf_hide_impl", "bpf_hide_imp"));
    set_module(module_text);
    EXPECT_EQ(findings(),
              Lines{"kfunc-impl vmlinux: kfunc bpf_hide has implicit arguments, and there "
                    "is no FUNC bpf_hide_impl"});
    set_vmlinux(replaced(vmlinux_text, "FUNC 'bpf_hide' type_id=6", "FUNC 'bpf_hide' type_id=13"));
    set_module(module_text);
    EXPECT_EQ(findings(),
              Lines{"kfunc-impl vmlinux: kfunc bpf_hide shows its implicit arguments: no "
                    "program can call it"});
}

TEST_F(CheckKernel, KfuncInTwoSets)
{
    Ids ids;
    ids.set8("kfuncs", {{7, 0}, {8, 1 << 16}}, {"bpf_hide", "bpf_take"});
    ids.set8("other_kfuncs", {{7, 0}}, {"bpf_take"});
    ids.give(*kernel_.vmlinux);
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(report_.kfuncs, 3u);
    EXPECT_EQ(report_.tagged, 3u);
}

TEST_F(CheckKernel, WithoutSymbols)
{
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(unchecked(), Lines());
    kernel_.vmlinux->id_symbols.clear();
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(report_.kfuncs, 3u);
    EXPECT_EQ(
        unchecked(),
        Lines{"ids: without symbols only sets of kfuncs are checked, recognised by their form"});
    kernel_.vmlinux->btf_ids.clear();
    EXPECT_EQ(findings(), Lines());
    EXPECT_EQ(report_.kfuncs, 1u);
    EXPECT_EQ(unchecked(), Lines{"ids: there is no .BTF_ids, the section with ids and kfuncs"});
}

// The module has one kfunc.
TEST_F(CheckKernel, WordsThatAreNotASetOfKfuncs)
{
    auto kfuncs = [&](std::vector<uint32_t> words) {
        Ids{std::move(words), {}}.give(*kernel_.vmlinux);
        findings();
        return report_.kfuncs;
    };
    EXPECT_EQ(kfuncs({1, 1, 7, 0}), 2u);
    EXPECT_EQ(kfuncs({1, 1, 7, (1 << 20) - 1}), 2u);
    EXPECT_EQ(kfuncs({1, 1, 7, 1 << 20}), 1u); // flags that do not exist
    EXPECT_EQ(kfuncs({2, 1, 7, 0}), 1u);       // too short for two kfuncs
    EXPECT_EQ(kfuncs({2, 1, 8, 0, 7, 0}), 1u); // not sorted
    EXPECT_EQ(kfuncs({1, 1, 2, 0}), 1u);       // a struct
    EXPECT_EQ(kfuncs({1, 1, 1000, 0}), 1u);    // no such type
    kernel_.version = KernelVersion{6, 8};
    EXPECT_EQ(kfuncs({1, 0, 7, (1 << 12) - 1}), 2u);
    EXPECT_EQ(kfuncs({1, 0, 7, 1 << 12}), 1u);
    // The flag was backported: sets without it are not sets of kfuncs.
    EXPECT_EQ(kfuncs({1, 1, 7, 0}), 2u);
    EXPECT_EQ(kfuncs({1, 1, 7, 0, 1, 0, 8, 0}), 2u);
    EXPECT_EQ(kfuncs({1, 1, 7, 1 << 20}), 1u);
}

TEST_F(CheckKernel, BackportedFlag)
{
    kernel_.version = KernelVersion{6, 8};
    Ids ids;
    ids.set8("kfuncs", {{7, 0}}, {"bpf_take"});
    ids.set8("not_kfuncs", {{8, 0}}, {"bpf_hide"});
    auto kfuncs = [&] {
        ids.give(*kernel_.vmlinux);
        findings();
        return report_.kfuncs;
    };
    const size_t all = kfuncs();
    ids.words[5] = 0; // the flags of not_kfuncs
    EXPECT_EQ(kfuncs(), all - 1);
    ids.words[1] = 0;
    EXPECT_EQ(kfuncs(), all);
}

} // namespace

} // namespace btflink::kernel
