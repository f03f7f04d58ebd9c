// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-pahole: takes the place of pahole in a kernel build. Where pahole reads the DWARF of a whole
// linked file, this merges the BTF that its objects carry. What is not BTF encoding goes to a real
// pahole.
#include "common/io/exhaustion.h"
#include "common/io/file_parts.h"
#include "kbuild-integration/btf-pahole/encode_linked.h"
#include "kbuild-integration/environment.h"
#include "kbuild-integration/pahole_options.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace btflink;
using namespace btflink::kbuild;

namespace
{

constexpr int exit_failed = 1, exit_usage = 64; // pahole's

/// Files that a hand-over has come through, each " DEVICE:INODE": a copy of this program or a
/// script around it that is called pahole must not be handed over to for ever.
constexpr const char *passed_variable = "BTF_PAHOLE_PASSED";

std::string file_id(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return "";
    return " " + std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

bool has_passed(const std::string &passed, const std::string &id)
{
    return (passed + " ").find(id + " ") != std::string::npos;
}

/// The first program of this name in $PATH that was not passed; empty: none.
std::string find_other(const std::string &name, const std::string &passed)
{
    for (const std::string &candidate : programs_named(name))
        if (!has_passed(passed, file_id(candidate.c_str())))
            return candidate;
    return "";
}

/// Become a pahole that is not this program: $BTF_PAHOLE_REAL, or the first in $PATH.
int hand_over(char **argv, const char *why)
{
    std::string passed = variable(passed_variable) + file_id("/proc/self/exe");
    std::string named = variable("BTF_PAHOLE_REAL");
    std::string pahole = named.find('/') != std::string::npos
                             ? named
                             : find_other(named.empty() ? "pahole" : named, passed);
    std::string id = file_id(pahole.c_str());
    if (!named.empty() && (pahole.empty() || (!id.empty() && has_passed(passed, id)))) {
        std::fprintf(stderr, "btf-pahole: ERROR: %s; BTF_PAHOLE_REAL=%s is no other pahole\n", why,
                     named.c_str());
        return exit_failed;
    }
    if (pahole.empty()) {
        std::fprintf(stderr,
                     "btf-pahole: ERROR: %s; that is for pahole, and there is none in PATH "
                     "(or name one in BTF_PAHOLE_REAL)\n",
                     why);
        return exit_failed;
    }
    setenv(passed_variable, (passed + id).c_str(), 1);
    argv[0] = pahole.data();
    execv(pahole.c_str(), argv);
    std::fprintf(stderr, "btf-pahole: ERROR: %s: %s\n", pahole.c_str(), std::strerror(errno));
    return exit_failed;
}

} // namespace

int main(int argc, char **argv)
{
    report_lost_files("btf-pahole");
    report_exhaustion("btf-pahole");
    auto options = read_pahole_options({argv + 1, argv + argc}, variable("PAHOLE_LANG_EXCLUDE"));
    if (!options) {
        std::fprintf(stderr, "btf-pahole: ERROR: %s\n", options.error().str().c_str());
        return options.error().what.starts_with("option ") ? exit_usage : exit_failed;
    }
    switch (options->action) {
    case PaholeOptions::Action::version:
        std::puts(pahole_version);
        return 0;
    case PaholeOptions::Action::numeric_version:
        std::puts(pahole_numeric_version);
        return 0;
    case PaholeOptions::Action::supported_features:
        std::puts(feature_names(FeatureSet(UINT32_MAX)).c_str());
        return 0;
    case PaholeOptions::Action::other:
        return hand_over(argv, "nothing to encode (no -J)");
    case PaholeOptions::Action::encode:
        break;
    }
    if (options->files.size() != 1) {
        std::fprintf(stderr, "btf-pahole: ERROR: one file is encoded at a time, %zu were named\n",
                     options->files.size());
        return exit_usage;
    }
    if (options->verbose)
        for (const std::string &name : options->unknown_features)
            std::fprintf(stderr, "btf-pahole: feature '%s' is not known\n", name.c_str());

    EncodeReport report;
    Result<void> done = encode_linked(options->files[0], *options, report);
    for (const std::string &text : report.warnings)
        std::fprintf(stderr, "btf-pahole: WARNING: %s\n", text.c_str());
    if (options->verbose)
        for (const std::string &text : report.notes)
            std::fprintf(stderr, "btf-pahole: %s\n", text.c_str());
    if (!done)
        std::fprintf(stderr, "btf-pahole: ERROR: %s\n", done.error().str().c_str());
    std::fflush(nullptr);
    std::_Exit(done ? 0 : exit_failed); // see merge::Report::read
}
