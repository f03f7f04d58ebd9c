// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A contribution tells where the next one begins, so a section is walked from its
// beginning. In that of a kernel, three thousand contributions in 450 MB, each step waits for
// memory.
//
// Method. The section is cut into as many stretches as there are threads. In each, a thread looks
// for the first blob of ours, with a trailer behind it, and walks on from there, to the first
// contribution that begins behind the stretch. It was right if the walk over the stretch before
// ended at just that place. If not (what it found was something else), that walk goes on through
// this stretch.
//
// Invariant. Contributions and errors are those of one walk from the beginning.
#include "common/object_btf/contributions.h"

#include "common/btf/btf.h"
#include "common/io/parallel.h"
#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <optional>

namespace btflink
{

namespace
{

// Bytes that are worth a thread.
constexpr uint64_t least_stretch = 4 << 20;

/// Where the trailer of a blob of `size` bytes begins; nothing if it has none.
std::optional<uint64_t> find_trailer(Bytes rest, uint64_t size, ByteOrder order)
{
    const uint64_t trailer = align_up(size, 8);
    if (trailer + 12 <= rest.size() &&
        load<uint32_t>(rest.data() + trailer, order) == trailer_magic)
        return trailer;
    return std::nullopt;
}

class Walk
{
public:
    Walk(Bytes section, const Where &where) : section_(section), where_(where) {}

    /// Goes on from `at`, until a contribution begins at or behind `end`.
    void go(uint64_t at, uint64_t end)
    {
        at_ = at;
        while (ok_) {
            while (at_ < section_.size() && section_[at_] == std::byte{0})
                ++at_;
            if (at_ == section_.size() || at_ >= end)
                return;
            ok_ = step();
        }
    }
    uint64_t at() const { return at_; } // where it stands
    bool failed() const { return !ok_; }

    /// Takes over what another walk found that began where this one stands.
    void append(Walk &&other)
    {
        parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
        at_ = other.at_;
        ok_ = std::move(other.ok_);
    }

    Result<std::vector<Contribution>> finish()
    {
        if (!ok_)
            return fail(std::move(ok_).error());
        return std::move(parts_);
    }

private:
    Result<void> step()
    {
        const uint64_t base = where_.offset.value_or(0);
        Bytes rest = section_.subspan(at_);
        auto size = TRY(btf_blob_size(rest, where_.at(base + at_)));
        Contribution part{at_, rest.first(size), {}, 0};
        ByteOrder order = load<uint16_t>(rest.data(), ByteOrder::little) == BTF_MAGIC
                              ? ByteOrder::little
                              : ByteOrder::big;
        at_ += size;
        if (auto trailer = find_trailer(rest, size, order)) {
            uint64_t length = load<uint32_t>(rest.data() + *trailer + 8, order);
            if (length < least_trailer_length || length > rest.size() - *trailer)
                return fail(where_.at(base + part.offset + *trailer),
                            strf("link trailer claims %llu bytes, %llu are left",
                                 static_cast<unsigned long long>(length),
                                 static_cast<unsigned long long>(rest.size() - *trailer)));
            part.trailer = rest.subspan(*trailer, length);
            part.trailer_offset = part.offset + *trailer;
            at_ = part.trailer_offset + length;
        }
        parts_.push_back(part);
        return {};
    }

    Bytes section_;
    const Where &where_;
    uint64_t at_ = 0;
    std::vector<Contribution> parts_;
    Result<void> ok_;
};

/// Where what looks like a blob of ours with a trailer begins, from `at` on and before `end`.
std::optional<uint64_t> find_blob(Bytes section, uint64_t at, uint64_t end)
{
    for (at = align_up(at, 8); at < end && at + 8 <= section.size(); at += 8) {
        const std::byte *here = section.data() + at;
        if (load<uint16_t>(here, host_order) != BTF_MAGIC ||
            static_cast<uint8_t>(here[2]) != BTF_VERSION)
            continue;
        Bytes rest = section.subspan(at);
        auto size = btf_blob_size(rest, Where{});
        if (size && find_trailer(rest, *size, host_order))
            return at;
    }
    return std::nullopt;
}

} // namespace

Result<std::vector<Contribution>> split_contributions(Bytes section, const Where &where,
                                                      unsigned threads)
{
    const uint64_t stretches =
        std::clamp<uint64_t>(section.size() / least_stretch, 1, std::max(threads, 1u));
    auto begin_of = [&](uint64_t i) { return section.size() / stretches * i; };
    auto end_of = [&](uint64_t i) { return i + 1 == stretches ? section.size() : begin_of(i + 1); };
    std::vector<Walk> walks(stretches, Walk(section, where));
    std::vector<std::optional<uint64_t>> begins(stretches);
    parallel_for(stretches, threads, [&](size_t i) {
        begins[i] = i ? find_blob(section, begin_of(i), end_of(i)) : 0;
        if (begins[i])
            walks[i].go(*begins[i], end_of(i));
    });
    Walk &all = walks[0];
    for (size_t i = 1; i < stretches && !all.failed(); ++i) {
        if (begins[i] == all.at())
            all.append(std::move(walks[i]));
        else
            all.go(all.at(), end_of(i));
    }
    return all.finish();
}

} // namespace btflink
