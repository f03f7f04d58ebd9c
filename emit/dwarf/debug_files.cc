// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Searches for the separate debug files of a file, and checks that they belong to it.
#include "emit/dwarf/dwarf_file.h"

#include "common/io/file_io.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sys/stat.h>
#include <zlib.h>

namespace btflink::emit
{

namespace
{

const ElfSection *find_section(const ElfImage &image, std::string_view name)
{
    auto it = std::ranges::find(image.sections, name, &ElfSection::name);
    return it == image.sections.end() ? nullptr : &*it;
}

/// The build id, or nothing.
Bytes build_id(const ElfImage &image)
{
    return find_note(image, ELF_NOTE_GNU, NT_GNU_BUILD_ID);
}

/// DEBUG_DIR/.build-id/ab/cdef.debug; empty for an id of less than two bytes.
std::string path_by_id(Bytes id, const std::string &debug_dir)
{
    std::string hex;
    for (std::byte b : id)
        hex += strf("%02x", static_cast<unsigned>(b));
    if (hex.size() < 4)
        return {};
    return debug_dir + "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug";
}

/// The folder of the file, with a final slash: absolute and without symbolic links if realpath()
/// succeeds; otherwise as in the path, and empty if the path has none.
std::string real_folder(const ElfImage &image)
{
    char whole[PATH_MAX];
    return folder_of(realpath(image.where.file.c_str(), whole) ? whole : image.where.file);
}

bool is_file(const std::string &path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// The NUL-terminated name at the start of a section, or nothing.
std::string_view name_in(const ElfSection &section)
{
    const std::string_view text = as_text(section.data);
    const size_t end = text.find('\0');
    return end == text.npos ? std::string_view() : text.substr(0, end);
}

/// The first of `paths` that exists, has DWARF, and for which belongs(file) is true. If there is
/// none, the result has no file. Errors: those of read_parts() and DwarfFile::open().
template <typename Belongs>
Result<DebugFile> first_of(const std::vector<std::string> &paths, Belongs belongs)
{
    for (const std::string &path : paths) {
        if (!is_file(path))
            continue;
        auto parts = TRY(read_parts(path));
        auto file = TRY(DwarfFile::open(parts.bytes, Where{path}));
        if (file->has_dwarf() && belongs(*file))
            return DebugFile{std::move(parts), std::move(file)};
    }
    return DebugFile{};
}

} // namespace

Result<DebugFile> find_separate(const ElfImage &image, const std::string &debug_dir)
{
    Bytes id = build_id(image);
    auto same_id = [&](const DwarfFile &file) {
        return std::ranges::equal(build_id(file.image()), id);
    };
    if (!id.empty()) {
        auto found = first_of({path_by_id(id, debug_dir)}, same_id);
        if (!found || found->file)
            return found;
    }
    // .gnu_debuglink has a name with its NUL, padded to a multiple of four bytes, then a CRC.
    const ElfSection *link = find_section(image, ".gnu_debuglink");
    const std::string name(link ? name_in(*link) : std::string_view());
    if (name.empty() || link->data.size() < align_up(name.size() + 1, 4) + 4)
        return DebugFile{};
    const auto crc = load<uint32_t>(link->data.data() + align_up(name.size() + 1, 4), image.order);
    const std::string folder = real_folder(image);
    return first_of({folder + name, folder + ".debug/" + name, debug_dir + folder + name},
                    [&](const DwarfFile &file) {
                        Bytes all = file.image().file;
                        return crc32_z(0, reinterpret_cast<const Bytef *>(all.data()),
                                       all.size()) == crc;
                    });
}

Result<DebugFile> find_alternate(const ElfImage &image, const std::string &debug_dir)
{
    const ElfSection *link = find_section(image, ".gnu_debugaltlink");
    if (!link)
        return DebugFile{};
    const std::string name(name_in(*link));
    if (name.empty())
        return fail(image.where.in(".gnu_debugaltlink"), "has no name");
    Bytes id = link->data.subspan(name.size() + 1); // the build id of the alternate file
    // A name in /usr/lib/debug is also looked up in `debug_dir`, which may have another system's
    // files.
    constexpr std::string_view usual = "/usr/lib/debug/";
    const bool from_root = name.front() == '/';
    const std::string here = from_root ? name : real_folder(image) + name;
    const std::string elsewhere =
        name.starts_with(usual) ? debug_dir + "/" + name.substr(usual.size()) : "";
    auto found = first_of({here, elsewhere, path_by_id(id, debug_dir)}, [&](const DwarfFile &file) {
        return std::ranges::equal(build_id(file.image()), id);
    });
    if (found && !found->file)
        return fail(image.where.in(".gnu_debugaltlink"),
                    "names '" + name + "', but no file with its build id was found");
    return found;
}

} // namespace btflink::emit
