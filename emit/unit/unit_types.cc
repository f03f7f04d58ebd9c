// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Translates the types of a unit to BTF.
//
// Problem. BTF refers to types by id, and ids follow the order of the types; DWARF refers by
// offset, forward and backward. Types of BTF are in the order in which their DIEs end
// (common/FORMAT.md, 2), so nested types come before the enclosing type, as in pahole's output.
//
// Method. Two walks over the types in that order. The first assigns ids: a pointer with type tags
// takes one for each tag, then its own; an array takes one for each dimension. The second writes
// the types, with all ids known.
//
// Invariant. Both walks agree on which DIEs are types and how many ids each takes (run() checks).
//
// A type that can be neither expressed nor replaced in BTF gets no id. References to it become
// void, or what refers to it is left out, too. A type that kernels may refuse is written. It is
// mended later, for this unit (see mend_types()) or in the merge.
//
// Cost. Linear in the number of entries, except that members are sorted in languages other than C.
#include "emit/unit/unit_passes.h"

#include "common/btf/btf_check.h"

#include <algorithm>
#include <bit>
#include <dwarf.h>
#include <set>

namespace btflink::emit
{

namespace
{

class Encoder
{
public:
    Encoder(const DieTree &tree, FeatureSet features, ByteOrder order, const Where &where,
            Skips &skips, StringTable *strings)
        : tree_(tree), layout_(tree), features_(features), order_(order), where_(where),
          skips_(skips), out_{BtfBuilder(strings), {}, {}, {}}
    {
    }

    UnitTypes run()
    {
        number();
        // Typically an entry takes 3 words, and every second entry has a new name of 20 bytes. A
        // little more is reserved.
        const size_t entries = tree_.dies.size();
        out_.btf.reserve(entries, entries * 4, entries * 5 / 8, entries * 12);
        for (DieIndex i : tree_.types)
            if (out_.ids[i] != void_id) {
                encode(i);
                CHECK(raw(out_.ids[i]) + 1 == raw(out_.btf.next_id()));
            }
        if (synthetic_int_ != void_id)
            CHECK(out_.btf.add_int("int", 4, BTF_INT_SIGNED) == synthetic_int_);
        if (synthetic_byte_ != void_id)
            CHECK(out_.btf.add_int("unsigned char", 1, 0) == synthetic_byte_);
        if (features_.has(Feature::decl_tag) && tree_.annotations)
            add_decl_tags();
        return std::move(out_);
    }

private:
    bool is_composite(const Die &d) const
    {
        return d.tag == DW_TAG_structure_type || d.tag == DW_TAG_class_type ||
               d.tag == DW_TAG_union_type;
    }

    /// Does the struct or union become a FWD? One that is too large for BTF does, too.
    static bool is_forward(const Die &d)
    {
        return d.is(Die::declaration) || d.byte_size > UINT32_MAX;
    }

    const char *name_of(const Die &d) const
    {
        if (d.name || !d.specification)
            return d.name;
        return tree_.at(tree_.find(d.specification)).name;
    }

    struct TypeVerdict {
        bool is_type;                           // the entry becomes a type of BTF
        std::optional<Skip> why = std::nullopt; // if it does not: what to count, if anything
    };
    static TypeVerdict type_if(bool expressible, Skip why)
    {
        return expressible ? TypeVerdict{true} : TypeVerdict{false, why};
    }

    TypeVerdict yields_type(DieIndex i) const
    {
        const Die &d = tree_.at(i);
        switch (d.tag) {
        case DW_TAG_base_type:
            return type_if(d.name, Skip::unnamed_base_type);
        case DW_TAG_typedef:
            return type_if(d.name, Skip::unnamed_typedef);
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            return type_if(name_of(d) || !is_forward(d), Skip::unnamed_declaration);
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_enumeration_type:
        case DW_TAG_ptr_to_member_type:
            return {true};
        case DW_TAG_array_type:
            return type_if(!why_incomplete(d), Skip::array_of_incomplete_type);
        case DW_TAG_subroutine_type:
            return type_if(!is_incomplete_prototype(i), Skip::prototype_of_incomplete_type);
        case DW_TAG_unspecified_type:
            return {is_null_pointer(d)};
        case DW_TAG_interface_type:
            return {false, Skip::interface_type};
        case DW_TAG_string_type:
            return {false, Skip::string_type};
        default:
            return {false};
        }
    }

