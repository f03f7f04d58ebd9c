// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks the BTF of the running kernel and its modules by means of libbpf, and the kernel's log.
#include "tests/kernel/boot/btf_checks.h"

#include <bpf/btf.h>

#include <fcntl.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <unordered_map>
#include <vector>

namespace btflink::boot
{
namespace
{

constexpr const char *kernel_btf = "/sys/kernel/btf/vmlinux";
constexpr const char *percpu_section = ".data..percpu";
/// The maximum number of names in an Outcome's detail.
constexpr size_t most_names = 5;

struct FreeBtf {
    void operator()(btf *types) const { btf__free(types); }
};
using BtfPtr = std::unique_ptr<btf, FreeBtf>;

Outcome failed(const std::string &what, int reason)
{
    return {false, what + ": " + std::strerror(reason)};
}

const char *name_of(const btf *types, const btf_type *type)
{
    const char *name = btf__name_by_offset(types, type->name_off);
    return name ? name : "";
}

/// Symbols of the kernel or of one module: name -> addresses.
using Symbols = std::unordered_multimap<std::string, unsigned long long>;

Symbols kallsyms(const std::string &module = "")
{
    Symbols symbols;
    std::ifstream file("/proc/kallsyms");
    const std::string mark = module.empty() ? "" : "[" + module + "]";
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string address, kind, name, owner;
        words >> address >> kind >> name >> owner;
        if (owner == mark)
            symbols.emplace(name, std::strtoull(address.c_str(), nullptr, 16));
    }
    return symbols;
}

/// The symbols, with names up to the first dot: the name of foo.isra.0 in BTF is foo.
Symbols without_suffixes(const Symbols &symbols)
{
    Symbols plain;
    for (const auto &[name, address] : symbols)
        plain.emplace(name.substr(0, name.find('.')), address);
    return plain;
}

/// True if `function` has a symbol, or is NAME_impl and NAME has one. From Linux 7.0 on, a kfunc
/// with implicit arguments has one symbol but two FUNCs: NAME without these arguments, and
/// NAME_impl with them.
bool has_symbol(const Symbols &symbols, const std::string &function)
{
    constexpr std::string_view suffix = "_impl";
    return symbols.contains(function) ||
           (function.ends_with(suffix) &&
            symbols.contains(function.substr(0, function.size() - suffix.size())));
}

std::string some_of(const std::vector<std::string> &names)
{
    std::string text;
    for (size_t i = 0; i < names.size() && i < most_names; i++)
        text += (i ? " " : "") + names[i];
    return text;
}

/// True if the parameter is a pointer to a named struct or union of the base, not to a typedef or
/// const. `first_id`: the first id after the base.
bool points_to_base(const btf *types, const btf_param &parameter, unsigned first_id)
{
    const btf_type *pointer = btf__type_by_id(types, parameter.type);
    if (!pointer || !btf_is_ptr(pointer))
        return false;
    const btf_type *target = btf__type_by_id(types, pointer->type);
    return pointer->type < first_id && target && btf_is_composite(target) &&
           name_of(types, target)[0] != '\0';
}

bool takes_types_of_base(const btf *types, const btf_type *function, unsigned first_id)
{
    const btf_type *prototype = btf__type_by_id(types, function->type);
    if (!prototype || !btf_is_func_proto(prototype))
        return false;
    for (unsigned i = 0; i < btf_vlen(prototype); i++)
        if (points_to_base(types, btf_params(prototype)[i], first_id))
            return true;
    return false;
}

/// The contents of the buffer of the kernel's log; "" if it cannot be read.
std::string kernel_log()
{
    constexpr int read_all = 3, size_of_buffer = 10; // commands of syslog(2)
    int size = klogctl(size_of_buffer, nullptr, 0);
    std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    int length = klogctl(read_all, text.data(), size > 0 ? size : 0);
    text.resize(length > 0 ? static_cast<size_t>(length) : 0);
    return text;
}

} // namespace

Outcome vmlinux_btf()
{
    BtfPtr types(btf__parse(kernel_btf, nullptr));
    if (!types)
        return failed(kernel_btf, errno);
    unsigned functions = 0, variables = 0;
    for (unsigned id = 1; id < btf__type_cnt(types.get()); id++) {
        const btf_type *type = btf__type_by_id(types.get(), id);
        functions += btf_is_func(type);
        variables += btf_is_var(type);
    }
    Sightings sightings;
    sightings.require("types", btf__type_cnt(types.get()) - 1,
                      btf__find_by_name_kind(types.get(), "task_struct", BTF_KIND_STRUCT) > 0,
                      "none is struct task_struct");
    sightings.require("functions", functions, functions > 0, "must have some");
    sightings.require("variables", variables, variables > 0, "must have some");
    return sightings.outcome();
}

