// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Walks over a unit with libdw's functions for children, siblings and attributes.
#include "emit/dwarf/die_attributes.h"
#include "emit/dwarf/libdw/libdw_file.h"

#include <cstring>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// What is needed to read values, in addition to the attribute.
struct Context {
    LibdwFile &file;
    const LibdwUnit &unit;
    const std::function<void(Dwarf_Die &)> &on_foreign_entry; // see read_entries()
    Skips &skips;
};

/// The register in DW_OP_entry_value(DW_OP_reg<n>), or -1.
int entry_register(Dwarf_Attribute &attr, const Dwarf_Op &op)
{
    Dwarf_Attribute entry;
    Dwarf_Op *ops;
    size_t count;
    return is_entry_value_op(op.atom) && dwarf_getlocation_attr(&attr, &op, &entry) == 0 &&
                   dwarf_getlocation(&entry, &ops, &count) == 0 && count == 1 &&
                   is_register_op(ops[0].atom)
               ? ops[0].atom - DW_OP_reg0
               : -1;
}

/// Reads the value of one attribute, for DieAttributes.
class LibdwValue
{
public:
    LibdwValue(const Context &context, Dwarf_Attribute *attr) : context_(context), attr_(attr) {}

    const char *string()
    {
        const char *text = dwarf_formstring(attr_);
        if (text)
            context_.file.elf().string_reads.add(std::strlen(text), DwarfFile::usual_string);
        return text;
    }
    Constant constant()
    {
        Dwarf_Word value;
        return dwarf_formudata(attr_, &value) == 0 ? Constant{value, true} : Constant();
    }
    std::optional<int64_t> signed_constant()
    {
        Dwarf_Sword value;
        return dwarf_formsdata(attr_, &value) == 0 ? std::optional<int64_t>(value) : std::nullopt;
    }
    bool flag()
    {
        bool set = false;
        return dwarf_formflag(attr_, &set) == 0 && set;
    }
    /// The value is a constant or an expression. An expression counts as a constant only if it is a
    /// lone DW_OP_plus_uconst or DW_OP_constu.
    Constant member_offset()
    {
        if (const Constant offset = constant(); offset.known)
            return offset;
        Dwarf_Op *ops;
        size_t count;
        if (dwarf_getlocation(attr_, &ops, &count) == 0 && count == 1 &&
            (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu))
            return {ops[0].number, true};
        return {};
    }
    std::optional<AddressRef> address()
    {
        return context_.file.address_of(*attr_, context_.unit.addr_base);
    }
    ParamLocation param_location()
    {
        ParamRules rules;
        Dwarf_Addr base, start, end;
        Dwarf_Op *ops;
        size_t count;
        ptrdiff_t offset = 0;
        constexpr uint64_t entry_size = 16; // an estimate: libdw does not report the size
        uint64_t bytes = 0;
        while ((offset = dwarf_getlocations(attr_, offset, &base, &start, &end, &ops, &count)) >
               0) {
            bytes += entry_size;
            if (bytes > DwarfFile::usual_list)
                context_.file.elf().list_reads.add(entry_size, 0);
            std::vector<LocationOp> entry;
            for (size_t i = 0; i < count; ++i) {
                // The parameter is not yet at this location. The list ends here, as it does in
                // the fast reader, and in versions of libdw that do not know this operation.
                if (ops[i].atom == DW_OP_GNU_uninit)
                    return rules.result();
                entry.push_back({ops[i].atom, ops[i].number, 0});
            }
            rules.add(entry, count ? entry_register(*attr_, ops[0]) : -1);
        }
        return rules.result();
    }
    /// Empty unless the location is DW_OP_addr or DW_OP_addrx, perhaps plus a constant.
    std::optional<AddressRef> variable_address()
    {
        Dwarf_Op *ops;
        size_t count;
        Dwarf_Block block;
        if (dwarf_getlocation(attr_, &ops, &count) != 0 || count == 0 || count > 2 ||
            dwarf_formblock(attr_, &block) != 0)
            return std::nullopt;
        if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
            return std::nullopt;
        std::optional<AddressRef> address;
        if (ops[0].atom == DW_OP_addr)
            address = context_.file.address_in_info(block.data + 1);
        else if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index)
            address = context_.file.elf().indexed_address(ops[0].number, context_.unit.addr_base);
        return address && count == 2 ? address->plus(ops[1].number) : address;
    }
    /// Always empty: libdw does not locate the range lists in a .dwo file.
    std::optional<AddressRef> range_start() { return std::nullopt; }
    void skip() {}

    uint32_t reference()
    {
        Dwarf_Die target;
        Dwarf_Attribute signature, *attr = attr_;
        bool found = dwarf_formref_die(attr, &target);
        // An entry with DW_AT_signature stands for the type in the type unit of this signature.
        if (found && dwarf_attr(&target, DW_AT_signature, &signature)) {
            attr = &signature;
            found = dwarf_formref_die(attr, &target);
        }
        if (!found) {
            ++context_.skips[attr->form == DW_FORM_ref_sig8 ? Skip::type_unit_reference
                                                            : Skip::unresolved_reference];
            return 0;
        }
        if (target.cu != context_.unit.die.cu)
            context_.on_foreign_entry(target);
        return context_.file.number_of(target);
    }

    std::optional<EnumeratorValue> enumerator()
    {
        const Constant value = constant();
        if (!value.known)
            return std::nullopt;
        return EnumeratorValue{value.value, attr_->form == DW_FORM_sdata ||
                                                attr_->form == DW_FORM_implicit_const};
    }

private:
    const Context &context_;
    Dwarf_Attribute *attr_;
};

/// The state of set(), a callback for dwarf_getattrs().
struct Attributes {
    const Context &context;
    DieAttributes<LibdwValue> entry;
    const Die &die;
    bool failed = false; // a name cannot be read

