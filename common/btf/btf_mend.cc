// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Mends BTF: changes it just enough for kernels to accept it.
//
// Problem. Compilers make names with letters beyond ASCII, structs whose size is known only at run
// time, and bitfields of more than 32 bits whose type is an enum. A kernel refuses the whole blob
// for one of these.
//
// Method. Run the check. The remedy depends on what is at the place of a violation:
//   a name                        legal_name(): '_' for each illegal character, at most 511
//                                 characters
//   a FUNC, VAR or DATASEC        left out of final BTF, even if only its name is wrong, because
//                                 programs find it by its name; unchanged in an object
//   an entry of a DATASEC         left out of final BTF; unchanged in an object
//   members that are not in order of offsets
//                                 all are sorted by offset
//   a bitfield longer than its INT
//                                 it becomes as long as the INT
//   a bitfield whose type is not an INT and does not allow it (an enum allows 32 bits)
//                                 if it has up to 64 bits, an INT replaces the type; otherwise it
//                                 is left out
//   a FLOAT member (2, 4, 8 or 16 bytes) at an unaligned offset of whole bytes
//                                 an INT with the FLOAT's name and size replaces the type
//   any other wrong member, or one that ends beyond the struct
//                                 left out
//   an INT with several flags     at most one of the flags is kept: a known one
//   any other wrong FLOAT, ARRAY or enum, or an INT of more than 128 bits
//                                 a struct without members, of the same size (0 for an ARRAY)
//   a result that is void behind modifiers (const void)
//                                 void
//   a declared struct or union that a prototype passes or returns by value
//                                 a definition of 0 bytes, in final BTF only
//   a DECL_TAG                    left out
//   more than 32 modifiers, or a TYPE_TAG after another modifier (before Linux 7.2)
//                                 the first of them, or the one before the TYPE_TAG, refers to the
//                                 type behind all modifiers
//   more elements than kernels read
//                                 the surplus is left out
// All other violations stay. Tags of a type or member that was left out, DATASEC entries for a VAR
// that was left out, and DATASECs without entries are left out, too. One check with its remedies is
// a round. A round mends the violations that one pass of the check finds, at most one in each type,
// with two exceptions: all illegal names of a type's elements are changed at once; and if a remedy
// changes the type or length of a member, later members that need such a change get it in the same
// round. Rounds follow until nothing more can be mended, but no more than 64. The ninth time that
// an element of a type must be dropped, all later elements are dropped with it, so that the number
// of rounds does not depend on the number of elements. In an object only suspect types are mended.
// The type alone shows that it is suspect, so it is mended in all objects or in none.
//
// Cost. A check and a copy of all types per round, so mend_btf() is called only for BTF that may
// have violations.
#include "common/btf/btf_check.h"

#include "common/btf/btf_check_rules.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

namespace btflink
{

namespace
{

constexpr unsigned max_rounds = 64;   // violations that are left after these rounds stay
constexpr unsigned single_drops = 8;  // of elements of a type; the next drop takes all the rest
constexpr uint32_t max_bitfield = 64; // bits of an INT that replaces the type of a bitfield

using Remedy = std::optional<std::string>;
using Words = std::vector<uint32_t>; // of one type; empty if it was left out

btf_type &head(Words &words)
{
    return *reinterpret_cast<btf_type *>(words.data());
}

struct ElementRef {
    uint32_t type;                   // index in types_
    std::optional<uint32_t> element; // its index in the type; none: the type itself
};

class Mender
{
public:
    Mender(const Btf &btf, uint32_t pointer_size, const std::vector<bool> *suspects)
        : base_(btf.base()), first_(btf.first_id()), pointer_size_(pointer_size),
          suspects_(suspects), most_elements_(kernel_forms(std::nullopt, btf).most_elements),
          out_({BtfBuilder(first_, btf.str_base()), {}})
    {
        for (TypeId id : IdRange(first_, btf.end_id())) {
            const std::span words = btf::all_words(btf.type(id));
            types_.emplace_back(words.begin(), words.end());
            btf::for_each_str_off(head(types_.back()), [&](uint32_t &off) {
                if (off >= btf.str_base())
                    off = add_text(btf.str(off));
            });
        }
        drops_.resize(types_.size());
    }