Outcome functions_exist()
{
    BtfPtr types(btf__parse(kernel_btf, nullptr));
    if (!types)
        return failed(kernel_btf, errno);
    const Symbols symbols = without_suffixes(kallsyms());
    std::vector<std::string> missing;
    unsigned functions = 0;
    for (unsigned id = 1; id < btf__type_cnt(types.get()); id++) {
        const btf_type *type = btf__type_by_id(types.get(), id);
        if (!btf_is_func(type))
            continue;
        functions++;
        if (!has_symbol(symbols, name_of(types.get(), type)))
            missing.emplace_back(name_of(types.get(), type));
    }
    Sightings sightings;
    sightings.require("functions", functions, functions > 0, "must have some");
    sightings.require("not in kallsyms", missing.size(), missing.empty(), some_of(missing).c_str());
    return sightings.outcome();
}

Outcome variables_in_place()
{
    BtfPtr types(btf__parse(kernel_btf, nullptr));
    if (!types)
        return failed(kernel_btf, errno);
    int id = btf__find_by_name_kind(types.get(), percpu_section, BTF_KIND_DATASEC);
    if (id < 0)
        return failed(std::string("DATASEC ") + percpu_section, -id);
    const btf_type *section = btf__type_by_id(types.get(), static_cast<unsigned>(id));
    const Symbols symbols = kallsyms();
    const auto start = symbols.find("__per_cpu_start");
    if (start == symbols.end())
        return {false, "__per_cpu_start is not in kallsyms"};
    std::vector<std::string> wrong;
    for (unsigned i = 0; i < btf_vlen(section); i++) {
        const btf_var_secinfo &place = btf_var_secinfos(section)[i];
        const std::string name = name_of(types.get(), btf__type_by_id(types.get(), place.type));
        bool found = false;
        const auto [first, last] = symbols.equal_range(name);
        for (auto symbol = first; symbol != last; ++symbol)
            found |= symbol->second - start->second == place.offset;
        if (!found)
            wrong.push_back(name);
    }
    Sightings sightings;
    sightings.require("variables", btf_vlen(section), btf_vlen(section) > 0, "must have some");
    sightings.require("elsewhere in kallsyms", wrong.size(), wrong.empty(), some_of(wrong).c_str());
    return sightings.outcome();
}

Outcome load_module(const std::string &path)
{
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return failed(path, errno);
    if (syscall(SYS_finit_module, file, "", 0) < 0)
        return failed("finit_module", errno);
    return {true, "loaded"};
}

Outcome split_btf(const std::string &name)
{
    const std::string path = "/sys/kernel/btf/" + name;
    BtfPtr base(btf__parse(kernel_btf, nullptr));
    if (!base)
        return failed(kernel_btf, errno);
    BtfPtr types(btf__parse_split(path.c_str(), base.get()));
    if (!types)
        return failed(path, errno);
    const unsigned first_id = btf__type_cnt(base.get()), end_id = btf__type_cnt(types.get());
    const Symbols symbols = without_suffixes(kallsyms(name));
    unsigned functions = 0, present = 0, over_base = 0;
    for (unsigned id = first_id; id < end_id; id++) {
        const btf_type *type = btf__type_by_id(types.get(), id);
        if (!btf_is_func(type))
            continue;
        functions++;
        // The kernel has dropped the symbols of functions that only initialise the module.
        if (!symbols.contains(name_of(types.get(), type)))
            continue;
        present++;
        over_base += takes_types_of_base(types.get(), type, first_id);
    }
    Sightings sightings;
    sightings.require("types", end_id - first_id, end_id > first_id, "must have some");
    sightings.require("over", first_id - 1, first_id > 1, "must have some");
    sightings.require("functions", functions, functions > 0, "must have some");
    sightings.require("in kallsyms", present, present > 0, "must be some");
    sightings.require("taking types of vmlinux", over_base, over_base > 0, "must be some");
    return sightings.outcome();
}

Outcome quiet_log()
{
    const std::string log = kernel_log();
    if (log.empty())
        return {false, "the kernel's log cannot be read"};
    std::istringstream lines(log);
    std::string bad;
    size_t count = 0;
    for (std::string line; std::getline(lines, line); count++)
        for (const char *sign : {"WARNING:", "BUG:", "Oops", "Call Trace:", "BTF", "BPF:"})
            if (line.find(sign) != line.npos) {
                bad += "\n" + line;
                break;
            }
    if (!bad.empty())
        return {false, "complaints in the kernel's log:" + bad};
    return {true, std::to_string(count) + " lines without complaint"};
}

} // namespace btflink::boot
