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
//   types     FUNCs refer to FUNC_PROTOs, DATASECs to VARs, all in the same blob: if only one
//             first id makes that true, it is the right one; if several do, none is reported.
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

/// The words of a blob's types up to the first of unknown length, whatever they refer to.
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
        for (size_t at = 0, size; (size = btf::checked_words(words_, at)); at += size)
            types_.push_back(&btf::type_at(words_, at));
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

/// What the blobs of a file have in common.
struct Judge {
    uint32_t address_size; // 0: not known
    std::optional<KernelVersion> kernel;
};

/// The BTF in a section; `over`: what it continues. Its lines go to `out`.
std::shared_ptr<const Btf> check_blob(const FinalBlob &blob, std::shared_ptr<const Btf> over,
                                      const Judge &judge, std::vector<Error> &out)
{
    auto btf = Btf::parse(blob.blob, blob.where, std::move(over));
    if (!btf) {
        out.push_back(btf.error());
        return nullptr;
    }
    uint32_t address_size = judge.address_size;
    if (!address_size)
        address_size = guess_address_size(btf->base() ? *btf->base() : *btf);
    auto found =
        find_violations(blob.blob, *btf, blob.where, address_size, most_lines + 1, judge.kernel);
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

/// A type of a distilled base that is looked for.
struct Wanted {
    bool embedded = false; // its size counts, until one is found
    bool refused = false;  // one of its name was there
    std::vector<TypeId> found;
};

bool is_composite(uint32_t kind)
{
    return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/// Does the kernel look at such types of its own?
bool may_be_found(uint32_t kind)
{
    return is_composite(kind) || kind == BTF_KIND_INT || kind == BTF_KIND_FLOAT ||
           kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64 || kind == BTF_KIND_FWD;
}

/// Does the kernel match `there`, which has the same name, with `wanted`? The odd rules are the
/// kernel's.
bool is_found(const btf_type &wanted, const btf_type &there, bool embedded)
{
    uint32_t kind = btf::kind_of(wanted), its = btf::kind_of(there);
    switch (kind) {
    case BTF_KIND_FWD:
        if (its == BTF_KIND_FWD)
            return btf::kflag_of(there) == btf::kflag_of(wanted);
        return (its == BTF_KIND_STRUCT && !btf::kflag_of(there)) ||
               (its == BTF_KIND_UNION && btf::kflag_of(there));
    case BTF_KIND_INT:
        return its == kind && btf::tail_of(there)[0] >> 24 == btf::tail_of(wanted)[0] >> 24;
    case BTF_KIND_FLOAT:
        return its == kind;
    case BTF_KIND_ENUM:
        return its == kind || its == BTF_KIND_ENUM64;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return !embedded || there.size == wanted.size;
    default:
        return false;
    }
}

/// Looks the types of a distilled base up in a kernel as it does itself
/// (kernel/bpf/btf_relocate.c).
class LookUp
{
public:
    LookUp(const Btf &distilled, const Btf &split, const Btf &whole)
        : distilled_(distilled), whole_(whole), wanted_(raw(distilled.end_id()))
    {
        std::vector<bool> embedded = find_embedded(distilled, split);
        for (TypeId id = distilled.first_id(); id < distilled.end_id(); id = TypeId{raw(id) + 1}) {
            wanted_[raw(id)].embedded = embedded[raw(id)];
            by_name_.emplace(distilled.name(id), id);
        }
        for (TypeId id = whole.first_id(); id < whole.end_id(); id = TypeId{raw(id) + 1})
            if (is_composite(whole.kind(id)) && by_name_.contains(whole.name(id)))
                ++composites_[whole.name(id)];
        for (TypeId id = whole.first_id(); id < whole.end_id(); id = TypeId{raw(id) + 1})
            offer(id);
    }

    void report(const Where &where, const std::string &name, std::vector<Error> &out) const
    {
        for (TypeId id = distilled_.first_id(); id < distilled_.end_id(); id = TypeId{raw(id) + 1})
            if (std::string rule = verdict(id, name); !rule.empty())
                out.push_back(Result<void>(fail_type(distilled_, id, where, rule)).error());
    }

private:
    void offer(TypeId id)
    {
        const btf_type &there = whole_.type(id);
        auto [begin, end] = by_name_.equal_range(whole_.name(id));
        for (auto it = begin; it != end; ++it) {
            const btf_type &type = distilled_.type(it->second);
            Wanted &wanted = wanted_[raw(it->second)];
            if (!may_be_found(btf::kind_of(there)) || (has_size(id) && there.size != type.size) ||
                !is_found(type, there, wanted.embedded)) {
                wanted.refused = true;
                continue;
            }
            wanted.embedded = false;
            wanted.found.push_back(id);
        }
    }

    /// Must sizes be equal? Those of structs if there are several of the name.
    bool has_size(TypeId id) const
    {
        uint32_t kind = whole_.kind(id);
        if (is_composite(kind))
            return composites_.at(whole_.name(id)) > 1;
        return kind != BTF_KIND_FWD;
    }

    std::string verdict(TypeId id, const std::string &name) const
    {
        const Wanted &wanted = wanted_[raw(id)];
        const uint32_t kind = distilled_.kind(id);
        if (!may_be_found(kind) || kind == BTF_KIND_ENUM64 || distilled_.name(id).empty())
            return "no kernel looks for such a type";
        if (wanted.found.size() == 1)
            return "";
        if (wanted.found.size() > 1)
            return strf("types %u and %u of %s both could be it, so the kernel takes neither",
                        raw(wanted.found[0]), raw(wanted.found[1]), name.c_str());
        return wanted.refused
                   ? "what has this name in " + name + " is of another kind, size or encoding"
                   : "there is none of this name in " + name;
    }

    const Btf &distilled_, &whole_;
    std::vector<Wanted> wanted_; // by id
    std::unordered_multimap<std::string_view, TypeId> by_name_;
    std::unordered_map<std::string_view, size_t> composites_; // of one name
};

} // namespace

Result<std::vector<Error>> check_file(const std::string &path, const std::string &base_path,
                                      std::optional<KernelVersion> kernel)
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
    Judge judge{0, kernel};
    if (input->elf)
        judge.address_size = input->elf->address_size();
    std::vector<Error> out;
    Result<std::optional<FinalBlob>> distilled = std::nullopt;
    if (input->elf)
        distilled = find_final_btf(*input, ".BTF.base");
    if (!distilled)
        return tl::unexpected(distilled.error());
    if (*distilled) {
        auto own_base = check_blob(**distilled, nullptr, judge, out);
        if (!own_base)
            return out;
        auto split = check_blob(**btf, own_base, judge, out);
        if (base->btf && split && out.empty())
            LookUp(*own_base, *split, *base->btf)
                .report((*distilled)->where, base->input->where.file, out);
        return out;
    }
    check_blob(**btf, base->btf, judge, out);
    if (!base->btf || out.empty())
        return out;
    std::vector<Error> causes = compare_to_base(**btf, *base);
    causes.insert(causes.end(), out.begin(), out.end());
    return causes;
}

} // namespace btflink::merge
