// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks BTF by the rules of the kernel.
//
// Problem. A kernel that refuses a module's BTF refuses the module (unless it has
// CONFIG_MODULE_ALLOW_BTF_MISMATCH), and says little about why.
//
// Method. Four passes; each relies on what the passes before it have checked:
//   1. the header;
//   2. the kinds, if the kernel's version is known; then each type by itself (btf_check_alone.cc);
//   3. loops; this pass also computes the size of each type (type_sizes.cc);
//   4. each type against the types that it refers to, then chains of modifiers
//      (btf_check_targets.cc).
//
// Cost. Linear in types and elements. The passes are not recursive, because a chain of references
// may have as many links as there are types.
#include "common/btf/btf_check.h"

#include "common/btf/btf_check_rules.h"

namespace btflink
{

namespace
{

constexpr uint32_t accepted_length = 128; // all kernels accept names of up to 128 characters

bool is_checked(const BtfCheckState &c, TypeId id)
{
    const size_t index = raw(id) - raw(c.btf.first_id());
    return !c.only || (index < c.only->size() && (*c.only)[index]);
}

/// Checks types with `rule`, and adds violations to `found`. Stops when `found` has `most`
/// violations. Returns whether `found` is empty.
template <typename Rule>
bool check_all(BtfCheckState &c, Rule rule, size_t most, std::vector<Error> &found)
{
    for (TypeId id = c.btf.first_id(); id != c.btf.end_id() && found.size() < most;
         id = TypeId{raw(id) + 1})
        if (is_checked(c, id))
            if (Result<void> ok = rule(c, id); !ok)
                found.push_back(std::move(ok).error());
    return found.empty();
}

Result<void> check_kind(BtfCheckState &c, TypeId id)
{
    if (btf::kind_of(c.btf.type(id)) > c.forms().newest_kind)
        return violation(c, id, "this kernel does not know the kind");
    return {};
}

const char *element_noun(btf::Kind kind)
{
    if (kind == btf::Kind::FUNC_PROTO)
        return "parameter";
    if (btf::is_composite(kind))
        return "member";
    return btf::is_enum(kind) ? "enumerator" : "entry";
}

} // namespace

const KernelForms &BtfCheckState::forms()
{
    if (!known_forms)
        known_forms = kernel_forms(kernel, btf);
    return *known_forms;
}

std::vector<Error> run_check(Bytes blob, BtfCheckState c, size_t most)
{
    if (auto header = check_btf_header(blob, c.btf, c.where, c.kernel); !header)
        return {header.error()};
    std::vector<Error> found;
    if ((c.kernel && !check_all(c, check_kind, most, found)) ||
        !check_all(c, check_alone, most, found))
        return found;
    auto sizes = TypeSizes::compute(c.btf, c.where, c.pointer_size);
    if (!sizes)
        return {sizes.error()};
    c.sizes = std::move(*sizes);
    if (check_all(c, check_targets, most, found) && !c.only)
        check_all(c, check_modifier_chain, most, found);
    return found;
}

Failure violation(const BtfCheckState &c, TypeId id, const std::string &rule, size_t words)
{
    return fail_type(c.btf, id, c.where, rule, words);
}

Failure element_violation(const BtfCheckState &c, TypeId id, uint32_t index,
                          const std::string &rule)
{
    const btf_type &t = c.btf.type(id);
    const btf::WordRow &element = btf::kind_info(t).element;
    size_t words = btf::kind_info(t).fixed.count + size_t{index} * element.count;
    std::string text = strf("%s %u", element_noun(btf::kind_of(t)), index);
    if (element.name >= 0)
        text += " '" +
                std::string(c.btf.str(btf::tail_of(t)[words + static_cast<size_t>(element.name)])) +
                "'";
    return violation(c, id, text + ": " + rule, 3 + words);
}

bool is_identifier_at(BtfCheckState &c, uint32_t offset)
{
    auto good = [&](std::string_view name) {
        return is_identifier(name) && is_short_enough(c, name);
    };
    if (offset < c.btf.str_base())
        return good(c.btf.str(offset));
    if (c.identifiers.empty())
        c.identifiers.resize(c.btf.str_size());
    std::vector<bool>::reference is_known_good = c.identifiers[offset - c.btf.str_base()];
    if (!is_known_good)
        is_known_good = good(c.btf.str(offset));
    return is_known_good;
}

bool is_short_enough(BtfCheckState &c, std::string_view name)
{
    return name.size() <= accepted_length || c.only || name.size() <= c.forms().name_length;
}

std::string too_long(BtfCheckState &c, std::string_view name)
{
    const unsigned most = c.forms().name_length;
    return strf("name has %zu characters, %s read %u at most", name.size(),
                most < KernelForms{}.name_length ? "kernels before 6.1" : "kernels", most);
}

std::string identifier_fault(BtfCheckState &c, uint32_t offset)
{
    const std::string_view name = c.btf.str(offset);
    return is_identifier(name) ? too_long(c, name) : illegal_name;
}

IntLayout layout_of(const btf_type &t)
{
    uint32_t word = btf::tail_of(t)[0];
    IntLayout layout{(word >> 16) & 0xff, word & 0xff, false};
    layout.regular = !layout.offset && layout.bits >= 8 && layout.bits <= max_int_bits &&
                     !(layout.bits & (layout.bits - 1));
    return layout;
}

Result<void> check_btf_header(Bytes blob, const Btf &btf, const Where &where,
                              std::optional<KernelVersion> kernel)
{
    auto at = [&](uint64_t offset, const std::string &rule) {
        return fail(where.after(offset), "BTF header: " + rule);
    };
    auto word = [&](size_t offset) { return load<uint32_t>(blob.data() + offset, btf.order()); };
    const uint32_t length = word(4), type_off = word(8), type_len = word(12), str_off = word(16),
                   str_len = word(20);
    const auto [layout_off, layout_len] = layout_place(blob, length, btf.order());
    if (blob[3] != std::byte{0})
        return at(3, "flags are not 0");
    // If the layout is empty, its offset must be 0, too: kernels that know layouts ignore this
    // field, but older ones refuse unknown fields that are not 0.
    for (uint32_t i = layout_len ? layout_header_size : btf::header_size; i < length; ++i)
        if (blob[i] != std::byte{0})
            return at(i, "unknown fields are not 0");
    if (type_off != 0)
        return at(8, "types do not begin right after the header");
    if (layout_len && layout_off != type_len)
        return at(layout_fields, "the layout does not begin where types end");
    if (layout_len % layout_entry_size)
        return at(layout_fields + 4, "length of the layout is not a multiple of 4");
    if (str_off != uint64_t{type_len} + layout_len)
        return at(16, layout_len ? "strings do not begin where the layout ends"
                                 : "strings do not begin where types end");
    if (blob.size() != btf.blob_size())
        return at(16, "strings do not end where the blob ends");
    if (!btf.base() && type_len == 0)
        return at(12, "there are no types");
    if (str_len > btf::max_str_off + 1)
        return at(20, "strings are longer than 16 MB");
    if (raw(btf.end_id()) - 1 > btf::max_type_id)
        return at(12, "there are more than 1048575 types");
    if (layout_len && kernel_forms(kernel, btf).layout == false)
        return at(layout_fields, kernel ? "has a layout, which kernels before 7.1 refuse"
                                        : "has a layout section, but its types are those of a "
                                          "kernel without struct btf_layout, which refuses such "
                                          "sections");
    return {};
}

Result<void> check_btf(Bytes blob, const Btf &btf, const Where &where, uint32_t pointer_size,
                       std::optional<KernelVersion> kernel)
{
    std::vector<Error> found = find_violations(blob, btf, where, pointer_size, 1, kernel);
    if (found.empty())
        return {};
    return fail(std::move(found.front()));
}

std::vector<Error> find_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t pointer_size, size_t most,
                                   std::optional<KernelVersion> kernel)
{
    return run_check(blob, BtfCheckState{btf, where, pointer_size, kernel}, most);
}

} // namespace btflink
