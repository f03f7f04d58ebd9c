// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects data for the page of btf-kernel report: bytes by kind and module; structs, unions and
// enums with several definitions; and the steps in files of --time-trace.
#include "btf-kernel/report/report.h"

#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/difference.h"
#include "btf-kernel/diff/types.h"
#include "btf-kernel/package/steps.h"
#include "common/io/file_io.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace btflink::kernel::report
{

namespace
{

using Kinds = std::array<KindSize, btf::kind_count>;

void count_kinds(const Btf &btf, Kinds &kinds)
{
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        KindSize &kind = kinds[static_cast<size_t>(btf::kind_of(t))];
        kind.kind = btf.kind_name(id);
        ++kind.types;
        kind.bytes += btf::words_of(t) * 4;
    }
}

std::vector<KindSize> sorted(const Kinds &kinds, uint64_t strings)
{
    std::vector<KindSize> out(kinds.begin(), kinds.end());
    out.push_back({"strings", 0, strings});
    std::erase_if(out, [](const KindSize &k) { return k.bytes == 0; });
    std::ranges::stable_sort(out, std::ranges::greater(), &KindSize::bytes);
    return out;
}

/// The number of structs, unions and enums of a module with the name of a type that vmlinux
/// defines.
uint64_t count_redefined(const Btf &module, const diff::Side &vmlinux)
{
    uint64_t count = 0;
    for (TypeId id : module.ids()) {
        const btf_type &t = module.type(id);
        const btf::Kind kind = btf::kind_of(t);
        count += t.name_off && !btf::is_declaration(t) &&
                 (btf::is_composite(kind) || btf::is_enum(kind)) &&
                 !vmlinux.find({diff::Space::type, module.name(id)}).empty();
    }
    return count;
}

bool is_number(const diff::Side &side, uint32_t id)
{
    return btf::kind_info(side.btf->kind(TypeId{id})).family == btf::Family::number;
}

/// Numbers are left out: clang's INTs of unusual sizes have the names of ordinary ones.
void find_duplicates(const diff::Side &side, Data &out)
{
    for (const auto &[name, list] : side.names) {
        if (list.size() < 2 || name.space != diff::Space::type || is_number(side, list[0].id))
            continue;
        Duplicate duplicate;
        duplicate.name = diff::type_name(*side.btf, list[0].id);
        duplicate.versions.resize(list.size());
        duplicate.differs =
            diff::detail_lines(diff::compare_types({side, list[0].id}, {side, list[1].id}));
        if (duplicate.differs.size() > 10)
            duplicate.differs.resize(10);
        for (TypeId id : side.btf->ids())
            duplicate.types +=
                side.btf->name(id) == name.text && !btf::is_declaration(side.btf->type(id)) &&
                (btf::is_composite(side.btf->kind(id)) || btf::is_enum(side.btf->kind(id)));
        out.duplicates.push_back(std::move(duplicate));
    }
    std::ranges::sort(out.duplicates, [](const auto &a, const auto &b) {
        return a.types != b.types ? a.types > b.types : a.name < b.name;
    });
}

/// The path of a module below lib/modules/RELEASE/, such as "kernel/net/veth.ko.xz"; in other
/// folders the whole path.
std::string_view place_of(std::string_view path)
{
    const std::string_view place = place_of_module(path); // without suffix
    return path.substr(static_cast<size_t>(place.data() - path.data()));
}

constexpr unsigned max_depth = 30; // of folders; if a file has a deeper path, the rest is one name

Node &child(Node &parent, std::string_view name)
{
    for (Node &node : parent.children)
        if (node.name == name)
            return node;
    parent.children.push_back({std::string(name), 0, 0, {}});
    return parent.children.back();
}

/// What follows `"key":` in a line; empty: the key is not there.
std::string_view field(std::string_view line, const std::string &key)
{
    const std::string quoted = "\"" + key + "\":";
    const size_t at = line.find(quoted);
    return at == std::string_view::npos ? std::string_view() : line.substr(at + quoted.size());
}

/// The text of a field, without quotes; "" if it does not begin with a quote.
std::string text_of(std::string_view field)
{
    return field.starts_with('"') ? std::string(field.substr(1, field.find('"', 1) - 1)) : "";
}

/// The number in a field, converted from microseconds to seconds. Empty if the field does not begin
/// with a number from 0 to 10^15.
std::optional<double> seconds_of(std::string_view field)
{
    double value = 0;
    auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || !(value >= 0 && value < 1e15))
        return std::nullopt;
    return value / 1e6;
}

