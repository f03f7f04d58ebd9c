// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds what a kernel would refuse in the BTF of a finished file.
//
// Problem. "failed to validate module BTF: -22" is all that a kernel says. Most often the module
// was built over another vmlinux than the one that runs: its numbers of types and offsets of
// strings go on where those of another base ended.
//
// Method. The rules of the kernel, one after the other. If one is violated in split BTF, the base
// that it was made over is worked out from the BTF itself, as it says nowhere which that was:
//   strings   the last of its own strings is referred to at the offset (end of the base's strings +
//             its place), and no reference is farther;
//   types     FUNCs refer to FUNC_PROTOs, DATASECs to VARs, all of its own: of all first ids that
//             make it so the only one is right; of several none is named.
// What differs from the base at hand is said. A distilled base (`.BTF.base`) is looked up by name
// and size instead, as the kernel does when it loads such a module.
//
// Cost. Linear, but for the first ids: references times candidates.
#include "merge/explain/check_file.h"

#include "common/btf/btf_check.h"
#include "common/btf/type_sizes.h"
#include "merge/input/final_btf.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t most_lines = 20; // of violations

/// The words of a blob's types as far as they can be told apart, whatever they refer to.
class LooseTypes
{
public:
    LooseTypes(Bytes blob, ByteOrder order)
    {
        auto field = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
        Bytes types = blob.subspan(size_t{field(4)} + field(8), field(12) / 4 * 4);
        strings_ = {reinterpret_cast<const char *>(blob.data()) + field(4) + field(16), field(20)};
        words_.resize(types.size() / 4);
        for (size_t i = 0; i < words_.size(); ++i)
            words_[i] = load<uint32_t>(types.data() + i * 4, order);
        for (size_t at = 0; at + 3 <= words_.size();) {
            const auto &t = *reinterpret_cast<const btf_type *>(&words_[at]);
            uint32_t kind = btf::kind_of(t);
            if (kind == 0 || kind >= btf::kind_count)
                break;
            size_t length = btf::words_of(btf::kinds[kind], btf::vlen_of(t));
            if (length > words_.size() - at)
                break;
            types_.push_back(&t);
            at += length;
        }
    }

    const std::vector<const btf_type *> &types() const { return types_; }
    std::string_view strings() const { return strings_; }

private:
    std::vector<uint32_t> words_;
    std::vector<const btf_type *> types_;
    std::string_view strings_;
};

/// Bytes of strings that the base had; none: it cannot be told.
std::optional<uint32_t> strings_of_its_base(const LooseTypes &split)
{
    std::string_view own = split.strings();
    uint32_t farthest = 0;
    for (const btf_type *t : split.types())
        btf::for_each_str_off(*t, [&](uint32_t off) { farthest = std::max(farthest, off); });
    if (own.size() < 2 || own.back() != '\0')
        return std::nullopt;
    size_t last = own.find_last_of('\0', own.size() - 2) + 1; // npos + 1 is 0
    if (farthest < last)
        return std::nullopt;
    return farthest - static_cast<uint32_t>(last);
}

/// Types that the base had, void counted; none: it cannot be told.
std::optional<uint32_t> first_id_over_its_base(const LooseTypes &split)
{
    // Ids that must be of a kind: {id, kind}.
    std::set<std::pair<uint32_t, uint32_t>> wanted;
    for (const btf_type *t : split.types()) {
        if (btf::kind_of(*t) == BTF_KIND_FUNC)
            wanted.emplace(t->type, BTF_KIND_FUNC_PROTO);
        if (btf::kind_of(*t) == BTF_KIND_DATASEC)
            btf::for_each_type_id(*t, [&](uint32_t id) { wanted.emplace(id, BTF_KIND_VAR); });
    }
    if (wanted.empty())
        return std::nullopt;
    // Some prototypes may be the base's; the last of all is not, if any is its own.
    auto [last, kind_of_last] = *wanted.rbegin();
    const auto &types = split.types();
    std::optional<uint32_t> found;
    for (uint32_t i = 0; i < types.size() && i < last; ++i) {
        if (btf::kind_of(*types[i]) != kind_of_last)
            continue;
        uint32_t first = last - i;
        bool fits = std::all_of(wanted.begin(), wanted.end(), [&](const auto &want) {
            return want.first < first || (want.first - first < types.size() &&
                                          btf::kind_of(*types[want.first - first]) == want.second);
        });
        if (!fits)
            continue;
        if (found)
            return std::nullopt;
        found = first;
    }
    return found;
}

