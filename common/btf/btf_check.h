// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks whether kernels accept BTF, and mends BTF that they would refuse.
#pragma once

#include "common/btf/btf.h"
#include "common/btf/btf_builder.h"
#include "common/result.h"

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace btflink
{

// kernel_forms.cc: kernel versions, and forms of BTF that only some kernels read.

/// A mainline version. A distribution may have backported forms; this is noticed only for kinds
/// (kernel_forms()) and distilled bases (check_distilled_base()).
struct KernelVersion {
    uint32_t major = 0, minor = 0;
    auto operator<=>(const KernelVersion &) const = default;
};

/// Parses "6.12", "6.12.117-1" or "7.3-rc1". Returns nullopt if `text` is not a version.
std::optional<KernelVersion> parse_kernel_version(std::string_view text);
/// Stores the value of an option --kernel.
Result<void> store_option(std::optional<KernelVersion> &version, std::string_view text);

/// Forms of BTF that not all kernels accept.
struct KernelForms {
    btf::Kind newest_kind = btf::Kind::ENUM64;
    uint32_t most_elements = btf::max_vlen; // of a type
    // Is a layout section accepted? No value: not known; a layout section is then not a violation.
    std::optional<bool> layout;
    bool flagged_tags = true;       // TYPE_TAG and DECL_TAG with kflag
    bool tags_anywhere = true;      // a TYPE_TAG after another modifier
    bool printable_sections = true; // names of DATASECs: any printable characters
    // The most characters of an identifier or of a DATASEC's name: the kernel's KSYM_NAME_LEN.
    uint32_t name_length = 512;
};

/// The forms that a kernel accepts.
/// With a version: those of this version, and the kinds that `btf` has enumerators for, such as
/// BTF_KIND_ENUM64. Distributions backport kinds.
/// Without a version: those of the newest kernel, except for `layout`, `most_elements` and
/// `tags_anywhere`, which the types of `btf` show. Kernels have a struct btf_verifier_env, from 7.1
/// on a struct btf_layout, and from 7.2 on an enumerator BTF_MAX_VLEN. If `btf` is not that of a
/// kernel, `layout` has no value, TYPE_TAGs may be anywhere, and `most_elements` follows
/// BTF_MAX_VLEN all the same.
KernelForms kernel_forms(std::optional<KernelVersion> kernel, const Btf &btf);

/// Error: the kernel does not read distilled bases (.BTF.base of modules). Kernels read them from
/// 6.11 on; an older kernel with a struct btf_relocate reads them, too. `kernel`: std::nullopt if
/// the version is not known; an error is then possible only if `btf` is that of a kernel.
/// `btf`: the kernel's or, if there is none, the distilled base. `where`: the position of the
/// distilled base.
Result<void> check_distilled_base(std::optional<KernelVersion> kernel, const Btf &btf,
                                  const Where &where);

// btf_check.cc: checks whether kernels accept a blob, by the rules for BTF that is loaded by bpf()
// (kernel/bpf/btf.c). These are stricter than the rules for a kernel's own BTF. The rules are those
// of Linux 6.12 to 7.3. For an older kernel, the rules that KernelForms describes are added.
//
// Seven rules are left out:
//   - A blob in a bpf() call has at most 16 MB.
//   - The stack of the kernel's resolver has a depth of at most 32. Which types need more depends
//     on the order in which the resolver visits them.
//   - The rules for structs with locks, lists and reference counts of BPF programs.
//   - In a struct with kflag, an enum of 1 or 2 bytes counts as 4 bytes. Kernels have such enums,
//     and do not check their own BTF for this.
//   - Before 5.6, a FUNC has no linkage (its vlen is 0). Distributions may have changed this rule
//     and the next two.
//   - Before 6.0, an ENUM has no kflag.
//   - Before 6.4, only names of VARs and DATASECs have dots.

/// The most bits of an INT, and the most that a bitfield may span.
constexpr uint32_t max_int_bits = 128;

/// The text of an error ends like this if the name of a type or element must be an identifier, but
/// is not. (Names that are too long, and those of tags and DATASECs, have other texts.)
constexpr char illegal_name[] = "name is not an identifier";

/// Error: the first violation, with the offset of the type or element, the type's id, kind and
/// name, and the rule (for the header: the offset of the field, and the rule). `blob`: exactly the
/// bytes from which `btf` was parsed; `where`: their position. `pointer_size`: the target's, in
/// bytes. `kernel`: see kernel_forms(). The base of `btf` is not checked, except for loops of
/// structs, unions, arrays and modifiers to which types of `btf` lead.
Result<void> check_btf(Bytes blob, const Btf &btf, const Where &where, uint32_t pointer_size = 8,
                       std::optional<KernelVersion> kernel = std::nullopt);

/// Up to `most` violations, at most one per type. All are from the first pass, or part of a pass,
/// that finds any (btf_check.cc lists the passes).
std::vector<Error> find_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t pointer_size, size_t most,
                                   std::optional<KernelVersion> kernel = std::nullopt);