    void number()
    {
        out_.ids.assign(tree_.dies.size(), void_id);
        uint32_t next = 1;
        bool arrays = false;
        for (DieIndex i : tree_.types) {
            const Die &d = tree_.at(i);
            const TypeVerdict verdict = yields_type(i);
            if (d.tag == DW_TAG_atomic_type)
                ++skips_[Skip::atomic_qualifier_dropped];
            if (verdict.why)
                ++skips_[*verdict.why];
            if (!verdict.is_type)
                continue;
            if (d.tag == DW_TAG_pointer_type && features_.has(Feature::type_tag))
                for_each_annotation(tree_, i, "btf_type_tag", [&](auto) { ++next; });
            if (d.tag == DW_TAG_array_type) {
                const size_t dimensions = layout_.array_dimensions(i).size();
                next += static_cast<uint32_t>(dimensions - 1);
                arrays = true;
            }
            out_.ids[i] = TypeId{next++};
            if (d.tag == DW_TAG_base_type)
                note_base_type(d, out_.ids[i]);
        }
        // The index type of all arrays is "int". The index type in DWARF depends on the compiler:
        // with it, equal arrays from gcc and clang would differ.
        if ((arrays || has_bytes_) && index_type_ == void_id)
            index_type_ = synthetic_int_ = TypeId{next++};
        if (has_bytes_ && byte_type_ == void_id)
            byte_type_ = synthetic_byte_ = TypeId{next++};
    }

    void note_base_type(const Die &d, TypeId id)
    {
        const std::string_view name(d.name);
        const bool is_int = d.byte_size && !is_float(d) && !becomes_bytes(d);
        if (index_type_ == void_id && name == "int" && is_int)
            index_type_ = id;
        if (byte_type_ == void_id && name == "unsigned char" && d.byte_size == 1)
            byte_type_ = id;
        has_floats_ |= is_float(d);
        has_bytes_ |= becomes_bytes(d);
    }

    bool is_float(const Die &d) const
    {
        const uint64_t size = d.byte_size;
        return d.encoding == DW_ATE_float && features_.has(Feature::float_kind) &&
               (size == 2 || size == 4 || size == 8 || size == 12 || size == 16);
    }

    /// Does a base type's size, unless 0, keep it from being an INT or FLOAT? Then it becomes an
    /// array of bytes: clang's 24-bit or 1024-bit integers, `_BitInt(200)`, `_Complex long double`.
    bool becomes_bytes(const Die &d) const
    {
        return d.byte_size && (d.byte_size > 16 || !std::has_single_bit(d.byte_size)) &&
               !is_float(d);
    }

    StrOff str(const char *name) { return out_.btf.stable_str(name); }
    TypeId ref(const Die &d) { return out_.of(layout_, d); }

    void encode(DieIndex i)
    {
        const Die &d = tree_.at(i);
        switch (d.tag) {
        case DW_TAG_base_type:
            base_type(d);
            return;
        case DW_TAG_typedef:
            out_.btf.add_ref(btf::Kind::TYPEDEF, str(d.name), ref(d));
            return;
        case DW_TAG_const_type:
            out_.btf.add_ref(btf::Kind::CONST, StrOff{0}, ref(d));
            return;
        case DW_TAG_volatile_type:
            out_.btf.add_ref(btf::Kind::VOLATILE, StrOff{0}, ref(d));
            return;
        case DW_TAG_restrict_type:
            out_.btf.add_ref(btf::Kind::RESTRICT, StrOff{0}, ref(d));
            return;
        case DW_TAG_pointer_type:
            pointer(i);
            return;
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
            ++skips_[Skip::reference_as_pointer];
            out_.btf.add_ref(btf::Kind::PTR, StrOff{0}, ref(d));
            return;
        case DW_TAG_unspecified_type:
            ++skips_[Skip::nullptr_as_pointer];
            out_.btf.add_ref(btf::Kind::PTR, StrOff{0}, void_id);
            return;
        case DW_TAG_ptr_to_member_type:
            ++skips_[Skip::pointer_to_member_as_int];
            out_.btf.add_int("pointer_to_member",
                             static_cast<uint32_t>(layout_.member_pointer_size(d)), 0);
            return;
        case DW_TAG_array_type:
            array(i);
            return;
        case DW_TAG_enumeration_type:
            enumeration(i);
            return;
        case DW_TAG_subroutine_type:
            prototype(i);
            return;
        default:
            composite(i);
            return;
        }
    }