    std::optional<MendedBtf> run()
    {
        // If the strings are full, some new names were lost.
        for (unsigned round = 0; round < max_rounds && !out_.btf.is_full() && mend_some(); ++round)
            finish_round();
        if (out_.changes.empty() || out_.btf.is_full())
            return std::nullopt;
        for (const Words &words : types_)
            out_.btf.add_words(words);
        return std::move(out_);
    }

private:
    /// Returns whether anything was changed.
    bool mend_some()
    {
        Words all;
        for (const Words &words : types_)
            all.insert(all.end(), words.begin(), words.end());
        const std::vector<std::byte> blob = btf_blob(all, out_.btf.view().strings(), host_order);
        auto btf = Btf::parse(blob, {}, base_);
        if (!btf)
            return false;
        auto sizes = TypeSizes::compute(*btf, {}, pointer_size_);
        if (!sizes)
            return false; // the types have a loop
        btf_ = &*btf;
        sizes_ = &*sizes;
        tags_.reset();
        known_.reset();
        bool changed = false;
        const Where nowhere;
        const BtfCheckState check{*btf, nowhere, pointer_size_, std::nullopt, suspects_};
        for (const Error &error : run_check(blob, check, std::numeric_limits<size_t>::max())) {
            if (!error.where.offset || *error.where.offset < btf->types_offset())
                return changed; // a violation of the blob as a whole, or of its base
            const ElementRef place = place_of(*error.where.offset);
            const Remedy remedy = types_[place.type].empty() ? std::nullopt : mend(place);
            if (!remedy)
                continue;
            changed = true;
            if (!remedy->empty())
                out_.changes.push_back(abbreviated(error.what) + ": " + *remedy);
        }
        return changed;
    }

    ElementRef place_of(uint64_t offset) const
    {
        const auto word = static_cast<uint32_t>((offset - btf_->types_offset()) / 4);
        uint32_t low = 0, high = btf_->size();
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            (btf_->word_index(id_of(middle)) <= word ? low : high) = middle;
        }
        const btf::KindInfo &kind = btf::kind_info(btf_->kind(id_of(low)));
        const uint32_t word_in_type = word - btf_->word_index(id_of(low)),
                       fixed = 3u + kind.fixed.count;
        if (!kind.element.count || word_in_type < fixed)
            return {low, std::nullopt};
        return {low, (word_in_type - fixed) / kind.element.count};
    }

    /// Mends the violation at `place`. Returns a description of the change, "" if the change was
    /// reported already, or std::nullopt if the violation cannot be mended.
    Remedy mend(ElementRef place)
    {
        Words &words = types_[place.type];
        uint32_t last_name = 0;
        btf::for_each_str_off(head(words),
                              [&](uint32_t off) { last_name = std::max(last_name, off); });
        if (last_name > btf::max_str_off)
            return std::nullopt; // the strings of a split blob and its base exceed 16 MB
        const btf::KindInfo &info = btf::kind_info(head(words));
        if (!place.element && btf::vlen_of(head(words)) > most_elements_ && info.element.count)
            return drop_surplus_elements(words);
        if (place.element && info.element.name >= 0 && rename_elements(words))
            return "all illegal names in this type are changed";
        switch (btf::kind_of(head(words))) {
        case btf::Kind::STRUCT:
        case btf::Kind::UNION:
            return place.element ? mend_member(words, *place.element) : mend_name(words);
        case btf::Kind::FUNC_PROTO:
            return mend_prototype(words, place.element);
        case btf::Kind::DATASEC:
            if (suspects_)
                return std::nullopt;
            return place.element ? drop_elements(words, *place.element) : drop(words);
        case btf::Kind::FUNC:
        case btf::Kind::VAR:
            return suspects_ ? std::nullopt : drop(words);
        case btf::Kind::DECL_TAG:
            return drop(words);
        case btf::Kind::INT:
            return mend_int(words);
        case btf::Kind::FLOAT:
        case btf::Kind::ARRAY:
            return make_opaque(words);
        case btf::Kind::FWD:
            return mend_name(words);
        case btf::Kind::ENUM:
        case btf::Kind::ENUM64:
            return head(words).name_off && is_misnamed(head(words).name_off) ? mend_name(words)
                                                                             : make_opaque(words);
        case btf::Kind::TYPEDEF:
            return is_misnamed(head(words).name_off) ? mend_name(words) : skip_modifiers(words);
        case btf::Kind::CONST:
        case btf::Kind::VOLATILE:
        case btf::Kind::RESTRICT:
            return skip_modifiers(words);
        case btf::Kind::TYPE_TAG:
            return head(words).name_off ? skip_modifiers(words) : mend_name(words);
        case btf::Kind::PTR:
        case btf::Kind::VOID:
            break;
        }
        return std::nullopt;
    }

