// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A kernel as it is shipped: vmlinux and modules in any kind of package. Only the parts that
// concern BTF are kept in memory. Nothing is written to disk.
#pragma once

#include "btf-kernel/progress.h"
#include "common/btf/btf.h"
#include "common/btf/btf_check.h"
#include "common/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel
{

/// A symbol in .BTF_ids or .data..percpu.
struct SectionSymbol {
    std::string name;
    uint64_t offset = 0; // bytes, from the section's start
    uint64_t size = 0;
};

/// vmlinux or a module.
struct Binary {
    /// flat: an image without section headers, and so without symbols; raw_btf: only BTF.
    enum class Form : uint8_t { elf, flat, raw_btf };

    Form form = Form::elf;
    std::string name; // "vmlinux", or the module's name in the running kernel ("nf_tables")
    // Of a module: relative to its package or folder, with lib/modules/ in front if the folder is
    // itself a lib/modules; for a file that the user named, only its name. Of vmlinux: including
    // the package or folder, for example "PACKAGE(PATH)".
    std::string path;
    bool is_debug = false;    // a module from a package of debug information
    uint64_t bytes = 0;       // size of the unpacked file
    uint8_t address_size = 0; // 0: not known
    ByteOrder order = host_order;
    // Why a module could not be read. Of the other fields, only name, path and is_debug are then
    // set.
    std::optional<Error> unreadable;

    bool has_btf = false;        // has a .BTF, which may be empty
    std::vector<std::byte> btf;  // contents of .BTF
    std::vector<std::byte> base; // contents of .BTF.base, a module's distilled base
    Where btf_where, base_where; // the places of the first bytes of `btf` and `base`

    bool has_symbols = false;
    std::vector<std::byte> btf_ids;        // contents of .BTF_ids
    std::vector<SectionSymbol> id_symbols; // symbols in .BTF_ids, by offset
    // Functions of the file that id_symbols name, and clones of named functions
    // ("f.constprop.0"), even if the file has no "f" itself; sorted.
    std::vector<std::string> id_functions;
    bool has_percpu = false;
    std::vector<SectionSymbol> percpu; // data symbols in .data..percpu, by offset
    std::string release;               // from a module's vermagic
};

struct Kernel {
    std::string package;                  // the paths that were opened, for messages
    std::string release;                  // "6.12.117+deb12-amd64"; empty: not known
    std::optional<KernelVersion> version; // from `release`
    std::optional<Binary> vmlinux;        // empty: there are only modules
    // Sorted by path. A module's file from a debug package is left out if the file that the kernel
    // loads is there, too.
    std::vector<Binary> modules;
    // The text after "Linux version " in the image of `vmlinux`, or in another image if that has
    // none; empty: not known.
    std::string banner;
    std::string config; // the kernel's configuration; empty: not known
    // Files that were wanted but not taken (hard links, devices, paths with '..', too large,
    // unreadable), and the first image whose contents cannot be read; sorted.
    std::vector<Error> left_out;
    std::vector<Error> other_builds; // images with another banner, and so from another build

    /// Is CONFIG_NAME=y set?
    bool config_has(std::string_view name) const;
    /// What CONFIG_NAME is set to, without quotes; empty: not set, or set to "".
    std::string_view config_value(std::string_view name) const;
};

struct OpenOptions {
    std::string release; // of the kernel to open; empty: the only one
    unsigned threads = 1;
    Progress *progress = nullptr;
    // For the error that there are several kernels: what the user can do.
    std::string_view if_several = "choose one with --release=NAME";
};

/// Opens one kernel. Each path is a folder (an unpacked package, an installed system, a build, or a
/// folder of packages), or a file: a package (.deb, .rpm, .apk, .ipk), a tar or cpio archive,
/// vmlinux, a boot image (wrapping.cc), a module, raw BTF. Files may be compressed. The number of
/// threads does not change the result. The order of paths changes Kernel::package. It may change
/// Kernel::release if no path states one, and Kernel::vmlinux if several images have the same name.
/// Errors: a path cannot be read; a file in `paths` is of an unknown kind; an archive is damaged;
/// there are too many files, or too much BTF; there are images, but none can be read; there are
/// several kernels, or none (of options.release). A damaged module is not an error: see
/// Binary::unreadable.
Result<Kernel> open_kernel(const std::vector<std::string> &paths, const OpenOptions &options);

/// Paths of vmlinux and modules, relative to the folder of find_kernel_files().
struct KernelFiles {
    std::string vmlinux; // an ELF file; empty: there is none
    std::vector<std::string> modules;
};
/// Finds vmlinux and modules by name in a folder, such as an unpacked package of debug information.
/// If a module has two files, only the debug file is listed (is_debug_file() of steps.h).
/// `release`: of the kernel; if it is empty, that of the modules, or else that of vmlinux. Files of
/// other releases are ignored: a file's path states its release, or else a vmlinux's banner does.
/// If `release` is empty and no path states a release, files of all releases count.
/// Errors: `folder` or a folder in it cannot be read, or there are too many files; there are
/// several kernels and `release` is empty; all kernels, or all files of vmlinux, are of other
/// releases.
Result<KernelFiles> find_kernel_files(const std::string &folder, const std::string &release);

/// Parses the BTF of vmlinux. Errors: there is no vmlinux, or its BTF is missing or malformed. The
/// Kernel must outlive the result.
Result<std::shared_ptr<const Btf>> parse_vmlinux(const Kernel &kernel);

/// The BTF of a module, with its base.
struct ModuleBtf {
    std::shared_ptr<const Btf> distilled; // the module's .BTF.base; null: it has none
    std::shared_ptr<const Btf> btf;       // btf->base() is null if the BTF is self-contained
};
/// `vmlinux` may be null; then only a module with a distilled base, or self-contained raw BTF, can
/// be parsed. The Binary must outlive the result.
Result<ModuleBtf> parse_module(const Binary &module, const std::shared_ptr<const Btf> &vmlinux);

} // namespace btflink::kernel