    void base_type(const Die &d)
    {
        uint64_t size = d.byte_size;
        if (is_float(d)) {
            out_.btf.add_float(d.name, static_cast<uint32_t>(size));
            return;
        }
        uint32_t encoding = 0;
        if (d.encoding == DW_ATE_signed || d.encoding == DW_ATE_signed_char)
            encoding = BTF_INT_SIGNED;
        else if (d.encoding == DW_ATE_boolean)
            encoding = BTF_INT_BOOL;
        // Rust's `()`, of 0 bytes, becomes a struct without members. An INT has at least one byte,
        // so as the last member it would end after its struct. A struct may not have the name `()`.
        if (size == 0) {
            ++skips_[Skip::base_type_of_odd_size];
            out_.btf.add_composite(btf::Kind::STRUCT, "", 0, false);
            return;
        }
        if (becomes_bytes(d)) {
            ++skips_[Skip::base_type_of_odd_size];
            out_.btf.add_array(byte_type_, index_type_, static_cast<uint32_t>(size));
            return;
        }
        out_.btf.add_int(str(d.name), static_cast<uint32_t>(size), encoding);
    }

    void pointer(DieIndex i)
    {
        const Die &d = tree_.at(i);
        std::vector<std::string_view> tags;
        // clang and our gcc plugin list the tags of a pointer in source order, so the first tag is
        // innermost. The chain in gcc's DWARF begins with the outermost tag.
        bool source_order = true;
        if (features_.has(Feature::type_tag))
            source_order = !for_each_annotation(tree_, i, "btf_type_tag",
                                                [&](auto text) { tags.push_back(text); });
        TypeId first = out_.btf.next_id();
        auto count = static_cast<uint32_t>(tags.size());
        for (uint32_t n = 0; n < count; ++n) {
            TypeId target;
            if (source_order)
                target = n == 0 ? ref(d) : TypeId{raw(first) + n - 1};
            else
                target = n + 1 == count ? ref(d) : TypeId{raw(first) + n + 1};
            out_.btf.add_ref(btf::Kind::TYPE_TAG, tags[n], target);
        }
        TypeId outermost = source_order ? TypeId{raw(first) + count - 1} : first;
        out_.btf.add_ref(btf::Kind::PTR, StrOff{0}, count ? outermost : ref(d));
    }

    /// Adds an ARRAY per dimension: for `int a[2][3]`, first int[3], then an array of 2 of these.
    void array(DieIndex i)
    {
        const std::vector<uint32_t> dimensions = layout_.array_dimensions(i);
        TypeId element = ref(tree_.at(i));
        constexpr uint64_t too_large = 1ull << 32;
        uint64_t size =
            std::clamp<uint64_t>(layout_.size(layout_.target(tree_.at(i))), 1, too_large);
        for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
            element = out_.btf.add_array(element, index_type_, *d);
            size = std::min(too_large, size * *d);
            if (size == too_large)
                out_.suspect.push_back(element);
        }
    }

    /// A struct or union while its members are added.
    struct Composite {
        DieIndex index;
        const Die &die;
        const char *name;
        bool bitfields = false;   // it has bitfields that BTF can express
        uint64_t last_offset = 0; // of the previous member, in bits
    };