std::vector<Error> compare_to_base(const FinalBlob &split, const Base &base)
{
    std::vector<Error> out;
    LooseTypes loose(split.blob, base.btf->order());
    const std::string &name = base.input->where.file;
    auto say = [&](std::string text) { out.push_back({split.where, std::move(text)}); };
    const uint32_t bytes = base.btf->str_size(), first = raw(base.btf->end_id());
    auto its_bytes = strings_of_its_base(loose);
    if (its_bytes && *its_bytes != bytes)
        say(strf("strings: was made over a base with %u bytes of strings, %s has %u", *its_bytes,
                 name.c_str(), bytes));
    auto its_first = first_id_over_its_base(loose);
    if (its_first && *its_first != first)
        say(strf("ids: was made over a base with %u types, %s has %u", *its_first - 1, name.c_str(),
                 first - 1));
    size_t all = 0, inside = 0;
    for (const btf_type *t : loose.types())
        btf::for_each_str_off(*t, [&](uint32_t off) {
            if (!off || off >= bytes)
                return;
            ++all;
            inside += base.btf->strings()[off - 1] != '\0';
        });
    if (inside)
        say(strf("strings: %zu of %zu names that are the base's begin inside a string of %s: was "
                 "made over another base",
                 inside, all, name.c_str()));
    return out;
}

/// The BTF in a section; `over`: what it continues. Its lines go to `out`.
std::shared_ptr<const Btf> check_blob(const FinalBlob &blob, std::shared_ptr<const Btf> over,
                                      uint32_t address_size, std::vector<Error> &out)
{
    auto btf = Btf::parse(blob.blob, blob.where, std::move(over));
    if (!btf) {
        out.push_back(btf.error());
        return nullptr;
    }
    if (!address_size)
        address_size = guess_address_size(btf->base() ? *btf->base() : *btf);
    auto found = find_violations(blob.blob, *btf, blob.where, address_size, most_lines + 1);
    bool more = found.size() > most_lines;
    if (more)
        found.pop_back();
    out.insert(out.end(), found.begin(), found.end());
    if (more)
        out.push_back({blob.where, strf("and more than these %zu", most_lines)});
    return std::make_shared<const Btf>(std::move(*btf));
}

/// Structs and unions of the distilled base that the module's own have inside: their sizes count.
std::vector<bool> find_embedded(const Btf &distilled, const Btf &split)
{
    std::vector<bool> embedded(raw(distilled.end_id()));
    auto mark = [&](uint32_t id) {
        for (;;) {
            const btf_type &t = split.type(TypeId{id});
            uint32_t kind = btf::kind_of(t);
            if (is_modifier(kind))
                id = t.type;
            else if (kind == BTF_KIND_ARRAY)
                id = btf::tail_of(t)[0];
            else
                break;
            if (id == 0)
                return;
        }
        if (id < embedded.size())
            embedded[id] = true;
    };
    for (TypeId id = split.first_id(); id < split.end_id(); id = TypeId{raw(id) + 1})
        if (split.kind(id) == BTF_KIND_STRUCT || split.kind(id) == BTF_KIND_UNION)
            btf::for_each_type_id(split.type(id), mark);
    return embedded;
}

