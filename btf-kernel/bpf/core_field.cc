// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Follows libbpf. Every walk has a bound, because the BTF may be malformed.
#include "btf-kernel/bpf/core_field.h"

#include "btf-kernel/diff/types.h"

#include <charconv>

namespace btflink::kernel::bpf
{

namespace
{

using namespace diff;

constexpr size_t max_spec = 64; // BPF_CORE_SPEC_MAX_LEN
/// Go on from `out` to a member of it.
bool find_member(const Btf &btf, std::string_view name, KernelField &out)
{
    const uint32_t id = behind_modifiers(btf, out.type);
    if (!btf::is_composite(btf.kind(TypeId{id})))
        return false;
    for (const Member &m : members_of(btf, id))
        if (m.name == name) {
            out = {out.offset + m.offset, m.type, m.bits, m.is_last};
            return true;
        }
    return false;
}

/// Moves from `out` to an element of it. Returns an explanation if it does not fit.
std::optional<std::string> find_element(const Btf &btf, const Step &step, bool first,
                                        KernelField &out)
{
    uint32_t id = behind_modifiers(btf, out.type);
    if (!first) {
        if (btf.kind(TypeId{id}) != btf::Kind::ARRAY)
            return "is not an array there";
        const uint32_t *array = btf::tail_of(btf.type(TypeId{id}));
        if (step.index >= array[2] && !(array[2] == 0 && out.is_end))
            return strf("has %u elements there", array[2]);
        id = behind_modifiers(btf, array[0]);
    }
    out.offset += step.index * size_of(btf, id).value_or(0) * 8;
    out.type = id;
    out.bits = 0;
    out.is_end = false;
    return std::nullopt;
}

} // namespace

std::optional<std::vector<uint32_t>> parse_access(std::string_view text)
{
    std::vector<uint32_t> out;
    while (!text.empty()) {
        uint32_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || out.size() == max_spec)
            return std::nullopt;
        out.push_back(value);
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        if (text.starts_with(':'))
            text.remove_prefix(1);
        else if (!text.empty())
            return std::nullopt;
    }
    if (out.empty())
        return std::nullopt;
    return out;
}

std::optional<LocalField> parse_field(const Btf &btf, uint32_t type,
                                      const std::vector<uint32_t> &access)
{
    LocalField out;
    uint32_t id = behind_modifiers(btf, type);
    out.offset = access[0] * size_of(btf, id).value_or(0) * 8;
    out.steps.push_back({"", access[0], id});
    bool last_is_end = false; // the last member of its struct: an array may have any length
    for (size_t i = 1; i < access.size(); ++i) {
        id = behind_modifiers(btf, id);
        const btf_type *t = id ? &btf.type(TypeId{id}) : nullptr;
        if (t && btf::is_composite(btf::kind_of(*t))) {
            if (access[i] >= btf::vlen_of(*t))
                return std::nullopt;
            const Member m = member_at(btf, *t, access[i]);
            out.offset += m.offset;
            if (!m.name.empty())
                out.steps.push_back({m.name, 0, m.type, m.bits});
            last_is_end = !m.name.empty() && m.is_last;
            id = m.type;
        } else if (t && btf::kind_of(*t) == btf::Kind::ARRAY) {
            const uint32_t *array = btf::tail_of(*t);
            if (access[i] >= array[2] && !(array[2] == 0 && last_is_end))
                return std::nullopt;
            id = behind_modifiers(btf, array[0]);
            out.steps.push_back({"", access[i], id});
            out.offset += access[i] * size_of(btf, id).value_or(0) * 8;
            last_is_end = false;
        } else {
            return std::nullopt;
        }
    }
    return out;
}

std::optional<std::string> find_field(const Btf &local_btf, const LocalField &local,
                                      const Btf &target_btf, uint32_t root, KernelField &out)
{
    out = {};
    out.type = root;
    for (size_t i = 0; i < local.steps.size(); ++i) {
        const Step &step = local.steps[i];
        if (!step.name.empty()) {
            if (!find_member(target_btf, step.name, out))
                return "has no member '" + std::string(step.name) + "'";
            if (!fields_are_compatible(local_btf, step.type, target_btf, out.type))
                return "'" + std::string(step.name) + "' is " + one_line(target_btf, out.type) +
                       " there, of another kind";
        } else if (auto error = find_element(target_btf, step, i == 0, out)) {
            return error;
        }
    }
    return std::nullopt;
}

uint64_t load_size(const Btf &btf, uint32_t id)
{
    for (size_t i = 0; i < max_spec; ++i) {
        id = behind_modifiers(btf, id);
        if (btf.kind(TypeId{id}) != btf::Kind::ARRAY)
            break;
        id = btf::tail_of(btf.type(TypeId{id}))[0];
    }
    return size_of(btf, id).value_or(0);
}

bool is_unsigned_or_pointer(const Btf &btf, uint32_t id)
{
    id = behind_modifiers(btf, id);
    const btf::Kind kind = btf.kind(TypeId{id});
    return kind == btf::Kind::PTR ||
           (kind == btf::Kind::INT &&
            BTF_INT_ENCODING(btf::tail_of(btf.type(TypeId{id}))[0]) != BTF_INT_SIGNED);
}

} // namespace btflink::kernel::bpf
