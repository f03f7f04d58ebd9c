// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A kernel as it is shipped: vmlinux and modules, in any kind of package. Only the parts of each
// file that concern BTF are kept. Nothing is written to disk.
#pragma once

#include "common/btf/btf.h"
#include "common/btf/kernel_forms.h"
#include "common/result.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace btflink::kernel
{

/// A symbol of a section that BTF speaks of.
struct PlacedSymbol {
    std::string name;
    uint64_t offset = 0; // bytes, from the section's start
    uint64_t size = 0;
};

/// vmlinux or a module.
struct Binary {
    /// What can be known of it. A flat image has no symbols; of raw BTF there is nothing else.
    enum class Form : uint8_t { elf, flat, raw_btf };

    Form form = Form::elf;
    std::string name;         // "vmlinux"; "nf_tables": as the running kernel calls it
    std::string path;         // where it was found; inside a package: as it is named there
    uint64_t bytes = 0;       // of the unpacked file
    uint8_t address_size = 0; // 0: not known
    ByteOrder order = host_order;
    std::optional<Error> unreadable; // why the file could not be read; the rest is then empty

    bool has_btf = false;        // is there a .BTF, be it empty?
    std::vector<std::byte> btf;  // contents of .BTF
    std::vector<std::byte> base; // contents of .BTF.base: a distilled base, of modules only
    Where btf_where, base_where; // of their first bytes

    bool has_symbols = false;
    std::vector<std::byte> btf_ids;       // contents of .BTF_ids
    std::vector<PlacedSymbol> id_symbols; // those in it, by offset
    // Functions that these name, and what a compiler made of them ("f.constprop.0"); sorted.
    std::vector<std::string> id_functions;
    bool has_percpu = false;
    std::vector<PlacedSymbol> percpu; // of .data..percpu
    std::vector<std::string> exports; // names of exported symbols, sorted; needs symbols
    std::string release;              // of a module: what its vermagic says
};

struct Kernel {
    std::string package;                  // what was opened, for messages
    std::string release;                  // "6.12.117+deb12-amd64"; empty: nothing says it
    std::optional<KernelVersion> version; // of `release`
    std::optional<Binary> vmlinux;        // none: only modules are there
    std::vector<Binary> modules;          // by path
    std::string banner;                   // behind "Linux version "; empty: not known
    std::string config;                   // text of its configuration; empty: there is none
    std::vector<Error> left_out;          // members that were refused, and why; by path
    std::vector<Error> other_builds;      // images of the same release that are of another build

    /// Is CONFIG_NAME=y set?
    bool config_has(std::string_view name) const;
    /// What CONFIG_NAME is set to, without quotes; empty: not set.
    std::string_view config_value(std::string_view name) const;
};

struct OpenOptions {
    std::string release; // only this one, where there are several
    unsigned threads = 1;
    bool modules = true; // are they wanted?
    /// Called now and then, by any thread: so many modules have been read.
    std::function<void(size_t)> progress;
};

/// Open one kernel from one or several files and folders: folders (an unpacked package, an
/// installed system, a build, packages), .deb and .rpm packages and tar archives, vmlinux, images
/// that boot (wrapping.h), modules, raw BTF. Order does not matter, nor does the
/// number of threads. Errors: a file is of another kind, or so damaged that its rest is lost; there
/// are several kernels, or none. A damaged module is Binary::unreadable.
Result<Kernel> open_kernel(const std::vector<std::string> &paths, const OpenOptions &options);

/// Files in a folder with a complete linked kernel, as in a package of debug information. Paths are
/// relative to the folder.
struct KernelFiles {
    std::string vmlinux; // ELF; empty: none
    std::vector<std::string> modules;
};
/// Errors: it is no folder; several kernels, and `release` ("": any) does not choose.
Result<KernelFiles> find_kernel_files(const std::string &folder, const std::string &release);

/// Parse the BTF of vmlinux. Errors: there is none; it is out of order.
Result<std::shared_ptr<const Btf>> parse_vmlinux(const Kernel &kernel);

/// BTF of a module, with what it continues.
struct ModuleBtf {
    std::shared_ptr<const Btf> distilled; // its own .BTF.base; null: it continues vmlinux
    std::shared_ptr<const Btf> btf;       // btf->base() is that; null: it is self-contained
};
/// `vmlinux`: null if there is none: then only a module with a base of its own, or raw BTF that is
/// self-contained, can be parsed. The Binary must outlive the result.
Result<ModuleBtf> parse_module(const Binary &module, const std::shared_ptr<const Btf> &vmlinux);

} // namespace btflink::kernel