Step &step_called(std::vector<Step> &steps, const std::string &name)
{
    for (Step &step : steps)
        if (step.name == name)
            return step;
    return steps.emplace_back(Step{name});
}

} // namespace

Result<void> collect_kernel(const Kernel &kernel, Data &out, std::vector<Error> &errors)
{
    auto vmlinux = TRY(parse_vmlinux(kernel));
    const diff::Side side(vmlinux, nullptr);
    out.title = kernel.release.empty() ? kernel.package : kernel.release;
    out.vmlinux_types = vmlinux->size();
    out.vmlinux_bytes = kernel.vmlinux->btf.size();
    out.vmlinux_strings = vmlinux->str_size();
    Kinds kinds, of_modules;
    count_kinds(*vmlinux, kinds);
    out.functions = kinds[static_cast<size_t>(btf::Kind::FUNC)].types;
    out.vmlinux_kinds = sorted(kinds, out.vmlinux_strings);
    find_duplicates(side, out);
    uint64_t strings = 0;
    for (const Binary &module : kernel.modules) {
        ModuleSize size{module.name, module.path, 0, module.btf.size(), 0, module.bytes, 0};
        if (!module.btf.empty() || module.unreadable) {
            if (auto parsed = parse_module(module, vmlinux); parsed) {
                size.types = parsed->btf->size();
                size.strings = parsed->btf->str_size();
                count_kinds(*parsed->btf, of_modules);
                if (parsed->btf->base()) // self-contained BTF repeats types of vmlinux on purpose
                    size.redefined = count_redefined(*parsed->btf, side);
            } else {
                errors.push_back(parsed.error());
            }
        }
        strings += size.strings;
        add_place(out.places, place_of(size.path), double(size.bytes), double(size.bytes));
        out.modules.push_back(std::move(size));
    }
    add_place(out.places, "vmlinux", double(out.vmlinux_bytes), double(out.vmlinux_bytes));
    if (!out.modules.empty())
        out.module_kinds = sorted(of_modules, strings);
    std::ranges::stable_sort(out.modules, std::ranges::greater(), &ModuleSize::bytes);
    return {};
}

void add_place(Node &root, std::string_view path, double share, double alone)
{
    Node *at = &root;
    at->share += share;
    at->alone += alone;
    for (unsigned depth = 0; !path.empty() && depth < max_depth; ++depth) {
        const size_t end =
            depth + 1 < max_depth ? std::min(path.find('/'), path.size()) : path.size();
        const std::string_view name = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        if (name.empty() || name == ".")
            continue;
        at = &child(*at, name);
        at->share += share;
        at->alone += alone;
    }
}

void tidy_places(Node &root)
{
    while (root.children.size() == 1 && !root.children[0].children.empty()) {
        Node only = std::move(root.children[0]);
        root.name += (root.name.empty() ? "" : "/") + only.name;
        root.children = std::move(only.children);
    }
    std::ranges::sort(root.children, [](const Node &a, const Node &b) {
        return a.share != b.share ? a.share > b.share : a.name < b.name;
    });
    for (Node &node : root.children)
        tidy_places(node);
}

Result<void> collect_trace(const std::string &path, Data &out)
{
    auto bytes = TRY(read_file(path));
    std::string_view text = as_text(bytes);
    std::string program; // the beginning of names of steps: "btf-merge: "
    bool found = false;
    while (!text.empty()) {
        const std::string_view line = take_part(text, '\n');
        const std::string name = text_of(field(line, "name"));
        if (name == "process_name") {
            program = text_of(field(field(line, "args"), "name")) + ": ";
        } else if (const auto wall = seconds_of(field(line, "dur")); wall && !name.empty()) {
            Step &step = step_called(out.steps, program + name);
            ++step.count;
            step.wall += *wall;
            step.processor += seconds_of(field(line, "tdur")).value_or(0);
            found = true;
        }
    }
    if (!found)
        return fail(Where{path}, "has no events as --time-trace writes them");
    ++out.traces;
    return {};
}

void sort_steps(Data &out)
{
    std::ranges::stable_sort(out.steps, std::ranges::greater(), &Step::wall);
}

} // namespace btflink::kernel::report