    static int set(Dwarf_Attribute *attr, void *self)
    {
        auto &all = *static_cast<Attributes *>(self);
        all.entry.set(attr->code, LibdwValue(all.context, attr));
        all.failed |= attr->code == DW_AT_name && !all.die.name;
        return DWARF_CB_OK;
    }
};

/// The entry whose children are read.
struct Parent {
    DieIndex kept; // this entry, or the nearest kept ancestor
    unsigned tag;
    bool is_unit;
    unsigned depth;
};

class LibdwDieReader
{
public:
    LibdwDieReader(const Context &context, DieTree &tree) : context_(context), tree_(tree) {}

    Result<void> read_children(Dwarf_Die &die, const Parent &parent)
    {
        if (parent.depth > max_depth)
            return fail(context_.file.place(die), strf("entries nest deeper than %zu", max_depth));
        Dwarf_Die last = die, child;
        int found = dwarf_child(&die, &child);
        while (found == 0) {
            TRY(read_entry(child, parent));
            last = child;
            found = dwarf_siblingof(&last, &child);
        }
        if (found < 0)
            return context_.file.dwarf_error(last, "cannot read the next entry");
        return {};
    }

private:
    Result<void> read_entry(Dwarf_Die &die, const Parent &parent)
    {
        const uint64_t offset = dwarf_dieoffset(&die);
        auto tag = static_cast<unsigned>(dwarf_tag(&die));
        if (tag == DW_TAG_invalid)
            return context_.file.dwarf_error(die, "cannot read entry");
        // libdw refuses a sibling attribute that points backwards, but not one that leads to an
        // entry below its own. Such attributes could double the work at each level of nesting.
        if (offset <= last_offset_)
            return fail(context_.file.place(die), "entries are not in order");
        last_offset_ = offset;
        if (tag == DW_TAG_imported_unit)
            import(die);
        if (is_static_member(die))
            tag = DW_TAG_variable; // the tag of static members in DWARF 5
        const bool has_signature = dwarf_hasattr(&die, DW_AT_signature);
        switch (has_signature ? Keep::signature : keep_tag(tag, parent.tag, parent.is_unit)) {
        case Keep::no:
            return {};
        case Keep::signature:
            want_type(die);
            [[fallthrough]];
        case Keep::children_only:
            return read_children(die, {parent.kept, tag, false, parent.depth + 1});
        case Keep::yes:
            break;
        }
        return keep(die, tag, parent);
    }

    static bool is_static_member(Dwarf_Die &die)
    {
        return dwarf_tag(&die) == DW_TAG_member &&
               (dwarf_hasattr(&die, DW_AT_external) || dwarf_hasattr(&die, DW_AT_declaration));
    }

    /// Adds the entry with its children. Leaves out a variable that is neither at file level nor
    /// only declared.
    Result<void> keep(Dwarf_Die &die, unsigned tag, const Parent &parent)
    {
        const auto index = static_cast<DieIndex>(tree_.dies.size());
        Die d;
        d.tag = static_cast<uint16_t>(tag);
        d.parent = parent.kept;
        d.offset = context_.file.number_of(die);
        if (!d.offset)
            return fail(context_.file.elf().where().in(".debug_info"),
                        "has more than 4 GB together with the files that it refers to");
        if (parent.is_unit || is_namespace(parent.tag))
            d.has |= Die::file_level;
        Attributes attributes{context_, {d, parent.tag, tree_, context_.skips}, d};
        if (dwarf_getattrs(&die, &Attributes::set, &attributes, 0) == -1 || attributes.failed)
            return context_.file.dwarf_error(die, "cannot read the attributes of this entry");
        if (context_.file.elf().list_reads.are_too_many())
            return fail(context_.file.place(die), DwarfFile::too_many_lists);
        if (context_.file.elf().string_reads.are_too_many())
            return fail(context_.file.place(die), DwarfFile::too_many_strings);
        if (tag == DW_TAG_variable && !is_static_member(die) &&
            !d.is(Die::file_level | Die::declaration))
            return {};
        tree_.annotations |= tag == tag_llvm_annotation || tag == tag_gnu_annotation;
        tree_.atomics |= tag == DW_TAG_atomic_type;
        tree_.dies.emplace_back() = d;
        TRY(read_children(die, {index, tag, false, parent.depth + 1}));
        tree_.end_die(index);
        return {};
    }

    void import(Dwarf_Die &die)
    {
        Dwarf_Attribute attr;
        Dwarf_Die unit;
        if (dwarf_attr(&die, DW_AT_import, &attr) && dwarf_formref_die(&attr, &unit))
            context_.on_foreign_entry(unit);
        else
            ++context_.skips[Skip::unresolved_reference];
    }

    /// Adds the type that `die` stands for to the unit's tree, even if nothing refers to `die`. A
    /// missing type is not counted here, but at each reference to `die`.
    void want_type(Dwarf_Die &die)
    {
        Dwarf_Attribute signature;
        Dwarf_Die type;
        if (dwarf_attr(&die, DW_AT_signature, &signature) && dwarf_formref_die(&signature, &type))
            context_.on_foreign_entry(type);
    }

    const Context &context_;
    DieTree &tree_;
    uint64_t last_offset_ = 0;
};

} // namespace

Result<void> read_entries(LibdwFile &file, LibdwUnit unit,
                          const std::function<void(Dwarf_Die &)> &on_foreign_entry, DieTree &tree,
                          Skips &skips)
{
    const Context context{file, unit, on_foreign_entry, skips};
    return LibdwDieReader(context, tree).read_children(unit.die, {0, DW_TAG_compile_unit, true, 0});
}

} // namespace btflink::emit
