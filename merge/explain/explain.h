// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Explains results: `btf-merge --check` and `--why-dup`.
#pragma once

#include "common/btf/btf_check.h"
#include "common/result.h"
#include "merge/dedup/dedup.h"

#include <string>
#include <vector>

namespace btflink::merge
{

// check_file.cc: finds what a kernel would refuse in final BTF.

/// Checks the final BTF of the file `path`: raw, or `.BTF` and `.BTF.base` of an ELF file. `base`:
/// the file with the BTF that split BTF in `path` extends, or "". `kernel`: see kernel_forms().
/// Returns violations of the kernel's rules (common/btf/btf_check.h). If split BTF has violations,
/// or another byte order than `base`, signs that it was made over another base come first. If BTF
/// with a distilled base has no violations, and `base` is given, returns the errors of
/// look_up_distilled(), which looks up the types of the distilled base in `base`. Error: a file
/// cannot be read, is malformed ELF, has BTF with a malformed header, or has no final BTF; or the
/// BTF of `base` is malformed.
Result<std::vector<Error>> check_file(const std::string &path, const std::string &base,
                                      std::optional<KernelVersion> kernel = std::nullopt);

// why_dup.cc: why the result has several types of one name.

/// Returns the report. `name`: only for this struct, union, enum or typedef, as "s" or "struct s";
/// empty: for all. `base_name`: what to call the base, if there is one.
std::string why_dup(const std::vector<Object> &objects, const MergedTypes &types,
                    std::string_view name, const std::string &base_name);

// root_cause.cc: the names with several definitions in a result, and the root cause of each.

/// A name of structs, unions, enums or typedefs in the result; or the unnamed types of one shape.
enum class TypeName : uint32_t { none = UINT32_MAX };
/// Classes of one shape differ at most in references, which lead to types of the same name.
enum class Shape : uint32_t { none = UINT32_MAX };

/// A name and its classes in the result.
struct NameUse {
    char space;                      // 's', 'u', 'e' or 't'; 0 for unnamed types
    std::vector<ClassId> classes;    // definitions, in order
    ClassId forward = ClassId::none; // its declaration, if the result has one
    std::vector<Shape> versions;     // its shapes, in order; a root has two or more
    // The root that caused the split into several classes; a root is its own cause. None if nothing
    // was split, or if the cause is unknown. If the cause is another name, this name has only one
    // shape, and `split` is that shape.
    TypeName root = TypeName::none;
    Shape split = Shape::none;
    // Of a root: the number of types that exist because of it (all but the first of each shape that
    // was split), and how many of them are named structs and unions.
    size_t blamed_types = 0, blamed_structs = 0;

    bool is_root() const { return versions.size() > 1; }
};

/// The classes of a shape, in order. If there are several, `split_by` is the name that split the
/// shape (none: not found): reference number `position` leads to different classes of this name.
struct ShapeUse {
    std::vector<ClassId> classes;
    TypeName split_by = TypeName::none;
    uint32_t position = 0;
};

/// All names and shapes of a result, and the name that split each shape.
class SplitGraph
{
public:
    explicit SplitGraph(const MergedTypes &types);

    IdVector<TypeName, NameUse> names;
    IdVector<Shape, ShapeUse> shapes;

    TypeAt canonical(ClassId c) const { return partition_.classes[c].canonical; }
    const Btf &btf_of(ClassId c) const { return *sources_.list[canonical(c).source].btf; }
    /// What the reference `ref` of a type of `source` contributes to a shape. Equal for types of
    /// one name, and for unnamed types of one shape.
    uint64_t stub_at(uint32_t source, uint32_t ref) const { return stub(class_at(source, ref)); }

private:
    ClassId class_at(uint32_t source, uint32_t ref) const;
    uint64_t stub(ClassId c) const;
    void refs_of(ClassId c, std::vector<ClassId> &out) const;
    uint64_t shape_hash(ClassId c, const std::vector<ClassId> &refs, std::string &buffer) const;
    void find_names();
    void find_shapes();
    void name_unnamed();
    void find_roots();
    void find_blame();

    const Sources &sources_;
    const Partition &partition_;
    IdVector<ClassId, TypeName> name_; // or none
    IdVector<ClassId, uint64_t> hash_; // of its shape
    IdVector<ClassId, Shape> shape_;   // none if the class is not live
};

} // namespace btflink::merge