/// May a type of a distilled base stand for `there`, of its name?
bool is_found(const btf_type &wanted, const btf_type &there, bool by_size)
{
    uint32_t kind = btf::kind_of(wanted), its = btf::kind_of(there);
    bool same_size = wanted.size == there.size;
    switch (kind) {
    case BTF_KIND_FWD: {
        uint32_t whole = btf::kflag_of(wanted) ? BTF_KIND_UNION : BTF_KIND_STRUCT;
        return its == whole || (its == kind && btf::kflag_of(there) == btf::kflag_of(wanted));
    }
    case BTF_KIND_INT:
        return its == kind && same_size &&
               btf::tail_of(there)[0] >> 24 == btf::tail_of(wanted)[0] >> 24;
    case BTF_KIND_FLOAT:
        return its == kind && same_size;
    case BTF_KIND_ENUM:
        return (its == BTF_KIND_ENUM || its == BTF_KIND_ENUM64) && same_size;
    default:
        return its == kind && (same_size || !by_size);
    }
}

/// Looks the types of a distilled base up as the kernel does (kernel/bpf/btf_relocate.c).
void look_up(const Btf &distilled, const Btf &split, const Where &where, const Base &base,
             std::vector<Error> &out)
{
    const Btf &whole = *base.btf;
    const std::string &name = base.input->where.file;
    std::unordered_multimap<std::string_view, const btf_type *> by_name;
    std::unordered_map<std::string_view, size_t> composites; // of one name
    for (TypeId id = whole.first_id(); id < whole.end_id(); id = TypeId{raw(id) + 1}) {
        if (whole.name(id).empty())
            continue;
        by_name.emplace(whole.name(id), &whole.type(id));
        composites[whole.name(id)] +=
            whole.kind(id) == BTF_KIND_STRUCT || whole.kind(id) == BTF_KIND_UNION;
    }
    const std::vector<bool> embedded = find_embedded(distilled, split);
    for (TypeId id = distilled.first_id(); id < distilled.end_id(); id = TypeId{raw(id) + 1}) {
        auto [begin, end] = by_name.equal_range(distilled.name(id));
        bool by_size = embedded[raw(id)] || composites[distilled.name(id)] > 1;
        bool found = std::any_of(begin, end, [&](const auto &other) {
            return is_found(distilled.type(id), *other.second, by_size);
        });
        if (!found)
            out.push_back(fail_type(distilled, id, where,
                                    begin == end ? "there is none of this name in " + name
                                                 : "what has this name in " + name +
                                                       " is of another kind, size or encoding")
                              .value());
    }
}

} // namespace

Result<std::vector<Error>> check_file(const std::string &path, const std::string &base_path)
{
    auto base = read_base(base_path);
    if (!base)
        return tl::unexpected(base.error());
    auto input = open_input(path);
    if (!input)
        return tl::unexpected(input.error());
    auto btf = find_final_btf(*input, ".BTF");
    if (!btf)
        return tl::unexpected(btf.error());
    if (!*btf)
        return fail(input->where, "has no .BTF");
    const uint32_t address_size = input->elf ? input->elf->address_size() : 0;
    std::vector<Error> out;
    Result<std::optional<FinalBlob>> distilled = std::nullopt;
    if (input->elf)
        distilled = find_final_btf(*input, ".BTF.base");
    if (!distilled)
        return tl::unexpected(distilled.error());
    if (*distilled) {
        auto own_base = check_blob(**distilled, nullptr, address_size, out);
        if (!own_base)
            return out;
        auto split = check_blob(**btf, own_base, address_size, out);
        if (base->btf && split && out.empty())
            look_up(*own_base, *split, (*distilled)->where, *base, out);
        return out;
    }
    check_blob(**btf, base->btf, address_size, out);
    if (!base->btf || out.empty())
        return out;
    std::vector<Error> causes = compare_to_base(**btf, *base);
    causes.insert(causes.end(), out.begin(), out.end());
    return causes;
}

} // namespace btflink::merge