    // Names.

    bool is_misnamed(uint32_t offset) const
    {
        return !is_identifier(btf_->str(offset)) ||
               (!suspects_ && btf_->str(offset).size() > max_legal_name);
    }
    uint32_t add_text(std::string_view text) { return raw(out_.btf.str(text)); }
    void rename(uint32_t &offset) { offset = add_text(legal_name(btf_->str(offset))); }

    Remedy mend_name(Words &words)
    {
        if (!is_misnamed(head(words).name_off))
            return std::nullopt;
        const std::string name = legal_name(btf_->str(head(words).name_off));
        head(words).name_off = add_text(name);
        return "it is renamed to '" + name + "'";
    }

    bool rename_elements(Words &words)
    {
        const btf::KindInfo &kind = btf::kind_info(head(words));
        bool renamed = false;
        for (uint32_t i = 0; i < btf::vlen_of(head(words)); ++i) {
            uint32_t &name = words[3 + kind.fixed.count + i * kind.element.count +
                                   static_cast<uint32_t>(kind.element.name)];
            const bool may_be_empty = !btf::is_enum(btf::kind_of(head(words)));
            if (!is_misnamed(name) || (name == 0 && may_be_empty))
                continue;
            rename(name);
            renamed = true;
        }
        return renamed;
    }

    // Members.

    struct Member {
        btf_member &entry;
        TypeId type;           // behind modifiers
        uint64_t size;         // of the type, in bytes; or TypeSizes::unsized
        uint32_t offset, bits; // bits: of a bitfield; 0: not a bitfield
        bool fits;             // the member ends within the struct
    };
    Member member_at(Words &words, uint32_t i)
    {
        const uint64_t struct_bits = uint64_t{head(words).size} * 8;
        const bool kflag = btf::kflag_of(head(words));
        Member m{member_of(words, i), {}, 0, offset_of(words, i), 0, false};
        m.type = sizes_->behind_modifiers(TypeId{m.entry.type});
        m.size = sizes_->of(m.type);
        m.bits = kflag ? BTF_MEMBER_BITFIELD_SIZE(m.entry.offset) : 0;
        m.fits = m.size != TypeSizes::unsized &&
                 m.offset + (m.bits ? m.bits : m.size * 8) <= struct_bits;
        return m;
    }

    Remedy mend_member(Words &words, uint32_t i)
    {
        if (i && offset_of(words, i) < offset_of(words, i - 1))
            return sort_members(words);
        const Member m = member_at(words, i);
        const Remedy remedy = adapt(m);
        if (!remedy)
            return drop_elements(words, i);
        uint32_t more = 0;
        for (uint32_t later = i + 1; later < btf::vlen_of(head(words)); ++later)
            more += adapt(member_at(words, later)).has_value();
        return more ? *remedy + strf("; later members that are changed, too: %u", more) : remedy;
    }

    /// Changes the type or the length of a member if kernels refuse these.
    Remedy adapt(const Member &m)
    {
        if (!m.fits)
            return std::nullopt;
        return m.bits ? mend_bitfield(m.entry, m.type) : mend_float(m.entry, m.type, m.offset);
    }

