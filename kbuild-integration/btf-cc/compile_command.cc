// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Kbuild compiles with CC for more than vmlinux and modules: the vdso, real-mode code, the boot
// loader's part and purgatory are separate programs. Nothing would use BTF in them, and an address
// pool would change their build ids, so they are left alone; see not_of_the_kernel().
#include "kbuild-integration/btf-cc/compile_command.h"

#include "common/io/response_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace btflink::kbuild
{

namespace
{

/// Options that stop before there is an object, or that only ask something.
constexpr std::string_view no_object_options[] = {
    "-E",
    "-S",
    "-M",
    "-MM",
    "--preprocess",
    "--assemble",
    "-###",
    "--dependencies",
    "--user-dependencies",
    "-fsyntax-only",
    "-emit-llvm",
    "--analyze",
};

/// Options whose value is an argument of its own, which must not be taken for a file or an option.
constexpr std::string_view options_with_value[] = {
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-T",
    "-u",
    "-z",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "--param",
    "-B",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-dumpbase-ext",
    "-A",
    "-e",
    "-G",
    "--sysroot",
    "-wrapper",
    "-specs",
    "-serialize-diagnostics",
};

constexpr std::string_view source_suffixes[] = {
    ".c", ".i",  ".S",   ".s", ".sx", ".cc",  ".cp", ".cxx", ".cpp", ".c++",
    ".C", ".ii", ".CPP", ".m", ".mi", ".f90", ".f",  ".F90", ".F"};

template <typename Range>
bool contains(const Range &range, std::string_view text)
{
    return std::find(std::begin(range), std::end(range), text) != std::end(range);
}

/// What the compiler calls the object of `source` if it is not told.
std::string default_object(std::string_view source)
{
    source.remove_prefix(source.find_last_of('/') + 1); // npos + 1 is 0
    return std::string(source.substr(0, source.find_last_of('.'))) + ".o";
}

bool is_source(std::string_view argument)
{
    size_t dot = argument.find_last_of('.');
    return dot != std::string_view::npos && contains(source_suffixes, argument.substr(dot));
}

bool is_c(std::string_view source, std::string_view language)
{
    if (language.empty())
        return source.ends_with(".c") || source.ends_with(".i");
    return language == "c" || language == "cpp-output";
}

/// Does an option that begins with "-g" ask for DWARF? Empty: it does not matter.
std::optional<bool> asks_for_dwarf(std::string_view word)
{
    if (word == "-g0" || word == "-ggdb0")
        return false;
    if (word == "-g" || word == "-g1" || word == "-g2" || word == "-g3" ||
        word.starts_with("-ggdb") ||
        (word.starts_with("-gdwarf") && !word.ends_with("32") &&
         !word.ends_with("64"))) // -gdwarf64: of what form
        return true;
    return std::nullopt;
}

/// See CompileCommand::debug_is_chosen.
bool chooses_debug(std::string_view word)
{
    for (std::string_view start :
         {"-fvar-tracking", "-fno-var-tracking", "-gsplit-dwarf", "-frecord-gcc-switches",
          "-frecord-command-line", "-grecord-command-line", "-flto", "-fcompare-debug"})
        if (word.starts_with(start))
            return true;
    return false;
}

/// The folder of `path` below that of its architecture: "boot/" for
/// "/somewhere/arch/x86/boot/main.o". Empty: it is not below one.
std::string arch_folder(std::string_view path)
{
    std::string text = "/" + std::string(path.substr(0, path.find_last_of('/') + 1));
    size_t at = text.rfind("/arch/");
    if (at == std::string::npos)
        return "";
    at = text.find('/', at + std::string_view("/arch/").size());
    return at == std::string::npos ? "" : text.substr(at + 1);
}

struct Hints {
    bool build_vdso = false; // -DBUILD_VDSO, -DBUILD_VDSO32, ...
    bool real_mode = false;  // -m16
    bool pic = false;        // the last word was -fpic or -fPIC
    bool assembler = false;  // a source is
};

/// The language of sources from here on, whatever their names; empty: their names say it.
std::string_view set_language(std::string_view language, Hints &hints)
{
    hints.assembler |= language.starts_with("assembler");
    return language == "none" ? "" : language;
}

/// Why an object of a kernel tree is not part of vmlinux or a module; empty if it may be.
std::string not_of_the_kernel(const std::string &object, const Hints &hints)
{
    if (hints.build_vdso)
        return "vdso";
    if (hints.real_mode)
        return "16-bit code";
    std::string folder = arch_folder(object);
    // arch/x86/boot/startup is linked into vmlinux, though it is there.
    if (folder.starts_with("boot/") && !folder.starts_with("boot/startup/"))
        return "boot loader part";
    if (folder.starts_with("realmode/rm/"))
        return "16-bit code";
    if (folder.starts_with("purgatory/"))
        return "purgatory";
    // Such folders also have C code of vmlinux, which is not position-independent. Assembler of
    // vmlinux there wraps the vdso as data; without functions it has nothing for BTF.
    if (("/" + folder).find("/vdso") != std::string::npos && (hints.pic || hints.assembler))
        return "vdso";
    return "";
}

} // namespace

CompileCommand read_compile_command(const std::vector<std::string> &given)
{
    CompileCommand command;
    auto unfolded = unfold_response_files(given);
    if (!unfolded) // or a file whose name begins with @: the compiler knows
        return command;
    const std::vector<std::string> &arguments = *unfolded;

    bool compile_only = false, only_options = false;
    std::string output;
    std::vector<std::string> sources;
    std::string_view language; // of -x
    bool lto = false, fat_lto = false, other_language = false;
    Hints hints;
    for (size_t i = 0; i < arguments.size(); ++i) {
        std::string_view word = arguments[i];
        if (only_options || word.empty() || word == "-" || word[0] != '-') {
            if (word == "-" || word == "/dev/null")
                return command; // reads no file
            if (!language.empty() || is_source(word)) {
                sources.emplace_back(word);
                other_language |= !is_c(word, language);
            }
            hints.assembler |= word.ends_with(".S") || word.ends_with(".s");
            continue;
        }
        command.debug_is_chosen |= chooses_debug(word);
        if (word == "--")
            only_options = true;
        else if (word == "-c" || word == "--compile")
            compile_only = true;
        else if (contains(no_object_options, word) || word.starts_with("-print-") ||
                 word.starts_with("--print-") || word == "--version" || word == "-dumpversion" ||
                 word == "-dumpmachine" || word.starts_with("--help"))
            return command;
        else if ((word == "-o" || word == "--output") && i + 1 < arguments.size())
            output = arguments[++i];
        else if ((word == "-x" || word == "--language") && i + 1 < arguments.size())
            language = set_language(arguments[++i], hints);
        else if (word.starts_with("-x"))
            language = set_language(word.substr(2), hints);
        else if (word.starts_with("--language="))
            language = set_language(word.substr(sizeof "--language=" - 1), hints);
        else if (word.starts_with("--output="))
            output = word.substr(sizeof "--output=" - 1);
        else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-objcmt"))
            output = word.substr(2);
        else if (word == "-DMODULE")
            command.of_a_module = true;
        else if (word.starts_with("-g"))
            command.asks_for_dwarf = asks_for_dwarf(word).value_or(command.asks_for_dwarf);
        else if (word.starts_with("-DBUILD_VDSO"))
            hints.build_vdso = true;
        else if (word == "-m16")
            hints.real_mode = true;
        else if (word == "-m32" || word == "-m64")
            hints.real_mode = false;
        else if (word == "-fpic" || word == "-fPIC")
            hints.pic = true;
        else if (word == "-fno-pic" || word == "-fno-PIC" || word == "-fpie" || word == "-fPIE" ||
                 word == "-fno-pie" || word == "-fno-PIE")
            hints.pic = false;
        else if (word.starts_with("-flto") || word == "-fno-lto")
            lto = word != "-fno-lto";
        else if (word == "-ffat-lto-objects" || word == "-fno-fat-lto-objects")
            fat_lto = word == "-ffat-lto-objects";
        else if (contains(options_with_value, word))
            ++i;
    }
    if (!compile_only)
        return command;
    command.asks_for_dwarf &= !hints.assembler;
    command.only_c = !sources.empty() && !other_language;
    command.slim_lto = lto && !fat_lto;
    if (!output.empty())
        command.objects = {output};
    else
        for (const std::string &source : sources)
            command.objects.push_back(default_object(source));
    for (const std::string &object : command.objects)
        if (std::string reason = not_of_the_kernel(object, hints); !reason.empty())
            return {.objects = {}, .left_alone = object + ": " + reason};
    return command;
}

} // namespace btflink::kbuild
