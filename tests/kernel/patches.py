#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Applies the kernel patches to a copy of the source, builds this copy, and compares its BTF with pahole's.

usage: patches.py --tools=BUILD --work=DIR [--version=6.12|7.3] [--source=TARBALL_OR_DIR] [--jobs=N]
                  [--form=short|full]

Without --source, the source is found as by the program `run` in this folder. DIR is kept and used again, with the
source of the first run; the patched copy of the source in DIR is replaced if the patches have changed. The short form
builds the small kernel with DWARF kept. The full form (default) also builds the small kernel with DWARF dropped, and
checks that with the new options at their defaults, the patches only add symbols to the small kernel's configuration,
and do not change the commands for some objects. Prints a line per check: PASS, FAIL or SKIP. Exit status: 0 no check
failed, 1 a check failed, 77 all were skipped.
"""
import argparse
import hashlib
import os
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import kernel_tree
from btf_checks import DIGESTS_OF, BtfChecks
from checks import Checks, Failed, Progress, Skip, command, default_jobs, output_of

SERIES = HERE.parent.parent / 'kbuild-integration/patches'
PER_OBJECT = 'CONFIG_DEBUG_INFO_BTF_PER_OBJECT=y\n'
DROP_DWARF = PER_OBJECT + 'CONFIG_DEBUG_INFO_BTF_DROP_DWARF=y\n'
# Beginnings of the names of all configuration symbols that the series adds.
NEW_SYMBOLS = ('CONFIG_BTFLINK_VERSION', 'CONFIG_CAN_MAKE_BTF', 'CONFIG_DEBUG_INFO_BTF_OF_IMAGE',
               'CONFIG_DEBUG_INFO_BTF_PER_OBJECT', 'CONFIG_DEBUG_INFO_BTF_DROP_DWARF')
# An object for each kind of step: C and assembler for vmlinux, a library, a module.
SAMPLES = ['kernel/pid.o', 'arch/x86/entry/entry_64.o', 'arch/x86/lib/csum-copy_64.o',
           'drivers/net/veth.o']


class Series:
    """The patches for one version of Linux. `version` and `patched` are the names of the two sources in the workshop:
    unchanged, and with the patches."""

    def __init__(self, workshop, version):
        self.workshop = workshop
        self.version = version
        self.patched = f'{version}-patched'
        self.patches = sorted((SERIES / version).glob('*.patch'))

    def pristine_source(self, given):
        source = self.workshop.work / f'linux-source-{self.version}'
        if given and not (source / 'Makefile').exists():
            if given.is_dir():
                source.symlink_to(given.resolve())
            else:
                kernel_tree.unpack(given, source)
        return self.workshop.source(self.version)

    def fresh_source(self, given):
        """Makes the patched copy of the source, unless there is one with these patches; returns the output of patch."""
        pristine = self.pristine_source(given)
        patched = self.workshop.work / f'linux-source-{self.patched}'
        stamp = patched / '.series'
        wanted = hashlib.sha256(b''.join(p.read_bytes() for p in self.patches)).hexdigest()
        if stamp.exists() and stamp.read_text().split('\n')[0] == wanted:
            return stamp.read_text().split('\n', 1)[1]
        with Progress('copy the source'):
            shutil.rmtree(patched, ignore_errors=True)
            command(['cp', '-a', '--reflink=auto', f'{pristine}/.', patched])
        said = ''
        for patch in self.patches:
            said += command(['patch', '-p1', '--fuzz=0', '-d', patched, '-i', patch])
        stamp.write_text(f'{wanted}\n{said}')
        return said


class PatchChecks:
    def __init__(self, checks, series):
        self.checks = checks
        self.series = series
        self.workshop = series.workshop

    def tree(self, name, version, options=''):
        """Returns a configured KernelTree without the hook: the patched Kbuild runs btf-emit and btf-merge itself, and
        the unpatched one is the reference."""
        tree = kernel_tree.KernelTree(self.workshop, name, version, kernel_tree.SMALL,
                                      options=options, hooked=False)
        tree.prepare()
        return tree

    def build(self, tree, what):
        new = kernel_tree.new_warnings(tree.build_all(what))
        self.checks.ok(f'{tree.name}: the build prints no warnings but those of the kernel itself', not new,
                       '\n'.join(new[:20]))

    def applies(self, said):
        self.checks.ok('patches: apply without offset or fuzz', 'Hunk' not in said, said)

    def style(self):
        """Runs the kernel's checkpatch.pl. The patches are not signed: the person who submits the series adds
        Signed-off-by."""
        checker = self.workshop.work / f'linux-source-{self.series.version}/scripts/checkpatch.pl'
        if not shutil.which('perl'):
            self.checks.skip('patches: checkpatch.pl', 'perl not found')
            return
        for patch in self.series.patches:
            status, output = output_of(['perl', checker, '--no-tree', '--strict',
                                        '--ignore=MISSING_SIGN_OFF', patch],
                                       cwd=self.workshop.work) # has no .git, where checkpatch.pl would look up commits
            self.checks.ok(f'patches: checkpatch.pl: {patch.name}',
                           status == 0 and '0 errors, 0 warnings, 0 checks' in output, output)

    def kept(self):
        tree = self.tree('patches-kept', self.series.patched, PER_OBJECT)
        self.build(tree, 'the patched kernel, DWARF kept')
        btf = BtfChecks(self.checks, tree, 'patches')
        btf.sections()
        btf.layout()
        if shutil.which('pahole'):
            btf.by_pahole()
        else:
            self.checks.skip('patches: with the installed pahole', 'pahole is not installed')
        btf.by_digests(DIGESTS_OF[self.series.version])
        self.rebuilds(tree, btf)
        return tree

    def rebuilds(self, tree, btf):
        before = {path: btf.contents_of(tree.build / path) for path in ['vmlinux', *tree.modules()]}
        btf.ok('an untouched tree compiles nothing', not self.compiled(tree))

        os.utime(tree.build / 'kernel/fork.o', (1, 1)) # instead of touching the source
        done = self.compiled(tree)
        btf.ok('one object compiled again: no other is touched', done == {'kernel/fork.o'},
               str(done))
        after = {path: btf.contents_of(tree.build / path) for path in before}
        btf.ok('vmlinux and modules have the BTF they had',
               after == before)

        for switch, wanted in (('--enable', False), ('--disable', True)):
            command([tree.source / 'scripts/config', '--file', tree.build / '.config', switch,
                     'DEBUG_INFO_BTF_DROP_DWARF'])
            tree.make('kernel/pid.o', 'drivers/net/veth.o')
            for path in ('kernel/pid.o', 'drivers/net/veth.o'):
                table = command(['readelf', '-SW', tree.build / path])
                btf.ok(f'{path}: made again {"with" if wanted else "without"} DWARF when the option '
                       'changes', ('.debug_info' in table) == wanted and '.BTF' in table, table)

    def compiled(self, tree):
        """Runs a build; returns those objects of vmlinux and modules that the build wrote."""
        objects = tree.objects()
        for path in tree.modules():
            objects += (tree.build / path).with_suffix('.mod').read_text().split()
        times = {path: (tree.build / path).stat().st_mtime_ns for path in objects}
        tree.make('all')
        return {path for path in objects if (tree.build / path).stat().st_mtime_ns != times[path]}

    def dropped(self, kept):
        tree = self.tree('patches-dropped', self.series.patched, DROP_DWARF)
        self.build(tree, 'the patched kernel, DWARF dropped')
        btf = BtfChecks(self.checks, tree, 'patches-dropped')
        btf.sections()
        btf.layout()
        for path in ['vmlinux', *tree.modules()]:
            btf.ok(f'{path}: the same BTF, to the byte, as with DWARF kept',
                   btf.contents_of(tree.build / path) == btf.contents_of(kept.build / path))
            table = command(['readelf', '-SW', tree.build / path])
            btf.ok(f'{path}: no debug section is left', ' .debug' not in table, table)

    def default_choice(self):
        """By default, the patches only add symbols to the configuration, and do not change the commands for SAMPLES."""
        stock = self.tree('patches-stock', self.series.version)
        tree = self.tree('patches-default', self.series.patched)
        added = set(tree.configuration()) - set(stock.configuration())
        lost = set(stock.configuration()) - set(tree.configuration())
        others = [line for line in added if not re.match(rf'(# )?({"|".join(NEW_SYMBOLS)})', line)]
        self.checks.ok('patches: the default configuration is the same except for the new options',
                       not lost and not others and 'CONFIG_DEBUG_INFO_BTF_OF_IMAGE=y' in added,
                       f'{lost} {others}')
        with Progress('compile some objects with and without the patches'):
            for each in (stock, tree):
                # For an object in arch/x86/lib, make descends into arch/x86 and into arch/x86/lib, and both compile
                # it, with different -I options. The command of the last one is saved. With -j1, the last one is always
                # arch/x86/lib.
                each.make('-j1', *SAMPLES)
        for path in SAMPLES:
            wanted = stock.saved_command(path).replace(f'{stock.source.resolve()}/',
                                                       f'{tree.source.resolve()}/')
            self.checks.ok(f'patches: {path}: by default the same command, to the byte',
                           tree.saved_command(path) == wanted)

    def run(self, given, full):
        self.applies(self.series.fresh_source(given))
        for tool in ('emit/btf-emit', 'merge/btf-merge'):
            link = self.workshop.bin / pathlib.Path(tool).name
            link.unlink(missing_ok=True)
            link.symlink_to(self.workshop.tools / tool)
        self.style()
        kept = self.kept()
        if full:
            self.dropped(kept)
            self.default_choice()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--tools', required=True, type=pathlib.Path)
    parser.add_argument('--work', required=True, type=pathlib.Path)
    parser.add_argument('--version', choices=sorted(path.name for path in SERIES.iterdir()
                                                    if path.is_dir()), default='6.12')
    parser.add_argument('--source', type=pathlib.Path)
    parser.add_argument('--jobs', type=int, default=default_jobs())
    parser.add_argument('--form', choices=['short', 'full'], default='full')
    options = parser.parse_args()
    checks = Checks()
    try:
        workshop = kernel_tree.Workshop(options.work, options.tools, options.jobs)
        workshop.prepare()
        PatchChecks(checks, Series(workshop, options.version)).run(options.source,
                                                                   options.form == 'full')
    except Skip as reason:
        checks.skip('patches', reason)
    except (Failed, OSError) as reason:
        checks.ok('patches: run to their end', False, str(reason))
    print(f'patches: {checks.passed} passed, {checks.failed} failed, {checks.skipped} skipped')
    return checks.status()


if __name__ == '__main__':
    sys.exit(main())
