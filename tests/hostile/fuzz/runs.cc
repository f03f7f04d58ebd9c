// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs btf-emit, btf-merge and parsers on a bundle.
#include "tests/hostile/fuzz/runs.h"

#include "common/io/file_io.h"
#include "emit/dwarf/languages.h"
#include "emit/emit.h"
#include "kbuild-integration/btf-cc/steps.h"
#include "kbuild-integration/pahole_options.h"
#include "merge/explain/explain.h"
#include "merge/merge.h"
#include "tests/tools/btf_text.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace fs = std::filesystem;

namespace btflink::fuzz
{

namespace
{

constexpr const char *nowhere = "/dev/null";

FeatureSet features_of(const Bundle &bundle)
{
    return FeatureSet(bundle.settings[1] | uint32_t{bundle.settings[2]} << 8);
}

Run ended(const std::vector<MemoryFile> &files, std::optional<Error> error)
{
    Run run;
    run.error = std::move(error);
    for (const MemoryFile &file : files)
        run.paths.push_back(file.path());
    return run;
}

template <typename T>
std::optional<Error> error_of(const Result<T> &result)
{
    return result ? std::nullopt : std::optional(result.error());
}

std::vector<MemoryFile> files_of(const Bundle &bundle)
{
    std::vector<MemoryFile> files;
    for (const BundleFile &file : bundle.files)
        files.emplace_back(file.bytes);
    return files;
}

/// Merges, and sets or clears `error`. Returns the bytes of the result; none if `options.update` is
/// set.
Text merge_into(merge::Options options, std::optional<Error> &error)
{
    MemoryFile out({});
    if (options.update.empty())
        options.output = out.path();
    merge::Report report;
    error = error_of(merge::merge(options, report));
    auto bytes = read_file(out.path());
    if (!bytes)
        std::abort();
    auto *first = reinterpret_cast<const uint8_t *>(bytes->data());
    return {first, first + bytes->size()};
}

/// A folder with symbolic links to the files, under the names that the seeds of seeds.py refer to.
/// The first file is `input`.
struct DebugFolder {
    std::string path, input;

