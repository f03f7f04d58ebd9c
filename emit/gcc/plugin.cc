// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The gcc plugin: writes object BTF while gcc compiles, without -g.
//
// gcc calls the functions in the table `debug_hooks` at fixed moments; without -g they do nothing.
// The plugin installs a copy of this table with functions of its own. Each calls gcc's function,
// and then records something. For each function, the list has the moment of the call and what is
// recorded:
//   type_decl                  a type is declared outside functions: the base types in it, and what
//                              a typedef names
//   early_global_decl          a variable is declared, or, after parsing, a function was defined or
//                              called: a root (roots.cc)
//   early_finish               before any optimisation: all types that the roots reach
//   outlining_inline_function  the body of a function has been copied into a caller or a clone: the
//                              fact that the function has inlined copies
//   function_decl              a function or a clone has been written: which parameters it takes,
//                              and whether they are in the registers where BPF programs look
//   late_global_decl           a variable has been written: its section
//   finish                     the assembly output is still open: object BTF is written
// With -g, gcc writes both debug information and object BTF. But object BTF always has the flag
// trailer_no_dwarf, because btf-cc appends -g0; with -g, such an object is only for comparisons.
#include "emit/gcc/trees.h"

// BSD-2-Clause, the licence chosen here, is compatible with the GPL.
extern "C" {
__attribute__((visibility("default"))) int plugin_is_GPL_compatible;
}

namespace btflink::emit::gcc
{

namespace
{

struct Plugin {
    unsigned features = 0;
    bool strict = false; // a failure to make object BTF is an error
    bool quiet = false;  // no notes
    gcc_debug_hooks hooks;
    const gcc_debug_hooks *original = nullptr;
    bool level_raised = false;
    std::unique_ptr<Entries> entries;
    std::unique_ptr<TreeReader> reader; // until early_finish
};
Plugin plugin;

/// A note instead of a warning, which -Werror would turn into an error.
void note(const std::string &text)
{
    if (!plugin.quiet && !inhibit_warnings)
        inform(UNKNOWN_LOCATION, "btflink: %s", text.c_str());
}

/// Continues without object BTF, or makes the compile fail if `strict` is set.
void give_up(const std::string &why)
{
    plugin.entries.reset();
    plugin.reader.reset();
    if (plugin.strict)
        error_at(UNKNOWN_LOCATION, "btflink: no object BTF: %s", why.c_str());
    else
        note("no object BTF: " + why);
}

/// Runs `work` unless an earlier call gave up. Gives up if `work` throws, which only an allocation
/// should do.
template <typename Work>
void guarded(Work work)
{
    if (!plugin.entries)
        return;
    try {
        work();
    } catch (...) {
        give_up("out of memory");
    }
}

/// The symbol as the assembler spells it.
std::string assembler_name(tree decl)
{
    const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl));
    if (*name == '*') // gcc's mark for a name without prefix
        return name + 1;
    return std::string(user_label_prefix) + targetm.strip_name_encoding(name);
}

/// Does the parameter take other registers than kernels expect: a floating-point or vector
/// register, or two registers for an `__int128`? (32-bit kernels know that a 64-bit integer takes
/// two.) False for structs: kernels know the number of their registers, or refuse them.
bool is_in_other_registers(tree parameter)
{
    tree type = TREE_TYPE(parameter);
    return FLOAT_TYPE_P(type) || TREE_CODE(type) == VECTOR_TYPE ||
           (INTEGRAL_TYPE_P(type) && int_size_in_bytes(type) > 8);
}

/// Does the function have a calling convention other than the kernel's, such as `__efiapi`?
bool has_other_convention(tree function)
{
    tree attributes = TYPE_ATTRIBUTES(TREE_TYPE(function));
    return lookup_attribute("ms_abi", attributes) || lookup_attribute("preserve_none", attributes);
}

/// Does the caller pass the address of the result as if it were the first parameter?
bool has_hidden_parameter(tree function)
{
    tree result = DECL_RESULT(function);
    return result && aggregate_value_p(result, function) &&
           !targetm.calls.struct_value_rtx(TREE_TYPE(function), 1);
}

