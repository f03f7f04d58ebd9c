// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the arguments of a compiler, and decides which objects of the compile may get BTF.
//
// Kbuild uses CC not only for vmlinux and modules: the vdso, real-mode code, boot code (setup and
// decompressor) and purgatory are separate programs. BTF has no use there, and an address pool
// would change their build ids, so their objects are left alone; see why_not_in_kernel().
#include "kbuild-integration/btf-cc/compile_command.h"

#include "common/io/file_io.h"
#include "kbuild-integration/environment.h"

#include <algorithm>
#include <optional>

namespace btflink::kbuild
{

namespace
{

/// Options whose value is the next argument, which must not be taken for a source or an option.
constexpr std::string_view options_with_value =
    " -D -U -I -L -l -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix "
    "-iwithprefixbefore -isysroot -imultilib -imultiarch -include-pch -iframework -iwithsysroot "
    "-iframeworkwithsysroot -cxx-isystem -ivfsoverlay -resource-dir -F -MF -MT -MQ -MJ -T -u -z "
    "-Xlinker -Xassembler -Xpreprocessor -Xclang -mllvm -target -arch --param -B -aux-info "
    "-dumpbase -dumpdir -dumpbase-ext --dumpbase --dumpdir --dumpbase-ext -A -e -G --sysroot "
    "-wrapper -specs --specs -serialize-diagnostics "
    "--serialize-diagnostics --include --imacros --include-directory --include-directory-after "
    "--include-prefix --include-with-prefix --include-with-prefix-after "
    "--include-with-prefix-before --define-macro --undefine-macro --assert --for-assembler "
    "--for-linker --force-link --library-directory --prefix ";

/// Suffixes of sources (not of headers) of gcc and clang, in languages whose objects may have
/// DWARF.
constexpr std::string_view source_suffixes =
    " .c .i .S .s .sx .cc .cp .cxx .cpp .c++ .C .ii .CC .CXX .CPP .C++ .ccm .cppm .cxxm .c++m .ixx "
    ".m .mi .mm .M "
    ".mii .f .for .ftn .fpp .F .FOR .FTN .FPP .f90 .f95 .f03 .f08 .F90 .F95 .F03 .F08 .adb .ads .d "
    ".go .mod .cob .cbl .COB .CBL .a68 .rs .cu .hip .cl .ll .bc ";

/// Is `word` in a list, which has a blank before and after each word?
bool contains(std::string_view list, std::string_view word)
{
    return word.find(' ') == word.npos && list.find(" " + std::string(word) + " ") != list.npos;
}

/// The default name of the object of `source`, without -o.
std::string default_object(std::string_view source)
{
    source = base_name(source);
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

/// Does the option "-g" with this `rest` ask for DWARF? std::nullopt: the option does not decide
/// this, or is a rare one that is ignored here: clang makes DWARF even if -gdwarf64 or -gmodules is
/// the only -g option, and gcc's -gtoggle reverses -g.
std::optional<bool> asks_for_dwarf(std::string_view rest)
{
    if (rest == "0" || rest == "gdb0")
        return false;
    // -gdwarf64: 64-bit DWARF (for gcc, if there is DWARF); -gdwarf-aranges: one more section
    const bool changes_form_only =
        rest.ends_with("32") || rest.ends_with("64") || rest == "dwarf-aranges";
    if (rest.empty() || rest == "1" || rest == "2" || rest == "3" || rest == "lldb" ||
        rest.starts_with("gdb") || (rest.starts_with("dwarf") && !changes_form_only))
        return true;
    return std::nullopt;
}

/// The folder of `path` below its architecture's folder: "boot/" for
/// "/somewhere/arch/x86/boot/main.o". Empty if there is none.
std::string arch_folder(std::string_view path)
{
    std::string text = "/" + std::string(path.substr(0, path.find_last_of('/') + 1));
    size_t at = text.rfind("/arch/");
    if (at == std::string::npos)
        return "";
    at = text.find('/', at + std::string_view("/arch/").size());
    return at == std::string::npos ? "" : text.substr(at + 1);
}

/// The state after the arguments read so far.
struct CommandLine {
    CompileCommand command;
    std::string output;
    std::vector<std::string> sources;
    std::string language; // of the following sources, by -x; empty: by their suffixes
    bool compile_only = false;
    bool makes_no_object = false; // it only prints, fails, makes other files, or is a probe
    bool lto = false, fat_lto = false;
    bool has_other_source = false; // a source that is not C
    bool build_vdso = false;       // -DBUILD_VDSO, -DBUILD_VDSO32, ...
    bool real_mode = false;        // -m16
    bool pic = false;              // -fpic or -fPIC, and no later option against it
    bool assembler = false;        // there is an assembler source
};

/// Why an object of a kernel tree is not part of vmlinux or a module; empty if it may be.
std::string why_not_in_kernel(const std::string &object, const CommandLine &line)
{
    if (line.build_vdso)
        return "vdso";
    if (line.real_mode)
        return "16-bit code";
    if (line.command.is_module) // an external module may be in any folder
        return "";
    std::string folder = arch_folder(object);
    // arch/x86/boot/startup is linked into vmlinux.
    if (folder.starts_with("boot/") && !folder.starts_with("boot/startup/"))
        return "boot loader part";
    if (folder.starts_with("realmode/rm/"))
        return "16-bit code";
    if (folder.starts_with("purgatory/"))
        return "purgatory";
    // vdso folders also have code of vmlinux: C code that is not position-independent, which gets
    // BTF, and assembler that embeds the vdso as data, which has nothing to encode.
    if (("/" + folder).find("/vdso") != std::string::npos && (line.pic || line.assembler))
        return "vdso";
    return "";
}

void set_language(CommandLine &line, std::string_view language)
{
    line.assembler |= language.starts_with("assembler");
    line.makes_no_object |= language.find("-header") != language.npos; // makes a .gch or .pch
    line.language = language == "none" ? "" : language;
}

void set_output(CommandLine &line, std::string_view path)
{
    line.output = path;
    // clang takes "-" for standard output.
    line.makes_no_object |= path == "/dev/null" || path == "-";
}

template <bool CommandLine::*flag, bool value>
void set_flag(CommandLine &line, std::string_view)
{
    line.*flag = value;
}
constexpr auto make_no_object = set_flag<&CommandLine::makes_no_object, true>;
constexpr auto compile_only = set_flag<&CommandLine::compile_only, true>;

/// An option that matters here, and its effect. The first matching row counts.
struct OptionRule {
    enum Form : uint8_t {
        whole,  // the word is `name`
        prefix, // the word begins with `name`; the rest is the value
        next,   // the word is `name`; the next argument is the value
    };
    std::string_view name;
    Form form;
    void (*apply)(CommandLine &line, std::string_view value);
};
using enum OptionRule::Form;

// Options that ask for something other than an object have rows because they may be used with -c.
// -emit-llvm and -emit-ast (clang) are among them: without -o, the output is a.bc or a.ast, not
// a.o. Options that only change the contents of the object file, such as clang's -flto, are not
// among them: btf-cc leaves a file alone that is not an ELF object.
constexpr OptionRule option_rules[] = {
    {"-c", whole, compile_only},
    {"--compile", whole, compile_only},
    {"-E", whole, make_no_object},
    {"--preprocess", whole, make_no_object},
    {"-S", whole, make_no_object},
    {"--assemble", whole, make_no_object},
    {"-M", whole, make_no_object},
    {"--dependencies", whole, make_no_object},
    {"-MM", whole, make_no_object},
    {"--user-dependencies", whole, make_no_object},
    {"-###", whole, make_no_object},
    {"-fsyntax-only", whole, make_no_object},
    {"--analyze", whole, make_no_object},
    {"-emit-llvm", whole, make_no_object},
    {"-emit-ast", whole, make_no_object},
    {"-o", next, set_output},
    {"--output", next, set_output},
    {"--output=", prefix, set_output},
    {"-objcmt", prefix, [](CommandLine &, std::string_view) {}}, // clang's; not -o
    {"-o", prefix, set_output},
    {"-x", next, set_language},
    {"--language", next, set_language},
    {"--language=", prefix, set_language},
    {"-x", prefix, set_language},
    {"-g", prefix,
     [](CommandLine &line, std::string_view rest) {
         bool &asks = line.command.asks_for_dwarf;
         asks = asks_for_dwarf(rest).value_or(asks);
     }},
    {"-DMODULE", whole, [](CommandLine &line, std::string_view) { line.command.is_module = true; }},
    {"-DBUILD_VDSO", prefix, set_flag<&CommandLine::build_vdso, true>},
    {"-m16", whole, set_flag<&CommandLine::real_mode, true>},
    {"-m32", whole, set_flag<&CommandLine::real_mode, false>},
    {"-m64", whole, set_flag<&CommandLine::real_mode, false>},
    {"-fpic", whole, set_flag<&CommandLine::pic, true>},
    {"-fPIC", whole, set_flag<&CommandLine::pic, true>},
    {"-fno-pic", whole, set_flag<&CommandLine::pic, false>},
    {"-fno-PIC", whole, set_flag<&CommandLine::pic, false>},
    {"-fpie", whole, set_flag<&CommandLine::pic, false>},
    {"-fPIE", whole, set_flag<&CommandLine::pic, false>},
    {"-fno-pie", whole, set_flag<&CommandLine::pic, false>},
    {"-fno-PIE", whole, set_flag<&CommandLine::pic, false>},
    {"-flto", whole, set_flag<&CommandLine::lto, true>},
    {"-flto=", prefix, set_flag<&CommandLine::lto, true>},
    {"-fno-lto", whole, set_flag<&CommandLine::lto, false>},
    {"-ffat-lto-objects", whole, set_flag<&CommandLine::fat_lto, true>},
    {"-fno-fat-lto-objects", whole, set_flag<&CommandLine::fat_lto, false>},
};

/// Applies the option at arguments[i]. Returns the number of arguments that it takes.
size_t read_option(const std::vector<std::string> &arguments, size_t i, CommandLine &line)
{
    const std::string_view word = arguments[i];
    const bool is_last = i + 1 == arguments.size();
    for (const OptionRule &rule : option_rules) {
        if (rule.form == prefix ? !word.starts_with(rule.name) : word != rule.name)
            continue;
        line.makes_no_object |= rule.form == next && is_last; // without a value, gcc fails
        if (line.makes_no_object)
            return 1;
        rule.apply(line, rule.form == next ? std::string_view(arguments[i + 1])
                                           : word.substr(rule.name.size()));
        return rule.form == next ? 2 : 1;
    }
    if (!contains(options_with_value, word))
        return 1;
    line.makes_no_object |= is_last; // as above
    return 2;
}

void read_file_name(std::string_view word, CommandLine &line)
{
    if (word == "/dev/null") {
        line.makes_no_object = true; // a probe of Kbuild or Kconfig
        return;
    }
    if (!line.language.empty() || is_source(word)) {
        line.sources.emplace_back(word);
        line.has_other_source |= !is_c(word, line.language);
    }
    line.assembler |= word.ends_with(".S") || word.ends_with(".s");
}

CommandLine read_arguments(const std::vector<std::string> &arguments)
{
    CommandLine line;
    bool only_files = false; // after "--"
    for (size_t i = 0; i < arguments.size() && !line.makes_no_object;) {
        const std::string_view word = arguments[i];
        if (!only_files && word == "--") {
            only_files = true;
            ++i;
        } else if (only_files || word.empty() || word == "-" || word[0] != '-') {
            read_file_name(word, line);
            ++i;
        } else {
            i += read_option(arguments, i, line);
        }
    }
    return line;
}

CompileCommand read_by(WordRules rules, const std::vector<std::string> &arguments)
{
    auto unfolded = unfold_response_files(arguments, rules);
    if (!unfolded)
        return {.objects = {}, .left_alone = unfolded.error().str()};
    CommandLine line = read_arguments(unfolded->words);
    CompileCommand &command = line.command;
    if (line.makes_no_object || !line.compile_only)
        return command;
    command.asks_for_dwarf &= !line.assembler;
    if (std::ranges::count(line.sources, "-") && !command.asks_for_dwarf)
        return command; // a probe of Kbuild, such as as-instr
    command.only_c = !line.sources.empty() && !line.has_other_source;
    command.slim_lto = line.lto && !line.fat_lto;
    if (!line.output.empty())
        command.objects = {line.output};
    else
        for (const std::string &source : line.sources)
            command.objects.push_back(default_object(source));
    for (const std::string &object : command.objects)
        if (std::string reason = why_not_in_kernel(object, line); !reason.empty())
            return {.objects = {}, .left_alone = object + ": " + reason};
    return command;
}

/// Adds `other`, another reading of the same command, to `command`: the objects of `other`, and for
/// each property the value that is safe for both readings.
void add_reading(CompileCommand &command, const CompileCommand &other)
{
    for (const std::string &object : other.objects)
        if (std::ranges::find(command.objects, object) == command.objects.end())
            command.objects.push_back(object);
    command.is_module |= other.is_module;
    command.asks_for_dwarf &= other.asks_for_dwarf;
    command.only_c &= other.only_c;
    command.slim_lto |= other.slim_lto;
    command.depends_on_version = true;
}

} // namespace

CompileCommand read_compile_command(const std::vector<std::string> &arguments)
{
    CompileCommand command = read_by(WordRules::gcc_14, arguments);
    if (std::ranges::none_of(arguments, [](auto &word) { return word.starts_with('@'); }))
        return command;
    CompileCommand newer = read_by(WordRules::gcc_15, arguments);
    if (command == newer || !command.left_alone.empty())
        return command;
    if (!newer.left_alone.empty())
        return newer;
    add_reading(command, newer);
    return command;
}

std::string_view bare_name(std::string_view program)
{
    program = base_name(program);
    const size_t version = program.find_last_not_of("0123456789.");
    if (version != program.npos && version + 1 < program.size() && program[version] == '-')
        program = program.substr(0, version);
    return program.substr(program.find_last_of('-') + 1);
}

CompilerKind compiler_kind(std::string_view program)
{
    const std::string_view name = bare_name(program);
    if (name == "gcc" || name == "g++")
        return CompilerKind::gcc;
    if (name == "clang" || name == "clang++")
        return CompilerKind::clang;
    return CompilerKind::other;
}

size_t find_compiler(const std::vector<std::string> &words)
{
    auto found = std::ranges::find_if(words, [](const std::string &word) {
        // An option ends the search: the word after it may be its value. A word with = is a
        // variable, for env.
        return word.starts_with('-') ||
               (word.find('=') == word.npos && compiler_kind(word) != CompilerKind::other);
    });
    if (found != words.end() && found->starts_with('-'))
        return words.size();
    return static_cast<size_t>(found - words.begin());
}

} // namespace btflink::kbuild
