// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Unpacks and copies the input of btf-kernel encode, and finds what earlier runs wrote.
#include "btf-kernel/encode/encode_files.h"

#include "btf-kernel/package/steps.h"

#include <fcntl.h>

namespace btflink::kernel
{

namespace fs = std::filesystem;

std::string path_of(int file)
{
    return "/proc/self/fd/" + std::to_string(file);
}

Result<kbuild::Scratch> unpacked(const std::string &file, const Where &where)
{
    auto parts = TRY(read_parts(file));
    if (!is_compressed(parts.bytes))
        return kbuild::Scratch();
    auto bytes = TRY(unpack(parts.bytes, most_of_module, where));
    auto scratch = kbuild::ScratchFile::create(file);
    if (scratch)
        TRY(write_file((*scratch)->path(), bytes));
    return scratch;
}

Result<void> spill(const std::string &folder, Bytes bytes, Fd &file)
{
    std::string name = folder + "/btf-kernel.XXXXXX";
    file.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (file.get() < 0 || ::unlink(name.c_str()) != 0)
        return fail_errno(Where{folder}, "cannot be written");
    if (auto written = write_file(path_of(file.get()), bytes); !written)
        return fail(Where{folder}, written.error().what);
    return {};
}

Result<std::vector<fs::path>> earlier_modules_in(const std::string &output)
{
    std::vector<fs::path> found;
    std::error_code error, unknown;
    fs::recursive_directory_iterator it(output, fs::directory_options::skip_permission_denied,
                                        error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (fs::exists(it->path() / settings_name, unknown))
            it.disable_recursion_pending();
        else if (fs::is_regular_file(it->symlink_status(unknown)) &&
                 role_of_encoded(it->path().native()) == Role::module)
            found.push_back(it->path());
    }
    if (error)
        return fail(Where{output}, "cannot be read: " + error.message());
    return found;
}

} // namespace btflink::kernel
