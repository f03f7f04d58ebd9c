// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Deduplication: finds equal types among those of all objects. README.md describes the algorithm;
// write_types() writes BTF from the result.
#pragma once

#include "common/graph/ids.h"
#include "merge/input/load_objects.h"

#include <vector>

namespace btflink::merge
{

class BaseIndex;
class Stats;

/// A type of one source.
struct TypeAt {
    uint32_t source = 0;
    TypeId type{};

    bool operator==(const TypeAt &) const = default;
    auto operator<=>(const TypeAt &) const = default; // link order
};

/// The plain types of a base or an object.
struct Source {
    const Btf *btf;
    // Of an object's types, as in a link trailer; at least `count`. None for a base, or with
    // LoadedObjects::classes. The engine libbpf needs none.
    const std::byte *hashes;
    uint32_t count;                // ids 1..count may be plain types
    const std::vector<bool> *skip; // by id - 1: not a plain type; null: none to skip
    // By id: 1, 2, ... for the types of a base that take part, 0 for others. Null for an object.
    const uint32_t *chosen;
    // Where the source's types begin in the numbering of all types. In a base, all types that are
    // not chosen share this number; the chosen types follow.
    size_t offset;

    /// The stub hash of an object's type. `i`: its id - 1.
    Hash128 hash(uint32_t i) const
    {
        return {load<uint64_t>(hashes + size_t{i} * 16, ByteOrder::little),
                load<uint64_t>(hashes + size_t{i} * 16 + 8, ByteOrder::little)};
    }
    size_t index(TypeId id) const { return offset + (chosen ? chosen[raw(id)] : raw(id) - 1); }
    /// Calls visit(id, number) for an object's types 1..count, including those to skip, or for the
    /// chosen types of a base.
    template <typename Visit>
    void for_types(Visit visit) const
    {
        for (TypeId id : IdRange(TypeId{1}, TypeId{count + 1}))
            if (!chosen || chosen[raw(id)])
                visit(id, index(id));
    }
};

/// The base first, if there is one; then the linked objects.
struct Sources {
    std::vector<Source> list;
    std::vector<uint32_t> of_object; // source of each object; UINT32_MAX: not linked
    bool has_base = false;
    size_t types = 0;           // the end of the numbering of all types
    std::vector<uint32_t> base; // Source::chosen of the base

    bool is_base(uint32_t source) const { return has_base && source == 0; }
    size_t index(uint32_t source, TypeId id) const { return list[source].index(id); }
    size_t index(TypeAt t) const { return index(t.source, t.type); }
    const btf_type &type(TypeAt t) const { return list[t.source].btf->type(t.type); }
    std::string_view name(TypeAt t) const { return list[t.source].btf->name(t.type); }
    std::string_view str(TypeAt t, uint32_t offset) const
    {
        return list[t.source].btf->str(offset);
    }
    /// Is it a plain type of an object, or a chosen type of a base?
    bool is_plain(uint32_t source, TypeId id) const
    {
        const Source &s = list[source];
        if (s.chosen)
            return s.chosen[raw(id)] != 0;
        return raw(id) - 1 < s.count && !(s.skip && (*s.skip)[raw(id) - 1]);
    }
};

/// A class of types with equal stub hashes. Final classes that were split off are numbered after
/// all of these. In lists of references, `none` means void, or a type of the base that does not
/// take part.
enum class ClassId : uint32_t { none = UINT32_MAX };

constexpr uint32_t no_refs = UINT32_MAX;

/// A final equivalence class: one type of the result.
struct FinalClass {
    // Its lowest type, not counting resolved declarations; or, if no object has a type of this
    // class, the type from which it is made. Classes are written in the order of these types.
    TypeAt first;
    TypeAt canonical;        // the type that is written out
    bool live;               // false if all of its types moved to other classes
    uint32_t refs = no_refs; // index in Partition::refs; no_refs: those of `canonical`
};

/// The result: which final class each type is in.
struct Partition {
    IdVector<ClassId, FinalClass> classes;  // the classes of Classes, then those split off
    IdVector<ClassId, ClassId> alias;       // the class that replaces this one; usually itself
    std::vector<ClassId> of;                // per type, as in Classes; see class_of()
    std::vector<std::vector<ClassId>> refs; // in the order of the type's words; none: void

    /// Only after shorten_aliases().
    ClassId class_of(size_t index) const { return alias[of[index]]; }
    bool is_live(ClassId c) const { return classes[c].live && alias[c] == c; }
    size_t live_count() const
    {
        size_t count = 0;
        for (ClassId c : classes.ids())
            count += is_live(c);
        return count;
    }
    /// Makes each alias lead to a class that is not replaced itself.
    void shorten_aliases()
    {
        for (ClassId c : alias.ids()) {
            ClassId end = c;
            while (alias[end] != end)
                end = alias[end];
            alias[c] = end;
        }
    }
};

/// The result of an engine. Points to the objects and the base.
struct MergedTypes {
    Sources sources;
    Partition partition;
};

/// `base` may be null; its types are not chosen yet and have no numbers. The objects and the base
/// must outlive the result and not move.
Sources make_sources(const std::vector<Object> &objects, const std::vector<bool> &not_linked,
                     const Btf *base);

/// The engine for --dedup=hash. `not_linked`: objects to leave out. `base` may be null.
/// `explained`: every type of the base that the objects may share takes part, so that --why-dup can
/// explain the result. If `loaded` has classes, there must be no base, and all objects must be
/// linked.
MergedTypes merge_types(const LoadedObjects &loaded, const std::vector<bool> &not_linked,
                        const BaseIndex *base, bool explained, unsigned threads, Stats &stats);

/// For --dedup=libbpf (libbpf/dedup_libbpf.cc): all plain types of the linked objects, each in a
/// class of its own.
MergedTypes keep_all(const std::vector<Object> &objects, const std::vector<bool> &not_linked,
                     const Btf *base);

/// Runs btf__dedup on `blob`, which is in host byte order and extends `base` (may be null). Returns
/// a blob in byte order `order`. Errors of libbpf are reported for `where`.
Result<std::vector<std::byte>> dedup_libbpf(Bytes blob, const std::shared_ptr<const Btf> &base,
                                            ByteOrder order, const Where &where);

} // namespace btflink::merge