/// Is a register skipped before the second parameter? On 32-bit arm, for example, a 64-bit integer
/// begins at a register with an even number. No register is skipped before a later parameter: a
/// 64-bit integer that would begin at the fourth register is on the stack.
bool skips_register(tree first)
{
    tree second = first ? DECL_CHAIN(first) : NULL_TREE;
    if (!second || !INTEGRAL_TYPE_P(TREE_TYPE(second)))
        return false;
    tree type = TREE_TYPE(second);
    const HOST_WIDE_INT size = int_size_in_bytes(TREE_TYPE(first));
    return size > 0 && size <= UNITS_PER_WORD && int_size_in_bytes(type) > UNITS_PER_WORD &&
           targetm.calls.function_arg_boundary(TYPE_MODE(type), type) >
               static_cast<unsigned>(BITS_PER_WORD);
}

/// Is any parameter not in the register where BPF programs look for it?
bool has_displaced_parameters(tree function)
{
    tree first = DECL_ARGUMENTS(function);
    for (tree p = first; p; p = DECL_CHAIN(p))
        if (is_in_other_registers(p))
            return true;
    return first && (has_other_convention(function) || has_hidden_parameter(function) ||
                     skips_register(first));
}

void on_early_global_decl(tree decl)
{
    plugin.original->early_global_decl(decl);
    guarded([&] {
        if (!plugin.reader)
            return;
        if (TREE_CODE(decl) == FUNCTION_DECL)
            plugin.reader->function(decl);
        else if (TREE_CODE(decl) == VAR_DECL)
            plugin.reader->declared_variable(decl);
    });
}

void on_type_decl(tree decl, int local)
{
    plugin.original->type_decl(decl, local);
    guarded([&] {
        if (plugin.reader && !local)
            plugin.reader->declared_type(decl);
    });
}

/// Undoes raise_level(), before the first pass that depends on debug_info_level.
void restore_level()
{
    if (plugin.level_raised)
        debug_info_level = DINFO_LEVEL_NONE;
    plugin.level_raised = false;
}

void on_early_finish(const char *file)
{
    restore_level();
    plugin.original->early_finish(file);
    guarded([&] {
        plugin.reader->finish();
        plugin.reader.reset();
    });
}

void on_outlining_inline_function(tree decl)
{
    plugin.original->outlining_inline_function(decl);
    guarded([&] { plugin.entries->was_inlined(DECL_UID(decl)); });
}

/// DECL_UIDs of the original function's parameters, in the order in which `clone` takes them. A new
/// parameter has its own DECL_UID in the list, and a parameter with another type has 0.
std::vector<uint32_t> original_parameters(tree clone)
{
    std::vector<uint32_t> list;
    for (tree p = DECL_ARGUMENTS(clone); p; p = DECL_CHAIN(p)) {
        tree origin = DECL_ORIGIN(p);
        const bool same = origin && TREE_CODE(origin) == PARM_DECL &&
                          TYPE_MAIN_VARIANT(TREE_TYPE(origin)) == TYPE_MAIN_VARIANT(TREE_TYPE(p));
        list.push_back(same ? DECL_UID(origin) : 0);
    }
    return list;
}

void on_function_decl(tree decl)
{
    plugin.original->function_decl(decl);
    guarded([&] {
        tree origin = DECL_ORIGIN(decl); // not `decl` if this is a clone
        if (!plugin.entries->has(DECL_UID(origin)))
            return;
        const std::string symbol = assembler_name(decl);
        const EmittedFunction written{symbol.c_str(), crtl->has_bb_partition,
                                      has_displaced_parameters(decl),
                                      static_cast<bool>(DECL_WEAK(decl))};
        const std::vector<uint32_t> parameters = original_parameters(decl);
        plugin.entries->emitted(DECL_UID(origin), written, origin == decl ? nullptr : &parameters);
    });
}

/// Null for a common symbol.
const char *section_name(section *s)
{
    switch (SECTION_STYLE(s)) {
    case SECTION_NAMED:
        return s->named.name;
    case SECTION_NOSWITCH:
        return s == comm_section ? nullptr : ".bss";
    default:
        return s == readonly_data_section        ? ".rodata"
               : (s->common.flags & SECTION_BSS) ? ".bss"
                                                 : ".data";
    }
}

void on_late_global_decl(tree decl)
{
    plugin.original->late_global_decl(decl);
    guarded([&] {
        if (TREE_CODE(decl) != VAR_DECL || !TREE_ASM_WRITTEN(decl) || DECL_EXTERNAL(decl) ||
            !plugin.entries->has(DECL_UID(decl)))
            return;
        section *s = get_variable_section(decl, false);
        const std::string symbol = assembler_name(decl);
        plugin.entries->emitted_variable(DECL_UID(decl), symbol.c_str(), section_name(s),
                                         s->common.flags & SECTION_BSS, DECL_WEAK(decl));
    });
}

