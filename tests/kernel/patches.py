#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The patches for a kernel: applied to a fresh copy of the source, built, compared with pahole.

usage: patches.py --tools=BUILD --work=DIR [--version=6.12|7.3] [--source=TARBALL_OR_DIR] [--jobs=N]
                  [--form=short|full]

Without --source the source is found as `run` finds it. DIR is kept and reused; the copy of the
source in it is made anew when the patches have changed. The short form builds the small kernel with
DWARF kept, the full one also with DWARF dropped, and compares what the default choice runs with what
the unpatched source runs. One line per check: PASS, FAIL or SKIP. Exit status: 0 all passed, 1 a
check failed, 77 all were skipped.
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
from checks import Checks, Failed, Progress, Skip, command, output_of

SERIES = HERE.parent.parent / 'kbuild-integration/patches'
PER_OBJECT = 'CONFIG_DEBUG_INFO_BTF_PER_OBJECT=y\n'
DROP_DWARF = PER_OBJECT + 'CONFIG_DEBUG_INFO_BTF_DROP_DWARF=y\n'
# What the series adds to a configuration without saying so.
NEW_SYMBOLS = ('CONFIG_BTFLINK_VERSION', 'CONFIG_CAN_MAKE_BTF', 'CONFIG_DEBUG_INFO_BTF_OF_IMAGE',
               'CONFIG_DEBUG_INFO_BTF_PER_OBJECT', 'CONFIG_DEBUG_INFO_BTF_DROP_DWARF')
# One of each kind of step: C and assembler for vmlinux, of a library, for a module.
SAMPLES = ['kernel/pid.o', 'arch/x86/entry/entry_64.o', 'arch/x86/lib/csum-copy_64.o',
           'drivers/net/veth.o']


class Series:
    """The patches for one version of Linux, and its sources in a workshop: as they were given
    (`version`), and a patched copy (`patched`)."""

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
        """Make the copy; what patch printed."""
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
        """A build folder, configured; without the hook: the source itself is the hook."""
        tree = kernel_tree.KernelTree(self.workshop, name, version, kernel_tree.SMALL,
                                      options=options, hooked=False)
        tree.prepare()
        return tree

    def build(self, tree, what):
        new = kernel_tree.new_warnings(tree.build_all(what))
        self.checks.ok(f'{tree.name}: the build prints no warning of its own', not new,
                       '\n'.join(new[:20]))

    def applies(self, said):
        self.checks.ok('patches: apply without offset or fuzz', 'Hunk' not in said, said)

    def style(self):
        """As the kernel's own script sees it. Who submits the series signs it."""
        checker = self.workshop.work / f'linux-source-{self.series.version}/scripts/checkpatch.pl'
        if not shutil.which('perl'):
            self.checks.skip('patches: checkpatch.pl', 'perl not found')
            return
        for patch in self.series.patches:
            status, output = output_of(['perl', checker, '--no-tree', '--strict',
                                        '--ignore=MISSING_SIGN_OFF', patch],
                                       cwd=self.workshop.work) # in our git it is no patch to it
            self.checks.ok(f'patches: checkpatch.pl: {patch.name}',
                           status == 0 and '0 errors, 0 warnings, 0 checks' in output, output)

    def kept(self):
        tree = self.tree('patches-kept', self.series.patched, PER_OBJECT)
        self.build(tree, 'the patched kernel, DWARF kept')
        btf = BtfChecks(self.checks, tree, 'patches')
        btf.sections()
        btf.layout()
        btf.by_pahole()
        btf.by_digests(DIGESTS_OF[self.series.version])
        self.rebuilds(tree, btf)
        return tree

    def rebuilds(self, tree, btf):
        before = {path: btf.contents_of(tree.build / path) for path in ['vmlinux', *tree.modules()]}
        btf.ok('an untouched tree compiles nothing', not self.compiled(tree))

        os.utime(tree.build / 'kernel/fork.o', (1, 1)) # sources are never written to
        done = self.compiled(tree)
        btf.ok('one object compiled again: no other is touched', done == {'kernel/fork.o'},
               str(done))
        after = {path: btf.contents_of(tree.build / path) for path in before}
        btf.ok('vmlinux and modules, these not linked again, have the BTF they had',
               after == before)

        for switch, wanted in (('--enable', False), ('--disable', True)):
            command([tree.source / 'scripts/config', '--file', tree.build / '.config', switch,
                     'DEBUG_INFO_BTF_DROP_DWARF'])
            tree.make('kernel/pid.o', 'drivers/net/veth.o')
            for path in ('kernel/pid.o', 'drivers/net/veth.o'):
                table = command(['readelf', '-SW', tree.build / path])
                btf.ok(f'{path}: made anew {"with" if wanted else "without"} DWARF when the option '
                       'changes', ('.debug_info' in table) == wanted and '.BTF' in table, table)

    def compiled(self, tree):
        """Objects of vmlinux and modules that a build writes."""
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
        """Where nobody asks for anything else, Kbuild runs what it ran."""
        stock = self.tree('patches-stock', self.series.version)
        tree = self.tree('patches-default', self.series.patched)
        added = set(tree.configuration()) - set(stock.configuration())
        lost = set(stock.configuration()) - set(tree.configuration())
        others = [line for line in added if not re.match(rf'(# )?({"|".join(NEW_SYMBOLS)})', line)]
        self.checks.ok('patches: the default configuration is the same but for the new options',
                       not lost and not others and 'CONFIG_DEBUG_INFO_BTF_OF_IMAGE=y' in added,
                       f'{lost} {others}')
        with Progress('compile some objects with and without the patches'):
            for each in (stock, tree):
                each.make(*SAMPLES)
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
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
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