    void composite(DieIndex i)
    {
        Composite c{i, tree_.at(i), name_of(tree_.at(i))};
        if (!c.name)
            c.name = "";
        const bool is_union = c.die.tag == DW_TAG_union_type;
        if (is_forward(c.die)) {
            if (!c.die.is(Die::declaration))
                leave_out(c.die, c.name, "all members are", "a struct or union of 4 GB or more");
            out_.btf.add_fwd(str(c.name), is_union);
            return;
        }
        for_each_child(i, DW_TAG_member, [&](const Die &m) {
            c.bitfields |= m.bit_size && fits_bitfield(m, layout_.member_bit_offset(m, order_));
            out_.btf.prefetch_str(m.name);
        });
        out_.btf.add_composite(is_union ? btf::Kind::UNION : btf::Kind::STRUCT, str(c.name),
                               static_cast<uint32_t>(c.die.byte_size), c.bitfields);
        for_each_member(i, [&](const Die &m, DieIndex) { add_member(m, c); });
    }

    void add_member(const Die &m, Composite &c)
    {
        const uint64_t offset = layout_.member_bit_offset(m, order_), end = c.die.byte_size * 8;
        const char *why = why_inexpressible(m, offset, c.bitfields);
        if (!why && is_full(c.index))
            why = "more than 65535 members";
        if (!why && !tree_.c_names)
            why = why_not_in(m, c.die);
        if (why) [[unlikely]] {
            leave_out(m, c.name, strf("member '%.511s' is", m.name ? m.name : "").c_str(), why);
            return;
        }
        const DieIndex target = layout_.target(m);
        const TypeId type = out_.ids[target];
        // If the size of a struct is known only at run time, DWARF gives sizes only of its members.
        const bool is_beyond = offset > end || (end == 0 && layout_.size(target) != 0);
        if (type == void_id || offset < c.last_offset || is_beyond ||
            ((m.bit_size || has_floats_) && is_suspect(m, target, offset))) [[unlikely]]
            out_.suspect.push_back(out_.ids[c.index]);
        c.last_offset = offset;
        out_.btf.add_member(str(m.name), type,
                            static_cast<uint32_t>(offset | uint64_t{m.bit_size} << 24));
    }

    /// May kernels refuse the member? They refuse unaligned floating-point numbers, and bitfields
    /// that are longer than their type (C++), touch more than 16 bytes, are enums of more than 32
    /// bits, or are neither integers nor enums. `type`: the DIE to which the member refers.
    [[gnu::noinline]] bool is_suspect(const Die &m, DieIndex type, uint64_t offset) const
    {
        if (!m.bit_size && offset % 64 == 0)
            return false;
        if (tree_.at(type).tag != DW_TAG_base_type)
            type = layout_.stripped_target(m);
        const Die &d = tree_.at(type);
        if (m.bit_size > d.byte_size * 8 || m.bit_size + offset % 8 > max_int_bits)
            return true;
        if (d.tag != DW_TAG_base_type)
            return m.bit_size > (d.tag == DW_TAG_enumeration_type ? 32 : 0);
        const uint64_t alignment = std::min<uint64_t>(d.byte_size, tree_.address_size) * 8;
        return is_float(d) ? m.bit_size || offset % alignment : m.bit_size && becomes_bytes(d);
    }

    /// Does the type of the DIE at `i` have btf::max_vlen elements, the most that all kernels
    /// accept? For speed, checks the number of DIEs first, which rules out most types.
    bool is_full(DieIndex i)
    {
        return tree_.at(i).end - i > btf::max_vlen &&
               btf::vlen_of(out_.btf.type(out_.ids[i])) == btf::max_vlen;
    }

    /// Can BTF, with 8 bits for sizes and 24 for offsets, express the bitfield `m` at bit `offset`?
    static bool fits_bitfield(const Die &m, uint64_t offset)
    {
        return m.bit_size <= 255 && offset <= 0xffffff;
    }

    /// Why BTF cannot express the member, or null. `bitfields`: see Composite.
    static const char *why_inexpressible(const Die &m, uint64_t offset, bool bitfields)
    {
        if (m.bit_size > 255)
            return "a bitfield of more than 255 bits";
        if (m.bit_size && !fits_bitfield(m, offset))
            return "a bitfield beyond 2 MB";
        if (bitfields && offset > 0xffffff)
            return "a member beyond 2 MB in a struct with bitfields";
        if (offset > UINT32_MAX)
            return "a member beyond 512 MB";
        if (!m.bit_size && offset % 8)
            return "a member that is not a bitfield but begins inside a byte";
        return nullptr;
    }