void on_finish(const char *file)
{
    plugin.original->finish(file);
    guarded([&] {
        Losses losses;
        const std::string text = plugin.entries->assembly(losses);
        if (!losses.no_btf.empty())
            return give_up(losses.no_btf);
        if (!losses.left_out.empty())
            note(losses.left_out);
        fwrite(text.data(), 1, text.size(), asm_out_file);
        in_section = nullptr; // makes gcc write a directive for its next section
        plugin.entries.reset();
    });
}

void install_hooks()
{
    plugin.original = debug_hooks;
    plugin.hooks = *debug_hooks;
    plugin.hooks.early_global_decl = on_early_global_decl;
    plugin.hooks.type_decl = on_type_decl;
    plugin.hooks.early_finish = on_early_finish;
    plugin.hooks.outlining_inline_function = on_outlining_inline_function;
    plugin.hooks.function_decl = on_function_decl;
    plugin.hooks.late_global_decl = on_late_global_decl;
    plugin.hooks.finish = on_finish;
    debug_hooks = &plugin.hooks;
}

/// Without debug information the parser would not record the types in casts and sizeof.
void raise_level()
{
    if (debug_info_level != DINFO_LEVEL_NONE)
        return;
    debug_info_level = DINFO_LEVEL_TERSE;
    plugin.level_raised = true;
}

/// Makes gcc read headers instead of precompiled ones, whose declarations gcc's hooks do not
/// report.
void ignore_precompiled_headers()
{
    cpp_get_callbacks(parse_in)->valid_pch = nullptr;
}

void on_start_unit(void *, void *)
{
    const Setup setup{BTFLINK_GCC_TARGET,
                      static_cast<unsigned>(POINTER_SIZE / 8),
                      static_cast<unsigned>(UNITS_PER_WORD),
                      BYTES_BIG_ENDIAN != 0,
                      plugin.features,
                      main_input_filename ? remap_debug_filename(main_input_filename) : ""};
    plugin.entries = Entries::create(setup);
    if (!plugin.entries)
        return give_up("unsupported architecture");
    plugin.reader = std::make_unique<TreeReader>(*plugin.entries);
    install_hooks();
    ignore_precompiled_headers();
    raise_level();
}

void on_ggc_marking(void *, void *)
{
    if (plugin.reader)
        plugin.reader->mark();
}

bool is_c()
{
    return std::strncmp(lang_hooks.name, "GNU C", 5) == 0 && lang_hooks.name[5] != '+';
}

/// Returns false after reporting an error.
bool read_arguments(const plugin_name_args &info)
{
    for (int i = 0; i < info.argc; ++i) {
        const plugin_argument &argument = info.argv[i];
        auto is = [&](const char *key) { return std::strcmp(argument.key, key) == 0; };
        if (is("id")) { // a hash of the plugin, for compiler caches that hash the command line
        } else if (is("strict")) {
            plugin.strict = true;
        } else if (is("quiet")) {
            plugin.quiet = true;
        } else if (is("features") && argument.value) {
            plugin.features = static_cast<unsigned>(std::strtoul(argument.value, nullptr, 0));
        } else {
            error("btflink: unknown plugin argument or missing value: %qs", argument.key);
            return false;
        }
    }
    return true;
}

} // namespace

} // namespace btflink::emit::gcc

extern "C" __attribute__((visibility("default"))) int plugin_init(plugin_name_args *info,
                                                                  plugin_gcc_version *version)
{
    using namespace btflink::emit::gcc;
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("btflink: this plugin was built for another gcc (%s %s); build one with %<btf-cc "
              "--build-plugin%>",
              gcc_version.basever, gcc_version.datestamp);
        return 1;
    }
    if (!read_arguments(*info))
        return 1;
    if (!is_c())
        return 0;
    flag_pch_preprocess = false; // a separate preprocessor (-save-temps) must read headers, too
    register_callback(info->base_name, PLUGIN_START_UNIT, on_start_unit, nullptr);
    register_callback(info->base_name, PLUGIN_GGC_MARKING, on_ggc_marking, nullptr);
    return 0;
}
