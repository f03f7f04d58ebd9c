// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Concatenates the object BTF of all units and writes it as the options say.
#include "emit/passes.h"

#include "common/io/file_io.h"
#include "common/object_btf/address_pool.h"

#include <algorithm>

namespace btflink::emit
{

namespace
{

/// Replaces vector::insert(), for which g++ 14 warns of an overflow (GCC PR107852).
void append(std::vector<std::byte> &out, Bytes more)
{
    const size_t end = out.size();
    out.resize(end + more.size());
    std::ranges::copy(more, out.data() + end);
}

void append(std::vector<Reloc> &out, std::vector<Reloc> more, uint64_t base)
{
    for (Reloc &reloc : more) {
        reloc.offset += base;
        out.push_back(reloc);
    }
}

/// Concatenates contributions and pools as a linker would: first those of `kept`, then those of
/// `units`.
ObjectBtf join(const DwarfFile &file, ExistingBtf kept, std::vector<UnitObject> units,
               const EmitOptions &options)
{
    ObjectBtf out = std::move(kept.all);
    out.section_type = options.section_type;
    out.exclude = options.exclude_flag;
    out.strip_dwarf = options.strip_dwarf || options.leave_out_dwarf;
    for (UnitObject &unit : units) {
        append(out.btf_relocs, std::move(unit.btf_relocs), out.btf.size());
        if (out.btf.empty())
            out.btf = std::move(unit.contribution);
        else
            append(out.btf, unit.contribution);
        if (!unit.has_pool)
            continue;
        append(out.pool_relocs, std::move(unit.pool_relocs), out.pool.size());
        append(out.pool, encode_pool(unit.object_id, unit.pool_entries, file.arch().address_size,
                                     file.order()));
    }
    return out;
}

/// The contents of a detached file. For one unit, this is the blob alone, so that any reader of BTF
/// can read the file. For several units, or with EmitOptions::image, it is all contributions, for
/// btf-merge.
std::vector<std::byte> detached_btf(const std::vector<UnitObject> &units,
                                    const EmitOptions &options)
{
    std::vector<std::byte> btf;
    std::vector<uint64_t> blob_sizes;
    for (const UnitObject &unit : units)
        if (!unit.contribution.empty()) {
            append(btf, unit.contribution);
            blob_sizes.push_back(unit.blob_size);
        }
    if (blob_sizes.size() == 1 && !options.image)
        btf.resize(blob_sizes.front());
    return btf;
}

} // namespace

Result<void> write_result(const std::string &path, const DwarfFile &file, ExistingBtf kept,
                          std::vector<UnitObject> units, const EmitOptions &options,
                          EmitReport &report)
{
    if (options.take) // take() has got the units
        return {};
    if (!options.detached.empty())
        return options.dry_run ? Result<void>()
                               : write_file(options.detached, detached_btf(units, options));
    const Bytes before = file.image().file;
    const FileChange change = TRY(plan_object_btf(
        before, file.arch(), join(file, std::move(kept), std::move(units), options), file.where()));
    const bool in_place = options.output.empty();
    if (in_place && !change.changes(before)) {
        if (report.btf_bytes)
            report.outcome = EmitReport::Outcome::unchanged;
        return {};
    }
    if (options.dry_run)
        return {};
    return in_place ? update_file(path, before, change)
                    : write_file(options.output, change.whole(before));
}

Result<void> write_without_btf(const DwarfFile &file, const EmitOptions &options)
{
    if (options.dry_run)
        return {};
    if (!options.detached.empty())
        TRY(write_file(options.detached, Bytes()));
    if (!options.output.empty())
        TRY(write_file(options.output, file.image().file));
    return {};
}

} // namespace btflink::emit
