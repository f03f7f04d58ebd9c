#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Runs a program case: compiles its sources, runs btf-emit, links, merges in all ways, and compares the results.

usage: run-program.py BTF-EMIT BTF-MERGE BTF-LINES BTF-COMPARE CASE.c [MACHINE...]

CASE.c has one or more sources. A line "//// NAME.c" begins each (NAME.s: assembler). The text before the first such
line belongs to all C sources. Directives in addition to those of directives.py:
  // flags: -O2             compiler flags (several lines add up)
  // features: +global_var  --features of btf-emit, btf-merge and btf-cc; --btf_features of pahole
  // link: -Wl,-z,now       flags of the final link
  // linked: yes            encode the linked file, not the objects
  // objcopy: a.o --FLAG... run objcopy on this object, with and without DWARF, after btf-emit
  // compilers: gcc clang   only these families (default: both)
  // pahole-ignore: FUNC    kinds in which pahole is known to differ; docs/differences.md says why
Words that limit a directive to variants (expect-gcc, flags-arm): gcc, clang, the MACHINE, 32, 64, dwarf4, dwarf5, gcc14
(gcc 14 or newer), gcc13 (gcc 13 or older), plugin. Such words can follow the keys flags, link, pahole-ignore and those
of directives.py; only those of directives.py can also have module (merged without an image) and image.

gcc compiles with DWARF 4, with DWARF 5, and with its plugin, if $BTFLINK_BTF_CC names a btf-cc that has one and the
case is not "linked: yes". clang 14 compiles with DWARF 4, other clangs with DWARF 5. With MACHINEs, cross compilers for
these are used instead, with DWARF 4 and with compressed DWARF 5.

Except with "linked: yes", these merges must have equal results: of the objects, of their `ld -r`, and of the objects
with the `ld -r` as the image. So must these merges with the linked image: of the objects with DWARF and without, and of
the `ld -r`. In all cases, variables must be where the image's symbol table has them. pahole's result for the image is
compared by meaning if pahole is at least as new as the reference, except with the plugin.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from helpers.btf_reader import SHT_BTF, Elf  # noqa: E402
from helpers.compilers import CROSS, MACHINES_32, clangs, cross_compiler, has_lld  # noqa: E402
from helpers.directives import check, directives, values  # noqa: E402
from helpers.reference_pahole import decides  # noqa: E402
from helpers.usage import check_arguments  # noqa: E402

COMPILERS = {'gcc': {'gcc': ('dwarf4', 'dwarf5')},
             'clang': {name: ('dwarf4' if name == 'clang-14' else 'dwarf5',) for name in clangs()}}
REL_MACHINES = ('arm', 'i386', 'mipsel')  # use REL: addends are in the relocated section
# As in kernels, per-CPU variables keep their own section. lld requires that the section that INSERT names exists.
SCRIPT = 'SECTIONS { .data..percpu : { *(.data..percpu) } } INSERT BEFORE .data;'
SCRIPT_LLD = SCRIPT.replace('BEFORE .data', 'AFTER .text')
DATA_LETTERS = 'bBdDgGrRsSvV'  # nm's letters for data


