// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The fixture of tests of check_kernel(): a valid kernel in memory, made from BTF text. The tests
// damage this kernel.
#pragma once

#include "btf-kernel/check/check_kernel.h"
#include "tests/unit/text_blob.h"

#include <gtest/gtest.h>

#include <utility>

namespace btflink::kernel
{

using btflink::test::from_text;
using btflink::test::TextBlob;

inline constexpr const char *vmlinux_text = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] STRUCT 'task_struct' size=16
        'pid' type_id=1 bits_offset=0
        'files' type_id=3 bits_offset=64
    [3] PTR '' type_id=4
    [4] STRUCT 'files_struct' size=4
        'count' type_id=1 bits_offset=0
    [5] PTR '' type_id=2
    [6] FUNC_PROTO '' ret_type_id=1
        'task' type_id=5
    [7] FUNC 'bpf_take' type_id=6 linkage=static
    [8] FUNC 'bpf_hide' type_id=6 linkage=static
    [9] DECL_TAG 'bpf_kfunc' type_id=7 component_idx=-1
    [10] DECL_TAG 'bpf_kfunc' type_id=8 component_idx=-1
    [11] STRUCT 'bpf_prog_aux' size=4
        'x' type_id=1 bits_offset=0
    [12] PTR '' type_id=11
    [13] FUNC_PROTO '' ret_type_id=1
        'task' type_id=5
        'aux' type_id=12
    [14] FUNC 'bpf_hide_impl' type_id=13 linkage=static
    [15] VAR 'counter' type_id=1 linkage=static
    [16] DATASEC '.data..percpu' size=12
        type_id=15 offset=8 size=4)";
inline constexpr const char *module_text = R"(
    [17] STRUCT 'mine' size=8
        'task' type_id=5 bits_offset=0
    [18] PTR '' type_id=17
    [19] FUNC_PROTO '' ret_type_id=1
        'm' type_id=18
        'task' type_id=5
    [20] FUNC 'bpf_mine' type_id=19 linkage=static
    [21] DECL_TAG 'bpf_kfunc' type_id=20 component_idx=-1)";

inline std::string replaced(std::string text, std::string_view what, std::string_view by)
{
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
}

/// Makes a section .BTF_ids and its symbols, word by word.
struct Ids {
    std::vector<uint32_t> words;
    std::vector<SectionSymbol> symbols;

    /// Adds a set of kfuncs. `pairs`: the id and flags of each kfunc. `names`: the kfunc of each
    /// symbol. resolve_btfids sorts the pairs by id but not the symbols, so names[i] need not be
    /// the kfunc of pairs[i].
    void set8(const std::string &name, const std::vector<std::pair<uint32_t, uint32_t>> &pairs,
              const std::vector<std::string> &names)
    {
        symbols.push_back({"__BTF_ID__set8__" + name, words.size() * 4, 0});
        words.push_back(static_cast<uint32_t>(pairs.size()));
        words.push_back(1);
        for (size_t i = 0; i < pairs.size(); ++i) {
            symbols.push_back({"__BTF_ID__func__" + names[i] + "__12", words.size() * 4, 4});
            words.push_back(pairs[i].first);
            words.push_back(pairs[i].second);
        }
    }
    void give(Binary &binary) const
    {
        const auto *bytes = reinterpret_cast<const std::byte *>(words.data());
        binary.btf_ids.assign(bytes, bytes + words.size() * 4);
        binary.id_symbols = symbols;
    }
};

class CheckKernel : public testing::Test
{
protected:
    CheckKernel()
    {
        kernel_.release = "6.12.0";
        kernel_.version = KernelVersion{6, 12};
        kernel_.config = "CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n";
        set_vmlinux(vmlinux_text);
        kernel_.modules.emplace_back();
        set_module(module_text);
    }

    void set_vmlinux(const std::string &text)
    {
        vmlinux_ = from_text(text);
        Binary binary;
        binary.name = "vmlinux";
        binary.has_btf = binary.has_symbols = binary.has_percpu = true;
        binary.btf = *vmlinux_.bytes;
        binary.btf_where = Where{"vmlinux", ".BTF"}.at(0);
        binary.percpu = {{"counter", 8, 4}};
        Ids ids;
        ids.words = {2};
        ids.symbols = {{"__BTF_ID__struct__task_struct__7", 0, 4}};
        ids.set8("kfuncs", {{7, 0}, {8, 1 << 16}}, {"bpf_hide", "bpf_take"}); // sorted by id
        ids.give(binary);
        kernel_.vmlinux = std::move(binary);
    }

    /// Makes the only module from `text`, over the BTF of vmlinux, or over the base that
    /// `distilled` describes. In the second case the module has no .BTF_ids.
    void set_module(const std::string &text, const char *distilled = nullptr)
    {
        const TextBlob base = distilled ? from_text(distilled) : TextBlob{};
        Binary &binary = kernel_.modules[0];
        binary = {};
        binary.name = "mine";
        binary.path = "mine.ko";
        binary.has_btf = true;
        binary.btf_where = Where{"mine.ko", ".BTF"}.at(0);
        binary.base_where = Where{"mine.ko", ".BTF.base"}.at(0);
        if (distilled)
            binary.base = *base.bytes;
        auto bytes = text_to_btf(text, Where{"text"}, host_order,
                                 distilled ? base.btf.get() : vmlinux_.btf.get());
        ASSERT_TRUE(bytes) << bytes.error().str();
        binary.btf = *bytes;
        if (!distilled) {
            Ids ids;
            ids.set8("mine_kfuncs", {{20, 0}}, {"bpf_mine"});
            ids.give(binary);
        }
    }

    /// Runs the checks; returns "RULE BINARY: WHAT" of findings that are not harmless.
    std::vector<std::string> findings()
    {
        report_ = check_kernel(kernel_);
        return lines(false);
    }
    /// Returns those findings of the last call of findings() that are harmless, or those that are
    /// not.
    std::vector<Finding> last(bool harmless) const
    {
        std::vector<Finding> out;
        for (const Finding &f : report_.found.list)
            if ((f.degree == Degree::harmless) == harmless)
                out.push_back(f);
        return out;
    }
    std::vector<std::string> lines(bool harmless) const
    {
        std::vector<std::string> out;
        for (const Finding &f : last(harmless))
            out.push_back(std::string(rule_name(f.rule)) + " " + f.binary + ": " + f.error.what);
        return out;
    }
    std::vector<std::string> notes() const { return lines(true); }

    /// Returns "RULE: WHY" of the checks that the last findings() skipped.
    std::vector<std::string> unchecked() const
    {
        std::vector<std::string> out;
        for (const SkippedCheck &u : report_.found.unchecked)
            out.push_back(std::string(rule_name(u.rule)) + ": " + u.why);
        return out;
    }

    using Lines = std::vector<std::string>;
    Kernel kernel_;
    TextBlob vmlinux_;
    CheckReport report_;
};

} // namespace btflink::kernel