    /// Why the type of `d` is incomplete, or null. Always null for C, which allows neither members
    /// nor array elements of an incomplete type. In C++, clang only declares classes that another
    /// object describes (std::string), even if members have these types. Fortran and Ada have types
    /// that BTF lacks.
    const char *why_incomplete(const Die &d) const
    {
        return tree_.c_names ? nullptr : layout_.why_incomplete(layout_.target(d));
    }

    /// For languages other than C: why the member cannot be in `composite`, or null. Ada has
    /// records whose size is computed at run time; their size is 0 here.
    const char *why_not_in(const Die &m, const Die &composite)
    {
        if (const char *type = why_incomplete(m)) {
            why_ = strf("a member whose type %s", type);
            return why_.c_str();
        }
        const uint64_t bits = m.bit_size ? m.bit_size : layout_.size(layout_.target(m)) * 8;
        return layout_.member_bit_offset(m, order_) + bits > composite.byte_size * 8
                   ? "a member beyond the end of its type"
                   : nullptr;
    }

    /// Does the prototype return a struct that is only declared, or take a parameter of an
    /// incomplete type? Always false for C: if final BTF only declares a type that a prototype
    /// needs, the merge writes the type with 0 bytes (btf_mend.cc).
    bool is_incomplete_prototype(DieIndex i) const
    {
        if (tree_.c_names)
            return false;
        bool incomplete = layout_.is_declared_result(tree_.at(i));
        for_each_child(i, DW_TAG_formal_parameter,
                       [&](const Die &p) { incomplete |= why_incomplete(p) != nullptr; });
        return incomplete;
    }

    /// Records that a part of type `name` is left out, such as "'s': member 'm' is left out, as BTF
    /// cannot express a bitfield beyond 2 MB". `part` includes the verb. The message gives the
    /// place of `d`.
    [[gnu::cold, gnu::noinline]] void leave_out(const Die &d, const char *name, const char *part,
                                                const char *reason)
    {
        ++skips_[Skip::inexpressible];
        inexpressible_.insert(d.offset);
        out_.left_out.push_back(
            {where_.at(d.offset),
             strf("'%.511s': %s left out, as BTF cannot express %s", name, part, reason)});
    }

    /// Calls visit(member, its DieIndex) in the order of BTF's members: for C that of the source,
    /// otherwise that of the offsets, because kernels refuse any other. (Rust reorders members, and
    /// C++ has members without an address of their own.)
    template <typename Visit>
    void for_each_member(DieIndex i, Visit visit)
    {
        std::vector<std::pair<uint64_t, DieIndex>> by_offset;
        tree_.for_each_child(i, [&](const Die &m, DieIndex c) {
            if (m.tag == DW_TAG_member && tree_.c_names)
                visit(m, c);
            else if (m.tag == DW_TAG_member)
                by_offset.emplace_back(layout_.member_bit_offset(m, order_), c);
        });
        std::ranges::stable_sort(by_offset, {}, &std::pair<uint64_t, DieIndex>::first);
        for (const auto &[offset, c] : by_offset)
            visit(tree_.at(c), c);
    }