    Remedy mend_bitfield(btf_member &member, TypeId type)
    {
        const uint32_t bits = BTF_MEMBER_BITFIELD_SIZE(member.offset);
        const btf::Kind kind = btf_->kind(type);
        const bool is_enum = btf::is_enum(kind);
        if (is_enum && bits <= max_enum_bits)
            return std::nullopt;
        if (kind != btf::Kind::INT && bits <= max_bitfield) {
            const bool is_signed = is_enum && btf::kflag_of(btf_->type(type));
            const char *name = is_signed ? "long long int" : "long long unsigned int";
            member.type = new_int(name, 8, is_signed ? BTF_INT_SIGNED : 0);
            return "its type becomes an INT";
        }
        const uint64_t most = sizes_->of(type) * 8;
        if (kind == btf::Kind::INT && bits > most) { // in C++, the rest is padding
            member.offset =
                BTF_MEMBER_BIT_OFFSET(member.offset) | static_cast<uint32_t>(most << 24);
            return "it becomes as long as its type";
        }
        return std::nullopt;
    }

    Remedy mend_float(btf_member &member, TypeId type, uint32_t offset)
    {
        const uint64_t size = sizes_->of(type);
        if (btf_->kind(type) != btf::Kind::FLOAT || !std::has_single_bit(size) || offset % 8 ||
            offset % (std::min<uint64_t>(pointer_size_, size) * 8) == 0)
            return std::nullopt;
        const std::string name(btf_->name(type));
        member.type = new_int(name, static_cast<uint32_t>(size), 0);
        return "its type becomes an INT of the same name";
    }

    static btf_member &member_of(Words &words, uint32_t i)
    {
        return reinterpret_cast<btf_member *>(words.data() + 3)[i];
    }

    static uint32_t offset_of(Words &words, uint32_t i)
    {
        const uint32_t offset = member_of(words, i).offset;
        return btf::kflag_of(head(words)) ? BTF_MEMBER_BIT_OFFSET(offset) : offset;
    }