    DebugFolder(const Bundle &bundle, const std::vector<MemoryFile> &files)
        : path((fs::temp_directory_path() / "btflink-fuzz-XXXXXX").string())
    {
        if (!::mkdtemp(path.data()))
            std::abort();
        input = path + "/input";
        fs::create_directory(path + "/.dwz");
        fs::create_symlink(files[0].path(), input);
        for (size_t i = 1; i < files.size(); ++i) {
            const char role = bundle.files[i].role;
            const char *name = role == 'w'   ? "/part.dwo"
                               : role == 'p' ? "/input.dwp"
                                             : "/.dwz/alternate";
            std::error_code ignored; // set for another file of the same role, which is left out
            fs::create_symlink(files[i].path(), path + name, ignored);
        }
    }
    ~DebugFolder() { fs::remove_all(path); }
    DebugFolder(const DebugFolder &) = delete;
    DebugFolder &operator=(const DebugFolder &) = delete;
};

[[noreturn]] void differ(const char *what)
{
    std::fprintf(stderr, "the result depends on %s\n", what);
    std::abort();
}

} // namespace

Run run_emit(const Bundle &bundle)
{
    std::vector<MemoryFile> files = files_of(bundle);
    if (files.empty())
        return {};
    uint8_t bits = bundle.settings[0];
    emit::EmitOptions options;
    options.reader = static_cast<emit::ReaderChoice>(bundle.settings[3] % 3);
    std::optional<DebugFolder> debug;
    std::string input = files[0].path();
    if (files.size() > 1) {
        options.debug_dir = debug.emplace(bundle, files).path;
        input = debug->input;
    }
    options.image = bits & 1;
    options.strip_dwarf = bits & 2;
    options.unit.address_pool = bits & 4;
    options.add_missing_units = bits & 8;
    if (bits & 16)
        options.output = nowhere;
    else if (bits & 32)
        options.detached = nowhere;
    options.threads = bits & 64 ? 2 : 1;
    options.unit.features = features_of(bundle);
    auto done = emit::emit_file(input, options);
    if (done && bits & 128) {
        // Errors do not matter: hostile DWARF may lead to BTF that kernels refuse.
        std::optional<Error> ignored;
        merge::Options then;
        then.inputs = {input};
        then.features = options.unit.features;
        merge_into(then, ignored);
    }
    Run run = ended(files, error_of(done));
    if (debug)
        run.paths.push_back(debug->path);
    return run;
}

Run run_merge(const Bundle &bundle)
{
    std::vector<MemoryFile> files = files_of(bundle);
    uint8_t bits = bundle.settings[0];
    merge::Options options;
    for (size_t i = 0; i < files.size(); ++i) {
        if (bundle.files[i].role == 'm')
            options.image = files[i].path();
        else if (bundle.files[i].role == 'b')
            options.base = files[i].path();
        else
            options.inputs.push_back(files[i].path());
    }
    if (options.inputs.empty())
        return {};
    options.engine = bits & 1 ? merge::Engine::libbpf : merge::Engine::hash;
    options.format = bits & 2 ? merge::OutputFormat::object : merge::OutputFormat::raw;
    options.verify = bits & 16;
    if (bits & 32 && options.image.empty())
        options.image = options.inputs.front();
    options.features = features_of(bundle);
    if (options.base.empty())
        options.features.remove(Feature::distilled_base);
    options.threads = 1;
    options.verbose = true;
    if (options.features.has(Feature::distilled_base)) {
        // A distilled base is a second result. With -o it would go to a second file, OUT.base; a
        // module has room for both.
        std::optional<Error> only;
        options.update = options.inputs.front();
        merge_into(options, only);
        return ended(files, std::move(only));
    }
    std::optional<Error> error, again;
    Text first = merge_into(options, error);
    if (bits & 8) {
        options.threads = 3;
        Text second = merge_into(options, again);
        if (first != second || error.has_value() != again.has_value())
            differ("the number of threads");
    }
    if (bits & 64)
        options.update = options.inputs.front();
    else if (bits & 4 && !options.image.empty())
        options.update = options.image;
    if (!options.update.empty() && !error)
        merge_into(options, error);
    return ended(files, std::move(error));
}

Run run_check(const Bundle &bundle)
{
    std::vector<MemoryFile> files = files_of(bundle);
    std::string file, base;
    for (size_t i = 0; i < files.size(); ++i)
        (bundle.files[i].role == 'b' ? base : file) = files[i].path();
    if (file.empty())
        return {};
    auto found = merge::check_file(file, base);
    if (found && !found->empty())
        return ended(files, found->front());
    return ended(files, error_of(found));
}

Run run_words(const Bundle &bundle)
{
    std::vector<MemoryFile> files = files_of(bundle);
    if (files.empty())
        return {};
    const Text &bytes = bundle.files[0].bytes;
    std::string text(bytes.begin(), bytes.end());
    auto split = split_words(text, Where{files[0].path()});
    // Words @FILE are dropped: FILE may be any file of the system, and reading it may never end.
    std::vector<std::string> words;
    if (split)
        for (const std::string &word : *split)
            if (word[0] != '@' && word.find('\0') == word.npos)
                words.push_back(word);
    words.insert(words.begin(), "gcc");
    std::optional<Error> error = error_of(split);
    switch (bundle.settings[0] % 8) {
    case 0:
        error = error_of(parse_features(text));
        break;
    case 1:
        error = error_of(emit::parse_languages(text));
        break;
    case 2:
        error = error_of(kbuild::read_pahole_options(words, text));
        break;
    case 3:
        kbuild::read_compile_command(words);
        break;
    case 4: {
        ::setenv("BTF_CC_FEATURES", text.c_str(), 1);
        ::setenv("PAHOLE_FLAGS", text.c_str(), 1);
        auto settings = kbuild::read_settings();
        if (settings)
            kbuild::describe(*settings);
        error = error_of(settings);
        break;
    }
    case 5: {
        // A response file with the text of the first file. Each '@' in the text is removed. A byte
        // 0 becomes @ and the name of the response file itself. A byte N becomes @ and the name of
        // a copy of the Nth file, from which each '@' is removed, too.
        MemoryFile start({});
        std::vector<std::string> links = {"@" + start.path()};
        std::vector<MemoryFile> harmless;
        for (const BundleFile &file : bundle.files) {
            Text without = file.bytes;
            std::erase(without, '@');
            harmless.emplace_back(without);
            links.push_back("@" + harmless.back().path());
        }
        Text linked;
        for (uint8_t c : bytes) {
            if (c < links.size()) {
                linked.insert(linked.end(), links[c].begin(), links[c].end());
                linked.push_back(' ');
            } else if (c != '@') {
                linked.push_back(c);
            }
        }
        if (!write_file(start.path(), std::as_bytes(std::span(linked))))
            std::abort();
        error = error_of(unfold_response_files({"@" + start.path()}));
        break;
    }
    case 6: {
        auto blob = text_to_btf(text, Where{files[0].path()});
        if (blob)
            if (auto btf = Btf::parse(*blob, Where{files[0].path()}))
                btf_to_text(*btf);
        error = error_of(blob);
        break;
    }
    default:
        break;
    }
    return ended(files, std::move(error));
}

} // namespace btflink::fuzz