    void enumeration(DieIndex i)
    {
        const Die &d = tree_.at(i);
        uint64_t size = d.byte_size ? d.byte_size : 4;
        const char *name = d.name ? d.name : "";
        if (size > 8 || !std::has_single_bit(size)) {
            leave_out(d, name, "all enumerators are",
                      strf("an enum of %llu bytes", ull(size)).c_str());
            out_.btf.add_composite(btf::Kind::STRUCT, str(name), static_cast<uint32_t>(size),
                                   false);
            return;
        }
        bool as_enum64 = size == 8 && features_.has(Feature::enum64);
        bool is_signed = false; // stays false without enum64: older kernels refuse signed enums
        if (as_enum64) {
            const uint8_t encoding = tree_.at(layout_.stripped_target(d)).encoding;
            is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
        } else if (features_.has(Feature::enum64)) {
            for_each_child(i, DW_TAG_enumerator,
                           [&](const Die &e) { is_signed |= e.is(Die::const_negative); });
        }
        out_.btf.add_enum(as_enum64 ? btf::Kind::ENUM64 : btf::Kind::ENUM, str(name),
                          static_cast<uint32_t>(size), is_signed);
        for_each_child(i, DW_TAG_enumerator, [&](const Die &e) {
            auto value = static_cast<int64_t>(e.value);
            bool fits = e.is(Die::const_negative) ? value >= INT32_MIN : e.value <= UINT32_MAX;
            const char *why = !e.name             ? "an enumerator without a name"
                              : !fits && size < 8 ? "a value outside the range of its enum"
                              : is_full(i)        ? "more than 65535 enumerators"
                                                  : nullptr;
            if (why) [[unlikely]]
                leave_out(e, name, strf("enumerator '%.511s' is", e.name ? e.name : "").c_str(),
                          why);
            else
                out_.btf.add_enumerator(str(e.name), e.value);
        });
    }

    void prototype(DieIndex i)
    {
        const Die &d = tree_.at(i);
        out_.btf.add_func_proto(ref(d));
        auto add = [&](const Die &p, StrOff name, TypeId type) {
            if (is_full(i))
                leave_out(p, "function prototype", "a parameter is", "more than 65535 parameters");
            else
                out_.btf.add_param(name, type);
        };
        for_each_child(i, DW_TAG_formal_parameter,
                       [&](const Die &p) { add(p, str(p.name), ref(p)); });
        for (DieIndex c = i + 1; c < d.end; c = tree_.at(c).end)
            if (tree_.at(c).tag == DW_TAG_unspecified_parameters) {
                add(tree_.at(c), StrOff{0}, void_id);
                break;
            }
    }

    void add_decl_tags()
    {
        auto add = [&](DieIndex die, TypeId target, int32_t component) {
            for_each_annotation(tree_, die, "btf_decl_tag", [&](std::string_view text) {
                out_.btf.add_decl_tag(text, target, component);
            });
        };
        for (DieIndex i : tree_.types) {
            const Die &d = tree_.at(i);
            TypeId id = out_.ids[i];
            // Kernels refuse a tag on a forward declaration.
            if (id == void_id || is_forward(d) || (!is_composite(d) && d.tag != DW_TAG_typedef))
                continue;
            if (is_composite(d)) {
                int32_t component = 0;
                for_each_member(i, [&](const Die &m, DieIndex c) {
                    if (!inexpressible_.contains(m.offset))
                        add(c, id, component++);
                });
            }
            add(i, id, -1);
        }
    }

    template <typename Visit>
    void for_each_child(DieIndex i, unsigned tag, Visit visit) const
    {
        tree_.for_each_child(i, [&](const Die &child, DieIndex) {
            if (child.tag == tag)
                visit(child);
        });
    }

    const DieTree &tree_;
    TypeLayout layout_;
    FeatureSet features_;
    ByteOrder order_;
    const Where &where_;
    Skips &skips_;
    UnitTypes out_;
    TypeId index_type_ = void_id; // the same for all arrays
    TypeId byte_type_ = void_id;  // element type of arrays of bytes; see becomes_bytes()
    // index_type_ and byte_type_, if they were added because the unit lacks them.
    TypeId synthetic_int_ = void_id, synthetic_byte_ = void_id;
    bool has_floats_ = false, has_bytes_ = false; // a base type becomes a FLOAT, or bytes
    std::set<uint32_t> inexpressible_;            // offsets of the DIEs given to leave_out()
    std::string why_;                             // a text that why_not_in() has returned
};

} // namespace

UnitTypes encode_types(const DieTree &tree, FeatureSet features, ByteOrder order,
                       const Where &where, Skips &skips, StringTable *strings)
{
    return Encoder(tree, features, order, where, skips, strings).run();
}

} // namespace btflink::emit
