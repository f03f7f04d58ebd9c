// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the files from which vmlinux or a module was linked.
#include "kbuild-integration/btf-pahole/steps.h"

#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "common/object_btf/link_trailer.h"
#include "kbuild-integration/btf-cc/compile_command.h"
#include "kbuild-integration/environment.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

namespace btflink::kbuild
{

namespace
{

// The inputs of vmlinux. The second and third are compiled between vmlinux.o and the link of the
// image: exported symbols, and the version with its time stamp.
constexpr const char *vmlinux_objects[] = {"vmlinux.o", ".vmlinux.export.o",
                                           "init/version-timestamp.o"};

/// vmlinux or a temporary file of its link; not, for example, a vdso image in the same tree.
bool is_vmlinux(const std::string &path)
{
    const std::string_view name = base_name(path);
    return name == "vmlinux" || name.starts_with(".tmp_vmlinux") || name == "vmlinux.unstripped";
}

bool exists(const std::string &path)
{
    return ::access(path.c_str(), R_OK) == 0;
}

/// The words of the command that made `path`: the first command in the file .NAME.cmd, which Kbuild
/// writes next to `path`. Empty if none is found.
std::vector<std::string> saved_command(const std::string &path)
{
    auto file = read_file(folder_of(path) + "." + std::string(base_name(path)) + ".cmd");
    if (!file)
        return {};
    std::string_view text = as_text(*file);
    text = text.substr(0, text.find('\n'));
    size_t command = text.find(":=");
    if (command == text.npos)
        return {};
    text.remove_prefix(command + 2);
    text = text.substr(0, text.find(';'));
    return split_words(text, Where{}).value_or(std::vector<std::string>());
}

/// The objects in the saved command that linked a module.
std::vector<std::string> saved_inputs(const std::string &module)
{
    std::vector<std::string> inputs;
    const std::vector<std::string> words = saved_command(module);
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "-o" || words[i] == "-T")
            ++i;
        else if (words[i].ends_with(".o") && words[i][0] != '-')
            inputs.push_back(words[i]);
    }
    return inputs;
}

} // namespace

Result<LinkedFile> look_at_link(const std::string &path)
{
    auto elf = TRY(open_elf(path));
    auto symtab = TRY(elf.image.find_symtab());
    return LinkedFile{elf.image.head.e_type == ET_REL, symtab != 0};
}

bool is_bitcode_file(const std::string &path)
{
    auto file = read_parts(path);
    return file && is_bitcode(file->bytes);
}

Result<bool> has_object_btf(const std::string &path)
{
    if (!exists(path))
        return false;
    auto elf = open_elf(path);
    if (!elf && is_bitcode_file(path))
        return false;
    if (!elf)
        return fail(elf.error());
    const ElfImage &image = elf->image;
    for (uint32_t i = 1; i < image.sections.size(); ++i) {
        if (image.sections[i].name != ".BTF")
            continue;
        auto parts = TRY(split_contributions(image.sections[i].data, image.place(i)));
        if (std::ranges::any_of(parts,
                                [](const Contribution &part) { return !part.trailer.empty(); }))
            return true;
    }
    return false;
}

Result<std::vector<std::string>> vmlinux_inputs(const std::string &image)
{
    std::vector<std::string> inputs;
    if (!is_vmlinux(image))
        return inputs;
    for (const char *name : vmlinux_objects) {
        const bool has_btf = TRY(has_object_btf(folder_of(image) + name));
        if (has_btf)
            inputs.push_back(folder_of(image) + name);
        else if (inputs.empty()) // not even vmlinux.o has any
            break;
    }
    return inputs;
}

std::vector<std::string> module_inputs(const std::string &module)
{
    std::vector<std::string> inputs = saved_inputs(module);
    if (!inputs.empty())
        return inputs;
    std::string stem = module.ends_with(".ko") ? module.substr(0, module.size() - 3) : module;
    if (exists(stem + ".o"))
        for (const char *suffix : {".o", ".mod.o"})
            if (exists(stem + suffix))
                inputs.push_back(stem + suffix);
    return inputs;
}

std::string why_btf_is_due(const std::string &file, bool empty)
{
    if (is_vmlinux(file))
        return "it is a vmlinux";
    const std::vector<std::string> inputs = saved_inputs(file);
    if (empty && !inputs.empty())
        return "Kbuild linked it";
    for (const std::string &input : inputs) {
        if (!exists(input))
            return "its object " + input + " is gone";
        if (read_compile_command(saved_command(input)).asks_for_dwarf)
            return input + " was compiled with -g";
    }
    return "";
}

} // namespace btflink::kbuild