    Remedy sort_members(Words &words)
    {
        std::vector<uint32_t> order(btf::vlen_of(head(words))), places(order.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::stable_sort(order, {},
                                 [&](uint32_t member) { return offset_of(words, member); });
        const Words old = words;
        for (uint32_t i = 0; i < order.size(); ++i) {
            std::copy_n(old.begin() + 3 + order[i] * 3, 3, words.begin() + 3 + i * 3);
            places[order[i]] = i;
        }
        for_component_tags(words, [&](Words &tag) {
            if (tag[3] < places.size())
                tag[3] = places[tag[3]];
        });
        return "members are sorted";
    }

    /// Returns the id of this INT. Adds it after all other types, unless the blob itself (not its
    /// base) has it already.
    uint32_t new_int(std::string_view name, uint32_t size, uint32_t encoding)
    {
        const Words wanted{add_text(name), btf::make_info(btf::Kind::INT, 0, false), size,
                           encoding << 24 | size * 8};
        return find_or_append(wanted);
    }
    uint32_t find_or_append(const Words &wanted)
    {
        if (!known_) {
            known_.emplace();
            for (size_t i = 0; i < types_.size(); ++i)
                known_->try_emplace(types_[i], i);
        }
        const size_t next = types_.size() + added_.size();
        size_t &place = known_->try_emplace(wanted, next).first->second;
        if (place < types_.size() && types_[place] != wanted)
            place = next; // types_[place] was changed in this round
        if (place == next)
            added_.push_back(wanted);
        return raw(first_) + static_cast<uint32_t>(place);
    }

    // Prototypes.

    Remedy mend_prototype(Words &words, std::optional<uint32_t> param)
    {
        uint32_t &ref = param ? words[3 + *param * 2 + 1] : head(words).type;
        const TypeId target = sizes_->behind_modifiers(TypeId{ref});
        if (target == void_id && !param && ref) {
            ref = 0;
            return "it becomes void";
        }
        if (suspects_ || btf_->kind(target) != btf::Kind::FWD)
            return std::nullopt;
        const btf_type &fwd = btf_->type(target);
        const bool is_union = btf::kflag_of(fwd);
        const Words empty{fwd.name_off,
                          btf::make_info(is_union ? btf::Kind::UNION : btf::Kind::STRUCT, 0, false),
                          0};
        bool is_new = false;
        if (target >= first_) {
            is_new = type(target) != empty;
            type(target) = empty;
        } else { // a base cannot be changed
            ref = find_or_append(empty);
            is_new = replaced_forwards_.insert(raw(target)).second;
        }
        if (is_new)
            out_.changes.push_back(
                (is_union ? "union " : "struct ") + std::string(btf_->name(target)) +
                " is passed or returned by value where it is only declared: "
                "it is written without members (kernels refuse a prototype with a type that "
                "has no size)");
        return "";
    }

    Words &type(TypeId id) { return types_[raw(id) - raw(first_)]; }
    TypeId id_of(uint32_t index) const { return TypeId{raw(first_) + index}; }

    // Whole types.

    Remedy mend_int(Words &words)
    {
        const uint32_t encoding = words[3] >> 24, bits = words[3] & 0xff;
        if ((encoding & (encoding - 1)) == 0)
            return bits > max_int_bits ? make_opaque(words) : std::nullopt;
        // gcc before 14 writes char as SIGNED and CHAR.
        uint32_t left = 0;
        for (const uint32_t flag : {BTF_INT_CHAR, BTF_INT_SIGNED, BTF_INT_BOOL})
            if (encoding & flag)
                left = flag;
        words[3] = (words[3] & 0xffffff) | left << 24;
        return left ? "one of the flags is kept" : "the unknown flags are dropped";
    }

    /// Makes the type a struct without members, of the same size (an ARRAY: of 0 bytes). Only an
    /// enum keeps its name: that of a struct must be an identifier, which "long double" is not.
    Remedy make_opaque(Words &words)
    {
        const btf::Kind kind = btf::kind_of(head(words));
        const uint32_t name = btf::is_enum(kind) ? head(words).name_off : 0;
        const uint32_t size = kind == btf::Kind::ARRAY ? 0 : head(words).size;
        words = {name, btf::make_info(btf::Kind::STRUCT, 0, false), size};
        return "it is written as a struct without members";
    }

    Remedy skip_modifiers(Words &words)
    {
        const TypeId target = sizes_->behind_modifiers(TypeId{head(words).type});
        if (!btf::is_type(btf_->kind(target)) || head(words).type == raw(target))
            return std::nullopt;
        head(words).type = raw(target);
        return "it refers to the type behind all modifiers";
    }

    static Remedy drop(Words &words)
    {
        const std::string kind = btf::kind_info(head(words)).name;
        words.clear();
        return "the " + kind + " is left out";
    }

    /// Drops element `i` of a type in types_; after `single_drops` drops of this type's elements,
    /// also all later elements.
    Remedy drop_elements(Words &words, uint32_t i)
    {
        const uint32_t size = btf::kind_info(head(words)).element.count;
        unsigned &drops = drops_[static_cast<size_t>(&words - types_.data())];
        const uint32_t count = drops++ < single_drops ? 1 : btf::vlen_of(head(words)) - i;
        const auto begin = words.begin() + 3 + i * size;
        words.erase(begin, begin + count * size);
        head(words).info -= count;
        if (btf::is_composite(btf::kind_of(head(words))))
            drop_component_tags(words, i, count);
        return count == 1 ? "it is left out" : "it is left out with all that follows";
    }

    /// Drops the DECL_TAGs of the `count` members from `first` on, which were dropped, and adapts
    /// the index in each DECL_TAG of a later member.
    void drop_component_tags(const Words &of, uint32_t first, uint32_t count)
    {
        for_component_tags(of, [&](Words &tag) {
            if (tag[3] >= first + count)
                tag[3] -= count;
            else if (tag[3] >= first)
                tag.clear();
        });
    }

    /// Drops the elements beyond the number that the kernel reads.
    Remedy drop_surplus_elements(Words &words)
    {
        const uint32_t more = btf::vlen_of(head(words)) - most_elements_;
        words.resize(words.size() - size_t{more} * btf::kind_info(head(words)).element.count);
        head(words).info -= more;
        if (btf::is_composite(btf::kind_of(head(words))))
            drop_component_tags(words, most_elements_, more);
        return strf("all elements after the first %u are left out", most_elements_);
    }

    /// Visits the DECL_TAGs of the members of a struct or union. `of`: an item of types_.
    template <typename Visit>
    void for_component_tags(const Words &of, Visit visit)
    {
        if (!tags_) {
            tags_.emplace();
            for (uint32_t i = 0; i < types_.size(); ++i)
                if (!types_[i].empty() && btf::kind_of(head(types_[i])) == btf::Kind::DECL_TAG)
                    (*tags_)[head(types_[i]).type].push_back(i);
        }
        const auto found = tags_->find(raw(first_) + static_cast<uint32_t>(&of - types_.data()));
        if (found == tags_->end())
            return;
        for (uint32_t i : found->second)
            if (Words &tag = types_[i]; !tag.empty() && static_cast<int32_t>(tag[3]) >= 0)
                visit(tag);
    }

    /// Appends new types, removes dropped types and references to them, and renumbers the rest.
    void finish_round()
    {
        types_.insert(types_.end(), added_.begin(), added_.end());
        added_.clear();
        for (Words &words : types_)
            if (!words.empty())
                drop_references_to_empty(words);
        drops_.resize(types_.size());
        std::vector<uint32_t> ids(types_.size());
        uint32_t next = raw(first_);
        for (size_t i = 0; i < types_.size(); ++i) {
            if (types_[i].empty())
                continue;
            drops_[next - raw(first_)] = drops_[i];
            ids[i] = next++;
        }
        drops_.resize(next - raw(first_));
        std::erase_if(types_, [](const Words &words) { return words.empty(); });
        for (Words &words : types_)
            btf::for_each_type_id(head(words), [&](uint32_t &id) {
                if (id >= raw(first_))
                    id = ids[id - raw(first_)];
            });
    }

    /// Drops a tag of a dropped type, a DATASEC's entries for dropped VARs, and a DATASEC without
    /// entries.
    void drop_references_to_empty(Words &words)
    {
        auto is_gone = [&](uint32_t id) { return id >= raw(first_) && type(TypeId{id}).empty(); };
        const btf::Kind kind = btf::kind_of(head(words));
        if (kind == btf::Kind::DECL_TAG && is_gone(head(words).type))
            words.clear();
        if (kind != btf::Kind::DATASEC)
            return;
        size_t kept = 3;
        for (size_t i = 3; i < words.size(); i += 3)
            if (!is_gone(words[i])) {
                std::copy_n(words.data() + i, 3, words.data() + kept);
                kept += 3;
            }
        head(words).info -= static_cast<uint32_t>((words.size() - kept) / 3);
        words.resize(kept > 3 ? kept : 0);
    }

    std::shared_ptr<const Btf> base_;
    TypeId first_;
    uint32_t pointer_size_;
    // Null for final BTF. Types before the first DECL_TAG keep their indexes (see mend_btf()). If a
    // DECL_TAG is dropped, the DECL_TAGs and new INTs after it get lower indexes. Then bits of this
    // vector that were meant for other types count for them. This is harmless: new INTs have no
    // violations, and the merge checks all DECL_TAGs.
    const std::vector<bool> *suspects_;
    uint32_t most_elements_; // that the kernel reads of a type
    MendedBtf out_;          // its strings are used from the start; its types are set last
    std::vector<Words> types_, added_;
    std::set<uint32_t> replaced_forwards_; // FWDs of the base that mend_prototype() replaced
    std::vector<unsigned> drops_;          // by index in types_: calls of drop_elements()
    const Btf *btf_ = nullptr;             // all types as they were when this round began
    const TypeSizes *sizes_ = nullptr;
    // Made in each round when first needed.
    // By id of the tagged type: the indexes of its DECL_TAGs in types_.
    std::optional<std::unordered_map<uint32_t, std::vector<uint32_t>>> tags_;
    std::optional<std::map<Words, size_t>> known_; // index of the first type with these words
};

} // namespace

std::optional<MendedBtf> mend_btf(const Btf &btf, uint32_t pointer_size,
                                  const std::vector<bool> *suspects)
{
    return Mender(btf, pointer_size, suspects).run();
}

} // namespace btflink
