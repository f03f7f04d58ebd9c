// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A report as one HTML page, readable without network and without scripts. collect_kernel.cc and
// collect_objects.cc fill in its data, and page.cc shows them.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "common/object_btf/features.h"

#include <cstdint>
#include <string_view>

namespace btflink::kernel::report
{

struct KindSize {
    std::string kind;
    uint64_t types = 0, bytes = 0;
};

struct ModuleSize {
    std::string name, path;
    // `bytes`: of the BTF; `strings`: bytes of its strings; `file_bytes`: of the unpacked file.
    uint64_t types = 0, bytes = 0, strings = 0, file_bytes = 0;
    // Structs, unions and enums whose names vmlinux also defines. 0 if the BTF is self-contained.
    uint64_t redefined = 0;
};

/// A folder or file. `share` and `alone` include those of all children.
struct Node {
    std::string name;
    double share = 0; // bytes; a type of several files is divided equally among them
    double alone = 0; // bytes of types that only files in it have
    std::vector<Node> children;
};

/// A name of structs, unions or enums that has several definitions in vmlinux.
struct Duplicate {
    std::string name;
    std::vector<std::string> differs; // at most 10 lines: how the first two definitions differ
    // For each definition, the files that have it; no files: not known.
    std::vector<std::vector<std::string>> versions;
    uint64_t types = 0; // structs, unions and enums with this name
};

struct OmittedFunction {
    std::string function, reason;
};

struct Step {
    std::string name;
    uint64_t count = 0;
    double wall = 0, processor = 0; // seconds
};

struct Data {
    std::string title;
    uint64_t vmlinux_types = 0, vmlinux_bytes = 0, vmlinux_strings = 0, functions = 0;
    std::vector<KindSize> vmlinux_kinds, module_kinds; // the largest first
    std::vector<ModuleSize> modules;                   // the largest first
    Node places;                                       // of sources, or of vmlinux and modules
    bool by_source = false;                            // `places` has sources
    uint64_t objects = 0;
    std::vector<Duplicate> duplicates;
    bool has_left_out = false;             // there is an image, so `left_out` is known
    std::vector<OmittedFunction> left_out; // sorted by name
    std::vector<Step> steps;               // from traces; the longest first
    uint64_t traces = 0;
};

/// Adds `share` and `alone` to `root` and to each folder and file on a path below it, which are
/// created if they are missing.
void add_place(Node &root, std::string_view path, double share, double alone);
/// Sorts children by share on all levels. A folder whose only child is a folder is joined with it.
void tidy_places(Node &root);

/// Collects sizes, modules and duplicates. Error: there is no vmlinux, or its BTF is missing or
/// malformed. Errors of modules are added to `errors`.
Result<void> collect_kernel(const Kernel &kernel, Data &out, std::vector<Error> &errors);

/// Replaces `places` by those of sources, adds the files of each definition to `duplicates`, and
/// lists the functions that were left out. Call this after collect_kernel(). `objects`: files with
/// object BTF (vmlinux.o, or the objects that were linked). `image`: the file linked from them; if
/// empty, it stays unknown which functions were left out. `features`: of the link; if they are
/// unknown, those of the objects count. False: the files have no BTF at all. BTF of other tools
/// counts, too.
Result<bool> collect_objects(const std::vector<std::string> &objects, const std::string &image,
                             std::optional<FeatureSet> features, unsigned threads, Data &out);

/// Adds the steps in a file that --time-trace wrote. Errors: it cannot be read, or has no steps.
Result<void> collect_trace(const std::string &path, Data &out);
/// Sorts steps, the longest first. Call this after the last trace.
void sort_steps(Data &out);

/// The report as HTML.
std::string page(const Data &data);

} // namespace btflink::kernel::report