/// Checks only the header: its fields, the positions and sizes of types, layout and strings, the
/// number of types, and whether the kernel reads a layout. `kernel`: see kernel_forms().
Result<void> check_btf_header(Bytes blob, const Btf &btf, const Where &where,
                              std::optional<KernelVersion> kernel);

// btf_mend.cc: changes types that a kernel would refuse, as little as possible. A kernel refuses
// the whole blob for one such type.

struct MendedBtf {
    BtfBuilder btf;
    std::vector<std::string> changes; // one line each: the violation and what was done
};

/// Returns nothing if there are no violations, if none can be mended, or if the names do not fit
/// into a StringTable. `pointer_size`: the target's, in bytes. `suspects`: null for final BTF. Of
/// an object, only types for which suspects[id - 1] is true are mended. Some violations are left to
/// the merge even in these types: violations of VARs, FUNCs and DATASECs; names that are only too
/// long; chains of modifiers; and declared structs that prototypes pass or return by value. From an
/// object, only DECL_TAGs are dropped and, if anything is mended, DATASECs without entries. So
/// types before the first dropped one keep their ids.
std::optional<MendedBtf> mend_btf(const Btf &btf, uint32_t pointer_size,
                                  const std::vector<bool> *suspects = nullptr);

// base_match.cc: does split BTF belong to a base? Does a kernel have the types that a distilled
// base names?

/// Finds types of a blob, without its base, by name. The blob must outlive the index.
class NameIndex
{
public:
    explicit NameIndex(const Btf &btf) : btf_(btf)
    {
        ids_.reserve(btf.size());
        for (TypeId id : btf.ids())
            if (btf.type(id).name_off)
                ids_[btf.name(id)].push_back(id);
    }

    const Btf &btf() const { return btf_; }
    /// The ids of all types called `name`, in ascending order. Nameless types are not found.
    const std::vector<TypeId> &of(std::string_view name) const
    {
        static const std::vector<TypeId> none;
        auto it = ids_.find(name);
        return it == ids_.end() ? none : it->second;
    }

private:
    const Btf &btf_;
    std::unordered_map<std::string_view, std::vector<TypeId>> ids_;
};

/// Errors that show that `split` was made over another base; empty if nothing shows it. `split`: a
/// blob with a valid header. `name`: what to call `base` in the errors. `where`: the position of
/// `split`.
std::vector<Error> compare_to_base(Bytes split, const Where &where, const Btf &base,
                                   const std::string &name);

/// `distilled` is the distilled base of a module's BTF, `split`. Precondition: check_btf() accepts
/// both. `whole` has the types of a kernel. Returns an error for each type of `distilled` that this
/// kernel does not find, or finds twice, when it loads the module, by the rules of
/// tools/lib/bpf/btf_relocate.c; or one error that the byte order differs. `name`: what to call the
/// kernel. `where`: the position of the distilled base.
std::vector<Error> look_up_distilled(const Btf &distilled, const Btf &split, const NameIndex &whole,
                                     const Where &where, const std::string &name);

// name_rules.cc: which names kernels accept, and what other names are changed to.

/// Does `name` consist of letters (of Latin-1, as for the kernel's isalpha()), digits, '_' and '.',
/// and not begin with a digit? False for the empty name. The length is not checked.
bool is_identifier(std::string_view name);

/// Does `name` consist of characters that are printable in Latin-1? Kernels require this of a
/// DATASEC. False for the empty name. The length is not checked.
bool is_section_name(std::string_view name);

/// Does the text contain '$' or a byte beyond ASCII? C compilers allow these in identifiers, in
/// addition to letters, digits and '_'.
bool has_odd_character(std::string_view text);

/// Characters of the longest name that legal_name() makes by default.
constexpr size_t max_legal_name = 511; // of a symbol: KSYM_NAME_LEN without the NUL byte

/// An ASCII identifier like `name`, cut to `length_limit`: one '_' replaces each illegal character,
/// even if the character has several bytes (UTF-8), and '_' is put in front of a leading digit. The
/// empty name becomes "_".
std::string legal_name(std::string_view name, size_t length_limit = max_legal_name);
/// For messages: `text` or, if it has more than 600 characters, the first and last 300 with "..."
/// between them. Names may have any length.
std::string abbreviated(const std::string &text);

/// Would legal_name() leave `name` as it is?
bool is_legal_name(std::string_view name, size_t length_limit = max_legal_name);

} // namespace btflink