def call(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def reference():
    """Returns the path of pahole if its version is that of the reference or newer; otherwise None."""
    command = shutil.which(os.environ.get('BTFLINK_PAHOLE', 'pahole'))
    return command if decides(command) else None


class Failed(Exception):
    pass


class Build:
    """One variant of a case, in its own folder."""

    def __init__(self, tools, case, compiler, words, folder):
        self.tools, self.case, self.compiler, self.words = tools, case, compiler, words
        self.folder = folder
        self.wanted = directives(case)
        self.objects = []
        self.packed = ['-gz'] if words[1] in CROSS and 'dwarf5' in words else []

    def path(self, name):
        return os.path.join(self.folder, name)

    def must(self, *command):
        done = call(*command, cwd=self.folder)
        if done.returncode or done.stderr:
            raise Failed(f'{" ".join(command)}: exit {done.returncode}: {done.stderr}')
        return done.stdout

    def bound(self, name):
        """Words of the directives with this name that apply to this variant."""
        return [word for key, text in self.wanted for word in text.split()
                if (key + '-').startswith(name + '-')
                and set(key[len(name):].split('-')) - {''} <= set(self.words)]

    def features(self):
        return [f'--features={names}' for names in values(self.wanted, 'features')]

    def sources(self):
        with open(self.case, encoding='utf-8') as file:
            common, *parts = re.split(r'^//// (\S+)\n', file.read(), flags=re.M)
        for name, text in zip(parts[::2], parts[1::2]):
            with open(self.path(name), 'w', encoding='utf-8') as out:
                out.write(text if name.endswith('.s') else common + text)
            yield name

    def compile(self):
        for name in self.sources():
            output = name[:-2] + '.o'
            if 'plugin' in self.words:
                self.compile_by_plugin(name, output)
                continue
            dwarf = '-gdwarf-' + next(word[5:] for word in self.words if word.startswith('dwarf'))
            # gcc 15 and newer default to C23, where _Bool is called bool.
            standard = ['-std=gnu17'] if name.endswith('.c') else []
            self.must(*self.compiler, *standard, '-w', '-fno-pic', dwarf, '-c', *self.packed,
                      *self.bound('flags'), name, '-o', output)
            self.objects.append(output)
            if 'yes' in values(self.wanted, 'linked'):
                continue
            for extra in ([], ['--strip-dwarf']):
                self.must(self.tools['emit'], '--address-pool', *self.features(), *extra, '-o',
                          'bare-' + output if extra else output, output)
                self.check_object('bare-' + output if extra else output)
        for name, *how in (text.split() for key, text in self.wanted if key == 'objcopy'):
            for output in (name, 'bare-' + name):
                self.must(self.binutils('objcopy'), *how, output)

    def compile_by_plugin(self, name, output):
        self.must(os.environ['BTFLINK_BTF_CC'], '--quiet', '--plugin', *self.features(), *self.compiler,
                  *(['-std=gnu17'] if name.endswith('.c') else []), '-w', '-fno-pic', '-g', '-c',
                  *self.bound('flags'), name, '-o', output)
        shutil.copy(self.path(output), self.path('bare-' + output))
        self.objects.append(output)

    def binutils(self, name):
        """The command for a program of binutils: for a cross gcc with its prefix, otherwise the host's."""
        prefix, gcc, _ = self.compiler[0].rpartition('gcc')
        return prefix + name if gcc else name

    def check_object(self, name):
        """Checks the headers of .BTF and the address pool, and that their relocations are of the target's kind: REL
        or RELA."""
        elf = Elf(self.path(name))
        btf, pool = elf.get('.BTF'), elf.get('.debug')
        rel = '.rel' if self.words[1] in REL_MACHINES else '.rela'
        magic, = struct.unpack_from(elf.order + 'H', btf.data)
        length, version, size = struct.unpack_from(elf.order + 'IHB', pool.data)
        found = [btf.type, magic, version, size, length + 4]
        if found != [SHT_BTF, 0xeb9f, 5, elf.bits // 8, len(pool.data)]:
            raise Failed(f'{name}: .BTF and its pool are not of the target: {found}')
        kinds = {s.name for s in elf.sections if s.name.endswith(('.BTF', '.debug'))}
        if not kinds <= {'.BTF', '.debug', rel + '.BTF', rel + '.debug'}:
            raise Failed(f'{name}: relocations are not of the target\'s kind: {kinds}')

    def link(self, output, *how):
        linker = self.compiler
        if 'clang' in self.words and self.words[1] not in CROSS:  # gcc's linker does not read clang's bitcode
            linker = [*linker, '-fuse-ld=lld'] if '-flto' in how else ['gcc']
        self.must(*linker, '-nostdlib', '-static', *how, *self.objects, '-o', output)

    def merge(self, inputs, image=None):
        """Merges; returns the bytes of the result."""
        self.must(self.tools['merge'], *self.features(), '-o', 'out.btf',
                  *([f'--image={image}'] if image else []), *inputs)
        with open(self.path('out.btf'), 'rb') as file:
            return file.read()

    def lines(self, blob):
        with open(self.path('lines.btf'), 'wb') as file:
            file.write(blob)
        return self.must(self.tools['lines'], 'lines.btf').splitlines()

    def run(self):
        self.compile()
        if 'yes' in values(self.wanted, 'linked'):
            self.link('image', *self.bound('flags'), *self.bound('link'))
            self.must(self.tools['emit'], '--image', *self.features(), '-o', 'encoded', 'image')
            return self.compare({'image': self.merge(['encoded'])})
        self.link('joined.o', '-r')
        with open(self.path('percpu.lds'), 'w', encoding='utf-8') as out:
            out.write(SCRIPT_LLD if '-fuse-ld=lld' in self.compiler else SCRIPT)
        self.link('image', '-no-pie', '-Wl,-e,0,-T,percpu.lds', *self.bound('link'))
        bare = ['bare-' + name for name in self.objects]
        module = self.merge(self.objects)
        image = self.merge(self.objects, 'image')
        for name, blob, same in (('ld -r', self.merge(['joined.o']), module),
                                 ('ld -r as image', self.merge(self.objects, 'joined.o'), module),
                                 ('without DWARF', self.merge(bare, 'image'), image),
                                 ('ld -r, image', self.merge(['joined.o'], 'image'), image)):
            if blob != same:
                raise Failed(f'{name}: another result')
        if self.words[1] in CROSS:
            self.check_outputs(image)
        return self.compare({'module': module, 'image': image})

    def check_outputs(self, blob):
        """Checks two other outputs of btf-merge: a file that it updates, and an object, after a link. Their .BTF must
        be `blob`, the result for the image."""
        shutil.copy(self.path('image'), self.path('updated'))
        self.must(self.tools['merge'], *self.features(), '--image=image', '--update=updated',
                  *self.objects)
        self.must(self.tools['merge'], *self.features(), '--image=image', '--format=object', '-o',
                  'btf.o', *self.objects)
        self.objects.append('btf.o')
        self.link('linked', '-no-pie', '-Wl,-e,0')
        for name in ('updated', 'linked'):
            if Elf(self.path(name)).get('.BTF').data != blob:
                raise Failed(f'{name}: .BTF is not what was merged')

    def compare(self, results):
        problems = []
        for word, blob in results.items():
            lines = self.lines(blob)
            found = check(lines, self.wanted, {*self.words, word})
            if word == 'image':
                found += self.check_offsets(lines)
            problems += [f'{word}: {problem}' for problem in found]
            problems += ['     ' + line for line in lines] if found else []
        return problems + ([] if 'plugin' in self.words else self.compare_pahole(results['image']))

    def check_offsets(self, lines):
        """Returns a text for each DATASEC without a section, and for each variable that is not at the address of a
        symbol of its name."""
        elf = Elf(self.path('image'))
        symbols = {}
        for line in self.must('nm', 'image').splitlines():
            match = re.match(rf'([0-9a-f]+) [{DATA_LETTERS}] (\S+)', line)
            if match:
                symbols.setdefault(match.group(2), set()).add(int(match.group(1), 16))
        problems = []
        for line in lines:
            if not line.startswith('DATASEC '):
                continue
            name, *entries = re.findall(r'DATASEC (\S+)|(\S+)@(\d+)\+\d+', line)
            section = elf.get(name[0])
            if not section:
                problems.append(f'no section {name[0]}')
                continue
            for _, variable, offset in entries:
                # The symbol of a static variable may be its name with a suffix, such as .0.
                places = set().union(*(places for symbol, places in symbols.items()
                                       if symbol.split('.')[0] == variable.split('.')[0]))
                if section.address + int(offset) not in places:
                    problems.append(f'{variable} is not at {name[0]}+{offset}: {places}')
        return problems

    def compare_pahole(self, blob):
        command = reference()
        if not command:
            return []
        with open(self.path('ours.btf'), 'wb') as file:
            file.write(blob)
        features = ','.join(values(self.wanted, 'features')) or 'default'
        done = call(command, '-J', f'--btf_features={features}',
                    '--btf_encode_detached=theirs.btf', 'image', cwd=self.folder)
        if not os.path.exists(self.path('theirs.btf')):
            return [f'pahole wrote nothing: {done.stdout}{done.stderr}']
        ignored = [f'--ignore={kind}' for kind in self.bound('pahole-ignore')]
        done = call(self.tools['compare'], 'ours.btf', 'theirs.btf', *ignored, cwd=self.folder)
        return ['pahole differs:', *done.stdout.splitlines(), done.stderr] * bool(done.returncode)


def age(command):
    """A list of the word for the version of this gcc: gcc14 or gcc13."""
    major = call(*command, '-dumpversion').stdout.split('.')[0]
    return ['gcc14' if int(major) >= 14 else 'gcc13']


def has_plugin(command):
    """True if btf-cc has a plugin for this compiler: --settings then prints plugin=1 and plugin=HASH."""
    btf_cc = os.environ.get('BTFLINK_BTF_CC')
    return btf_cc and call(btf_cc, '--plugin', '--settings', *command).stdout.count(' plugin=') == 2


def variants(case, machines):
    """Yields (name, compiler command, words that apply)."""
    wanted = directives(case)
    if machines:
        rows = []
        for machine in machines:
            command = cross_compiler(machine)
            family = 'clang' if command and command[0].startswith('clang') else 'gcc'
            rows.append((machine, command, [family, machine], ('dwarf4', 'dwarf5')))
    else:
        rows = [(command, shutil.which(command) and [command], [family], versions)
                for family in values(wanted, 'compilers') or ['gcc', 'clang']
                for command, versions in COMPILERS[family].items()]
    for name, command, words, versions in rows:
        if not command:
            print(f'SKIP {name}: no compiler')
            continue
        if words == ['clang'] and '-flto' in values(wanted, 'link') and not has_lld(name):
            print(f'SKIP {name}: no lld of its version')
            continue
        if words == ['gcc'] and 'yes' not in values(wanted, 'linked'):
            if has_plugin(command):
                versions = (*versions, 'plugin')
            else:
                print(f'SKIP {name} plugin: $BTFLINK_BTF_CC names no btf-cc that has a plugin for it')
        for dwarf in versions:
            yield f'{name} {dwarf}', command, [*words, dwarf, *(age(command) if 'gcc' in words else [])]


def main():
    check_arguments(__doc__, 5)
    names = ('emit', 'merge', 'lines', 'compare')
    tools = {name: os.path.abspath(path) for name, path in zip(names, sys.argv[1:5])}
    case, machines = sys.argv[5], sys.argv[6:]
    if not reference():
        print('SKIP comparing with pahole: no pahole 1.32 or newer in PATH (or $BTFLINK_PAHOLE)')
    ran = failed = 0
    for name, command, words in variants(case, machines):
        with tempfile.TemporaryDirectory() as folder:
            width = '32' if words[1] in MACHINES_32 else '64'
            try:
                problems = Build(tools, case, command, [*words, width], folder).run()
            except Failed as why:
                problems = [str(why)]
        ran += 1
        failed += bool(problems)
        print('FAIL' if problems else 'ok  ', name)
        for problem in problems:
            print('    ', problem)
    if not ran:
        print('skipped: none of the compilers of this case is installed')
        sys.exit(77)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
