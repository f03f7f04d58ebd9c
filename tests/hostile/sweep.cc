// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs the tools on many changed files, and checks how each run ends.
//
// Problem. Whatever is wrong with a file, a tool must end soon, with a result or with an error that
// names the place. It must not crash or use excessive memory.
//
// Method. Bundles (tests/hostile/fuzz/bundle.h) of files are changed; the files come from seeds.py,
// or are objects given by the user. A mutation depends only on its number and the bundles, so it
// can be repeated. The tool runs on each changed bundle in a process of its own, with a time limit;
// then the memory use of the process is checked. An error must name one of the bundle's files (or
// the merged BTF, or the base), and a section or an offset. Errors of btf-kernel (target package)
// need no section or offset, nor do errors about a file as a whole, which are counted by their
// text. There are no rules for errors of the target "words".
//
// Cost. One fork and one run of the tool's code per mutation, 1 to 3 ms for small files.
//
// usage: sweep [--count=N] [--first=N] [--keep=FOLDER] [--list] TARGET=FILE|FOLDER...
// TARGET is emit, merge, check, package or words (run_TARGET() in tests/hostile/fuzz/runs.h), with
// bundles as files; or object, with ELF objects that have DWARF (they are used for emit, and with
// their object BTF for merge). --count is the number of mutations (default: 300), --first the
// number of the first one (default: 0). --keep stores the bundles that violate a rule;
// tests/hostile/fuzz/fuzz-TARGET, a program of the build, runs them again. --list prints the texts
// of errors without section and offset. Exit status: 0, or 1 if a rule was violated or nothing was
// run.
#include "common/io/bytes.h"
#include "common/io/file_io.h"
#include "emit/emit.h"
#include "tests/hostile/fuzz/mutate.h"
#include "tests/hostile/fuzz/runs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace btflink;
using namespace btflink::fuzz;
namespace fs = std::filesystem;

