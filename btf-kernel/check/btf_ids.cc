// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads .BTF_ids by its symbols (common/btf/id_symbols.h). Without symbols, it searches for sets of
// kfuncs. resolve_btfids sorts each set by id, so the symbols in a set give its names, but not
// which entry has which name.
#include "btf-kernel/check/btf_ids.h"

#include "common/btf/id_symbols.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

constexpr KernelVersion first_with_mark{6, 9};
// In a set that is found without symbols; limits the search to linear time. Kernels allow 256 for
// each kind of program (BTF_KFUNC_SET_MAX_CNT).
constexpr uint32_t most_kfuncs = 1024;

class IdReader
{
public:
    IdReader(const Binary &binary, const Btf &btf, std::optional<KernelVersion> kernel)
        : binary_(binary), btf_(btf), marked_(!kernel || *kernel >= first_with_mark)
    {
        words_.resize(binary.btf_ids.size() / 4);
        for (size_t i = 0; i < words_.size(); ++i)
            words_[i] = load<uint32_t>(binary.btf_ids.data() + i * 4, binary.order);
    }

    Result<std::vector<IdSet>> run()
    {
        if (binary_.id_symbols.empty())
            return guess();
        std::vector<IdSet> out;
        uint64_t end = 0; // the end of the last set
        for (const PlacedSymbol &symbol : binary_.id_symbols) {
            const IdSymbol parsed = parse_id_symbol(symbol.name);
            const auto [kind, name] = parsed;
            if (kind.empty())
                continue;
            if (symbol.offset % 4 || symbol.offset / 4 >= words_.size())
                return bad(symbol, "is not inside");
            if (parsed.is_set()) {
                auto set = TRY(read_set(symbol, kind == "set8", std::string(name)));
                end = symbol.offset +
                      (kind == "set8" ? 8 + set.entries.size() * 8 : 4 + set.entries.size() * 4);
                out.push_back(std::move(set));
            } else if (symbol.offset < end) {
                out.back().names.emplace_back(name);
            } else {
                IdSet one;
                one.kind = kind;
                one.type_kind = parsed.type_kind();
                one.offset = symbol.offset;
                one.entries = {{words_[symbol.offset / 4], 0}};
                one.names = {std::string(name)};
                out.push_back(std::move(one));
            }
        }
        return out;
    }

private:
    Failure bad(const PlacedSymbol &symbol, const std::string &what) const
    {
        return fail(Where{binary_.path, ".BTF_ids"}.at(symbol.offset), symbol.name + ": " + what);
    }

    Result<IdSet> read_set(const PlacedSymbol &symbol, bool with_flags, std::string name) const
    {
        const size_t at = symbol.offset / 4, step = with_flags ? 2 : 1;
        const size_t left = words_.size() - at;
        const uint64_t count = words_[at];
        if (left < step || count > (left - step) / step)
            return bad(symbol, strf("%llu ids do not fit into the section",
                                    static_cast<unsigned long long>(count)));
        return make_set(at, count, with_flags, std::move(name));
    }

    IdSet make_set(size_t at, uint64_t count, bool with_flags, std::string name) const
    {
        IdSet set;
        set.name = std::move(name);
        set.offset = at * 4;
        set.with_flags = with_flags;
        set.of_kfuncs = with_flags && (!marked_ || words_[at + 1] & set_of_kfuncs);
        const size_t step = with_flags ? 2 : 1;
        for (size_t i = 0; i < count; ++i) {
            const uint32_t *pair = words_.data() + at + step + i * step;
            set.entries.push_back({pair[0], with_flags ? pair[1] : 0});
        }
        return set;
    }

    bool is_func(uint32_t id) const
    {
        return id < raw(btf_.end_id()) && btf_.kind(TypeId{id}) == btf::Kind::FUNC;
    }

    /// Does a set of kfuncs begin at this word?
    bool looks_like_kfuncs(size_t at) const
    {
        const size_t left = words_.size() - at;
        if (left < 4 || words_[at] == 0 || words_[at] > most_kfuncs ||
            words_[at] > (left - 2) / 2 || words_[at + 1] != (marked_ ? set_of_kfuncs : 0))
            return false;
        const uint32_t most_flags = marked_ ? 1 << 20 : 1 << 12; // flags that existed then
        uint32_t last = 0;
        for (size_t i = 0; i < words_[at]; ++i) {
            const uint32_t id = words_[at + 2 + i * 2];
            if ((id && !is_func(id)) || id < last || words_[at + 3 + i * 2] >= most_flags)
                return false;
            last = id;
        }
        return last != 0;
    }

    std::vector<IdSet> guess() const
    {
        std::vector<IdSet> out;
        for (size_t at = 0; at < words_.size();) {
            if (!looks_like_kfuncs(at)) {
                ++at;
                continue;
            }
            out.push_back(make_set(at, words_[at], true, ""));
            at += 2 + size_t{words_[at]} * 2;
        }
        return out;
    }

    const Binary &binary_;
    const Btf &btf_;
    const bool marked_;
    std::vector<uint32_t> words_;
};

} // namespace

Result<std::vector<IdSet>> read_btf_ids(const Binary &binary, const Btf &btf,
                                        std::optional<KernelVersion> kernel)
{
    return IdReader(binary, btf, kernel).run();
}

} // namespace btflink::kernel