namespace
{

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
constexpr uint64_t spare_memory = 1024 << 20, slower = 10;
#else
constexpr uint64_t spare_memory = 48 << 20, slower = 1;
#endif
constexpr uint64_t memory_per_byte = 10;
constexpr rlim_t most_seconds = 10 * slower;

struct Seed {
    std::string target, name;
    Bundle bundle;
};

/// The results that the child, which runs the tool, passes to its parent.
struct Outcome {
    bool ended, failed, names_file, names_place, about_all;
    long memory_before, memory_after; // the largest use so far, in kB
    char message[256];
};

struct Counts {
    uint64_t good = 0, refused = 0, violations = 0;
    std::map<std::string, uint64_t> placeless; // errors without section and offset, by text
    uint64_t most_memory = 0;
    double most_time = 0;
};

using RunFunction = Run (*)(const Bundle &);

RunFunction run_of(const std::string &target)
{
    static const std::map<std::string, RunFunction> all = {{"emit", run_emit},
                                                           {"merge", run_merge},
                                                           {"check", run_check},
                                                           {"package", run_package},
                                                           {"words", run_words}};
    auto found = all.find(target);
    if (found == all.end()) {
        std::fprintf(stderr, "sweep: ERROR: no target '%s'\n", target.c_str());
        std::exit(1);
    }
    return found->second;
}

Text read_text(const std::string &path)
{
    auto bytes = read_file(path);
    if (!bytes) {
        std::fprintf(stderr, "sweep: ERROR: %s\n", bytes.error().str().c_str());
        std::exit(1);
    }
    auto *first = reinterpret_cast<const uint8_t *>(bytes->data());
    return {first, first + bytes->size()};
}

void add_object(const std::string &name, Text bytes, std::vector<Seed> &seeds)
{
    constexpr uint8_t pool_and_merge = 4 | 128, all_low = 0xfe, global_var = 1024 >> 8;
    Bundle bundle{{pool_and_merge, all_low, global_var, 0}, {{'i', bytes}}};
    seeds.push_back({"emit", name, bundle});
    MemoryFile file(bytes);
    emit::EmitOptions options;
    options.unit.address_pool = true;
    options.strip_dwarf = true;
    options.unit.features = FeatureSet(all_low | uint32_t{global_var} << 8);
    if (!emit::emit_file(file.path(), options))
        return;
    bundle.settings[0] = 0;
    bundle.files[0].bytes = read_text(file.path());
    seeds.push_back({"merge", name, bundle});
}

std::vector<Seed> read_seeds(const std::vector<std::string> &arguments)
{
    std::vector<Seed> seeds;
    for (const std::string &argument : arguments) {
        size_t equals = argument.find('=');
        std::string target = argument.substr(0, equals);
        fs::path path = equals == argument.npos ? "" : argument.substr(equals + 1);
        std::vector<fs::path> files{path};
        if (fs::is_directory(path)) {
            files.clear();
            for (const fs::directory_entry &entry : fs::directory_iterator(path))
                files.push_back(entry.path());
            std::sort(files.begin(), files.end());
        }
        for (const fs::path &file : files) {
            Text bytes = read_text(file);
            if (target == "object")
                add_object(file.filename(), std::move(bytes), seeds);
            else if (run_of(target))
                seeds.push_back({target, file.filename(), read_bundle(bytes.data(), bytes.size())});
        }
    }
    return seeds;
}

Bundle mutated(const std::vector<Seed> &seeds, uint64_t number, const Seed *&of)
{
    Random random(static_cast<uint32_t>(number * 2654435761u));
    of = &seeds[random() % seeds.size()];
    const Seed &other = seeds[random() % seeds.size()];
    Bundle bundle = of->bundle;
    if (bundle.files.empty())
        return bundle;
    Text piece;
    if (!other.bundle.files.empty())
        piece = other.bundle.files[random() % other.bundle.files.size()].bytes;
    auto plain = [&](Text &bytes, size_t most) { mutate_bytes(bytes, most, random); };
    mutate_file(bundle.files[random() % bundle.files.size()].bytes, piece, random, plain);
    return bundle;
}

/// True if the error says that a file as a whole is not of the expected kind.
bool is_about_all(const std::string &what)
{
    constexpr const char *texts[] = {
        "has no .BTF",      "not an ELF file",           "has no BTF",
        "is a linked file", "unsupported architecture ", "unsupported ABI "};
    return std::any_of(std::begin(texts), std::end(texts),
                       [&](const char *text) { return what.starts_with(text); });
}

/// The text of an error, with N for each number, and without the folder in the file name at its
/// start: errors that differ only in these count as equal.
std::string without_numbers(const std::string &text)
{
    std::string out;
    const size_t file = text.rfind('/', text.find(": "));
    for (char c : std::string_view(text).substr(file == text.npos ? 0 : file + 1))
        if (c < '0' || c > '9')
            out += c;
        else if (out.empty() || out.back() != 'N')
            out += 'N';
    return out;
}

long memory_now()
{
    rusage usage;
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

void child(const Seed &seed, const Bundle &bundle, Outcome &out)
{
    rlimit cpu{most_seconds, most_seconds};
    ::setrlimit(RLIMIT_CPU, &cpu);
    ::alarm(static_cast<unsigned>(most_seconds * 30)); // real time: longer on a busy machine
    out.memory_before = memory_now();
    Run run = run_of(seed.target)(bundle);
    out.memory_after = memory_now();
    out.failed = run.error.has_value();
    if (run.error) {
        const Where &where = run.error->where;
        out.names_file =
            seed.target == "words" || where.file == "merged BTF" || where.file == "base BTF" ||
            std::any_of(run.paths.begin(), run.paths.end(),
                        [&](const auto &path) { return where.file.starts_with(path); });
        out.names_place = seed.target == "words" || seed.target == "package" ||
                          !where.section.empty() || where.offset;
        out.about_all = is_about_all(run.error->what);
        std::strncpy(out.message, run.error->str().c_str(), sizeof out.message - 1);
    }
    out.ended = true;
}

uint64_t size_of(const Bundle &bundle)
{
    uint64_t sum = 0;
    for (const BundleFile &file : bundle.files)
        sum += file.bytes.size();
    return sum;
}

/// Runs the tool on `bundle` in a child process, and counts how the run ended. Returns how the run
/// violated a rule; "" if it violated none.
std::string watch(const Seed &seed, const Bundle &bundle, Outcome &shared, Counts &counts)
{
    shared = {};
    pid_t pid = ::fork();
    if (pid == 0) {
        child(seed, bundle, shared);
        ::_exit(0);
    }
    int status = 0;
    rusage usage;
    if (pid < 0 || ::wait4(pid, &status, 0, &usage) != pid)
        return "could not be run";
    double time = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    counts.most_time = std::max(counts.most_time, time);
    if (WIFSIGNALED(status))
        return strf("ended by signal %d (%s)", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    if (!shared.ended)
        return strf("exited with status %d before its end", WEXITSTATUS(status));
    auto memory = static_cast<uint64_t>(shared.memory_after - shared.memory_before) * 1024;
    counts.most_memory = std::max(counts.most_memory, memory);
    if (memory > size_of(bundle) * memory_per_byte + spare_memory)
        return strf("took %zu MB for an input of %zu kB", static_cast<size_t>(memory >> 20),
                    static_cast<size_t>(size_of(bundle) >> 10));
    if (!shared.failed) {
        ++counts.good;
        return "";
    }
    ++counts.refused;
    if (!shared.names_file)
        return std::string("error names no file: ") + shared.message;
    if (!shared.names_place && !shared.about_all)
        return std::string("error names neither section nor offset: ") + shared.message;
    if (!shared.names_place)
        ++counts.placeless[without_numbers(shared.message)];
    return "";
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t count = 300, first = 0;
    std::string keep;
    bool list = false;
    std::vector<std::string> rest;
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        if (argument.starts_with("--count="))
            count = std::strtoull(argv[i] + 8, nullptr, 10);
        else if (argument.starts_with("--first="))
            first = std::strtoull(argv[i] + 8, nullptr, 10);
        else if (argument.starts_with("--keep="))
            keep = argument.substr(7);
        else if (argument == "--list")
            list = true;
        else
            rest.push_back(argument);
    }
    std::vector<Seed> seeds = read_seeds(rest);
    if (seeds.empty() || count == 0) {
        std::fprintf(stderr, "sweep: ERROR: nothing to do\n");
        return 1;
    }
    void *memory =
        ::mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    Outcome &shared = *new (memory) Outcome;

    Counts counts;
    for (uint64_t number = first; number < first + count; ++number) {
        const Seed *seed = nullptr;
        Bundle bundle = mutated(seeds, number, seed);
        std::string violation = watch(*seed, bundle, shared, counts);
        if (violation.empty())
            continue;
        ++counts.violations;
        std::printf("mutation %zu of %s %s: %s\n", static_cast<size_t>(number),
                    seed->target.c_str(), seed->name.c_str(), violation.c_str());
        std::fflush(stdout);
        if (!keep.empty()) {
            Text bytes = write_bundle(bundle);
            std::string path =
                strf("%s/%s-%zu", keep.c_str(), seed->target.c_str(), static_cast<size_t>(number));
            if (auto kept = write_file(path, std::as_bytes(std::span(bytes))); !kept)
                std::fprintf(stderr, "sweep: %s\n", kept.error().str().c_str());
        }
    }
    uint64_t placeless = 0;
    for (const auto &[message, times] : counts.placeless) {
        placeless += times;
        if (list)
            std::printf("%6zu without a place: %s\n", static_cast<size_t>(times), message.c_str());
    }
    std::printf("%zu mutations of %zu files: %zu good, %zu refused (%zu as a whole), %zu "
                "violations; at most %zu MB, %.1f s\n",
                static_cast<size_t>(count), seeds.size(), static_cast<size_t>(counts.good),
                static_cast<size_t>(counts.refused), static_cast<size_t>(placeless),
                static_cast<size_t>(counts.violations),
                static_cast<size_t>(counts.most_memory >> 20), counts.most_time);
    return counts.violations != 0;
}
