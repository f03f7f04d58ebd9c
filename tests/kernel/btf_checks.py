# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Checks of a built kernel: its BTF is compared with pahole's results and with stored digests, and made again in
other ways; objects of other programs than the kernel must be unchanged."""
import functools
import pathlib
import re
import shlex
import shutil
import struct

import kernel_tree
from checks import SKIPPED, Failed, Progress, command, output_of
from finalisation import Finalisation, over
from finalisation_checks import Parts
from helpers.btf_reader import Elf

HERE = pathlib.Path(__file__).resolve().parent
# Kinds that are not compared with the results of a pahole older than the reference, such as Debian 12's 1.24. Such a
# pahole selects functions (with prototypes and tags) by other rules, and writes a multidimensional array as one ARRAY.
# Variables are compared separately, because pahole 1.24 drops those at offset 0 of their section.
OTHER_RULES_124 = 'FUNC,FUNC_PROTO,DECL_TAG,VAR,DATASEC,ARRAY'
# What btf-compare prints for base types of sizes that an INT cannot have: btflink (A) writes an array of bytes for
# each, pahole (B) one INT for all (docs/differences.md). clang's DWARF has such base types (DW_ATE_unsigned_56) for
# operands of DWARF expressions; no other type refers to them.
ODD_BASE_TYPE = re.compile(r'only A: \[\d+\] ARRAY : unsigned char \[\d+\]$|'
                           r'only B: \[\d+\] INT __SANITIZED_FAKE_INT__ ')
# Kinds that do not count in modules if pahole's libbpf is older than 1.8: libbpf 1.7 does not search the base for
# typedefs, so it repeats in a module the base's typedefs and the types that refer to them.
SECOND_COPIES = 'PTR,ARRAY,TYPEDEF,VOLATILE,CONST,RESTRICT,FUNC_PROTO,TYPE_TAG'
HEADER_OF_LIBBPF_1_8 = 32  # bytes; before 1.8, libbpf writes a header of 24 bytes
# Version of Linux -> the version in the names of its stored digests.
DIGESTS_OF = {'6.12': '6.12.117', '7.3': '7.3.4'}
# Of the options that kernels pass to pahole 1.24, those that affect the result.
PAHOLE_FLAGS = ['--btf_gen_floats', '--lang_exclude=rust']


def header_length(btf):
    """Returns the length in bytes of the BTF header in a file with raw little-endian BTF."""
    magic, _, _, length = struct.unpack('<HBBI', pathlib.Path(btf).read_bytes()[:8])
    if magic != 0xEB9F:
        raise Failed(f'{btf} is not BTF')
    return length


class BtfChecks:
    """The checks of `tree`, a built KernelTree. The title of each check begins with `name`. Files are written to the
    folder `results` of the work folder."""

    def __init__(self, checks, tree, name):
        self.checks = checks
        self.tree = tree
        self.name = name
        tools = tree.workshop.tools
        self.emit = tools / 'emit/btf-emit'
        self.merge_tool = tools / 'merge/btf-merge'
        self.compare_tool = tools / 'tests/tools/btf-compare'
        self.dump_tool = tools / 'tests/tools/btf-dump'
        self.load_tool = tools / 'tests/tools/btf-load'
        self.readers_tool = tools / 'tests/tools/compare-readers'
        self.results = tree.workshop.work / 'results'
        self.finalisation = Finalisation(tree, self.results)
        self.objcopy = tree.tool('objcopy')
        self.vmlinux = tree.build / 'vmlinux'

    def ok(self, title, condition, why=''):
        self.checks.ok(f'{self.name}: {title}', condition, why)

    def compare(self, title, *args):
        """Checks that btf-compare with these arguments finds no difference."""
        status, output = output_of([self.compare_tool, *args])
        self.ok(title, status == 0, output)

    def compare_vmlinux(self, title, theirs):
        """Compares vmlinux with `theirs`, pahole's BTF. Two differences are accepted: odd base types (ODD_BASE_TYPE);
        and the functions in `strong` of the machine with their prototypes, because these functions also have a weak
        definition and btf-merge takes the strong one (docs/differences.md)."""
        status, output = output_of([self.compare_tool, '--deep', '--show=100', self.vmlinux, theirs])
        differing = re.findall(r'^ +((?:only|more) [AB]: .*)', output, re.M)
        rest = [line for line in differing if not ODD_BASE_TYPE.match(line)]
        functions = {match[1] for line in rest if (match := re.match(r'only [AB]: \[\d+\] FUNC ([^:]+):', line))}
        excused = (all(re.match(r'only [AB]: \[\d+\] FUNC(_PROTO)? ', line) for line in rest)
                   and functions <= set(self.tree.machine.strong) and bool(functions) == bool(rest))
        if status and differing and excused:
            if functions:
                title += f' (except for strong definitions: {", ".join(sorted(functions))})'
            status = 0
        self.ok(title, status == 0, output)

    def compare_module(self, title, file, theirs, *bases, ignored=''):
        """Compares a module with `theirs`, pahole's BTF, except for the kinds `ignored`. With link-time optimisation,
        `theirs` may have more functions: those that lost a parameter. pahole leaves such functions out of vmlinux,
        but keeps them in modules, where it cannot match addresses with symbols (docs/differences.md)."""
        comparison = [self.compare_tool, file, theirs, *bases]
        status, output = output_of([*comparison, '--deep', *([f'--ignore={ignored}'] if ignored else [])])
        if (status and 'CONFIG_LTO_' in self.tree.options and
                not re.search(r'^ +(only|more) A: ', output, re.M)):
            lost = set(re.findall(r'only B: \[\d+\] FUNC ([^:]+):', output))
            rest, _ = output_of([*comparison, f'--ignore={ignored or "FUNC_PROTO"},FUNC'])
            # `output` may name only some of the functions, but it counts all of them.
            counted = re.search(r'^FUNC +(?:\d+ +){4}0 +(\d+)$', output, re.M)
            if (rest == 0 and lost and counted and int(counted[1]) == len(lost)
                    and lost <= self.changed_functions(file)):
                title += f' (except for lost parameters: {", ".join(sorted(lost))})'
                status = 0
        self.ok(title, status == 0, output)

    def nearly(self, title, *args, allowed):
        """Compares BTF from the plugin (A) with BTF from DWARF (B). At most `allowed` signatures per thousand types of
        A may be in only one of the two."""
        _, output = output_of([self.compare_tool, '--show=100', *args])
        counts = re.search(r'^total types A (\d+) .*; differing signatures (\d+);', output, re.M)
        if not counts:
            raise Failed(output)
        total, differing = map(int, counts.groups())
        self.ok(f'{title} ({differing} differ)', differing * 1000 <= allowed * total, output)

    @staticmethod
    def same_sections(*paths):
        """Returns whether two ELF files have sections of the same names and contents, except for debug information,
        .BTF and .BTF_ids, relocations, .comment, and symbol and string tables, where gcc -g leaves labels that only
        DWARF uses. Build IDs are not compared either, not even that of a vDSO inside a data section: the linker
        computes a build ID over DWARF, too, which names the build folder."""
        apart = ('.debug', '.BTF', '.rel', '.comment', '.note.gnu.build-id', '.symtab', '.strtab', '.shstrtab')
        note = struct.pack('<III4s', 4, 20, 3, b'GNU') # Elf64_Nhdr and name of NT_GNU_BUILD_ID
        build_id = re.compile(re.escape(note) + b'.{20}', re.DOTALL)
        def contents(path):
            return [(section.name, build_id.sub(b'', section.data or b''))
                    for section in Elf(str(path)).sections if not section.name.startswith(apart)]
        return contents(paths[0]) == contents(paths[1])

    def changed_functions(self, module):
        """Returns the functions that, according to the module's DWARF, lost a parameter and were given another
        signature by clang (DW_CC_nocall)."""
        copy = self.results / 'changed.ko'
        command([self.objcopy, '-R', '.BTF', '-R', '.BTF.base', module, copy])
        command([self.emit, '--quiet', '--address-pool', copy])
        return set(re.findall(r"^function '(.*?)' .*flags=\S*optimized_param,changed",
                              command([self.dump_tool, '--trailer', copy]), re.M))

    def merge(self, out, *args):
        """Runs btf-merge in the build folder; returns the path of its result."""
        path = self.results / out
        path.unlink(missing_ok=True)
        command([self.merge_tool, *args, '-o', path], cwd=self.tree.build)
        return path

    def against_digest(self, what, btf, *args):
        """Compares `btf` with the stored digest of the reference pahole's result. The check is skipped if there is no
        digest, or if the digest is of another kernel version or compiler."""
        digest = HERE / f'{what}.digest'
        if not digest.exists():
            self.checks.skip(f'{self.name}: {what}: by stored digest', f'there is no {digest.name}')
            return
        made_of, pahole = re.search(r'^# of (.*)\n# and (.*?),', digest.read_text(), re.M).groups()
        title = f'{what}: the same as {pahole}, by stored digest'
        here = self.tree.provenance()
        if made_of != here:
            self.checks.skip(f'{self.name}: {title}', f'the digest is of {made_of}; this is {here}')
            return
        self.compare(title, btf, f'--against={digest}', *args)

    def encoded(self, path, pahole, flags, base=''):
        """Runs a pahole on the DWARF of vmlinux or a module; returns the path of the BTF that pahole writes."""
        elf = self.tree.image if path == 'vmlinux' else self.tree.build / path
        bare = self.results / f'bare-{elf.name}'
        command([self.objcopy, '--remove-section=.BTF', elf, bare])
        btf = self.results / f'{pathlib.Path(pahole).name}-{elf.name}.btf'
        btf.unlink(missing_ok=True)
        command([pahole, '-J', *flags, *over(base), f'--btf_encode_detached={btf}', bare])
        bare.unlink()
        return btf

    def theirs(self, path, pahole, flags, base=''):
        """Returns the path of pahole's BTF of vmlinux or a module, finished as the kernel does it (finalisation.py)."""
        return self.finalisation.final(self.encoded(path, pahole, flags, base), path, base)

    def variables(self, btf, *base):
        """Returns the entries of DATASECs: (section, variable, offset, size)."""
        text = command([self.dump_tool, 'raw', btf, *base])
        names = dict(re.findall(r"^\[(\d+)\] VAR '(.*?)'", text, re.M))
        entries = set()
        for line in text.splitlines():
            if line.startswith('['):
                section = re.match(r"\[\d+\] DATASEC '(.*?)'", line)
            elif section:
                entry = dict(word.split('=') for word in line.split())
                entries.add((section[1], names[entry['type_id']], int(entry['offset']),
                             int(entry['size'])))
        return entries

    def against_pahole(self, what, btf, theirs, base='', their_base=''):
        """Compares types and variables of `btf` with `theirs`, made by the pahole in PATH, which is older than the
        reference. The kinds in OTHER_RULES_124 are not compared as types."""
        version = command(['pahole', '--version']).strip()
        ignored = OTHER_RULES_124 + (',INT' if self.tree.is_clang else '') # see ODD_BASE_TYPE
        self.compare(f'{what}: the same types as pahole {version}', btf, theirs,
                     '--flat-arrays', f'--ignore={ignored}',
                     *([f'--base-a={base}', f'--base-b={their_base}'] if base else []))
        # Entries are compared by address instead of name, because pahole takes any of several symbols at one address.
        addresses = {line.split()[2]: line.split()[0] for line in
                     command([self.tree.tool('nm'), '--defined-only', btf]).splitlines()}

        def entries(file, base):
            return {(section, addresses.get(name, name), offset, size) for section, name, offset, size
                    in self.variables(file, *([f'--base={base}'] if base else []))}
        mine, other = entries(btf, base), entries(theirs, their_base)
        wrong = {entry for entry in mine ^ other if entry in other or entry[2] != 0}
        self.ok(f'{what}: the same variables as pahole {version}, and those at offset 0', not wrong,
                f'in one of the two only: {sorted(wrong)[:5]}')

    def by_pahole(self):
        """Compares vmlinux and modules with the results of the pahole in PATH. Image and modules must have DWARF."""
        with Progress('pahole on the image'):
            theirs = self.theirs('vmlinux', 'pahole', PAHOLE_FLAGS)
        self.against_pahole('vmlinux', self.vmlinux, theirs)
        for path in self.tree.modules():
            module = self.tree.build / path
            self.against_pahole(module.name, module,
                                self.theirs(path, 'pahole', PAHOLE_FLAGS, theirs), self.vmlinux,
                                theirs)

    def by_digests(self, version):
        """Compares vmlinux and modules with the stored digests for this version of the kernel."""
        stored = self.tree.machine.digests
        self.against_digest(f'{stored}small-{version}', self.vmlinux)
        for path in self.tree.modules():
            module = self.tree.build / path
            self.against_digest(f'{stored}{module.stem}-{version}', module,
                                f'--base-a={self.vmlinux}')

    def by_reference(self, pahole, digests='', renew=False):
        """Compares vmlinux and modules with the results of `pahole`, run with the kernel's own options. With `renew`,
        stores digests of these results; `digests` is the kernel version in the names of the digests."""
        version = command([pahole, '--version']).strip()
        their_base = ''
        for path in ['vmlinux', *self.tree.modules()]:
            file = self.tree.build / path
            base = self.vmlinux if their_base else ''
            with Progress(f'pahole {version} on {path}'):
                encoded = self.encoded(path, pahole, self.finalisation.flags, their_base)
            if not base:
                old_libbpf = header_length(encoded) < HEADER_OF_LIBBPF_1_8
                if old_libbpf and renew:
                    raise Failed(f'{pahole} has a libbpf before 1.8, which repeats types: no digests are stored')
            theirs = self.finalisation.final(encoded, path, their_base)
            both = [f'--base-a={base}', f'--base-b={their_base}'] if base else []
            title = f'{file.name}: the same as pahole {version}, functions by all types that they reach'
            if base and old_libbpf:
                self.compare_module(f'{title}, {SECOND_COPIES} not counted', file, theirs, *both,
                                    ignored=SECOND_COPIES)
            elif base:
                self.compare_module(title, file, theirs, *both)
            else:
                self.compare_vmlinux(title, theirs)
            if renew:
                what = file.stem if base else 'small'
                digest = command([self.compare_tool, '--digest', theirs,
                                  *([f'--base-a={their_base}'] if base else [])])
                title, rows = digest.split('\n', 1)
                (HERE / f'{self.tree.machine.digests}{what}-{digests}.digest').write_text(
                    f'{title}\n# of {self.tree.provenance()}\n'
                    f'# and pahole {version}, with the options of that kernel\n{rows}')
            their_base = their_base or theirs

    def same_bytes(self):
        """btf-merge makes the same bytes as the build: with one or two threads, from other inputs, by both engines."""
        expected = self.contents_of(self.vmlinux)
        late = kernel_tree.LATE_OBJECTS
        image = f'--image={self.tree.image}'
        linked = ['vmlinux.o']
        apart = ['vmlinux.a', *self.tree.of_libraries()]
        features = self.finalisation.features()
        for title, inputs, option in (
                ('btf-merge with two threads', linked, '--threads=2'),
                ('one thread', linked, '--threads=1'),
                ('the objects instead of their ld -r', apart, '--threads=2'),
                ("libbpf's engine", linked, '--dedup=libbpf'),
                ('the hash engine', linked, '--dedup=hash')):
            other = self.merge('other.btf', *inputs, *late, image, option, *features)
            self.ok(f'vmlinux: the same bytes by {title}',
                    self.finalisation.final(other, 'vmlinux').read_bytes() == expected)

    def contents_of(self, path, section='.BTF'):
        """Returns the bytes of a section of the file `path`."""
        out = self.results / 'section.btf'
        out.unlink(missing_ok=True)
        command([self.objcopy, f'--dump-section={section}={out}', path, '/dev/null'])
        return out.read_bytes()

    def image_alone(self):
        """Image mode: BTF made from the DWARF of the image is the same as the BTF merged from the objects."""
        encoded = self.results / 'image.btf'
        features = self.finalisation.features()
        command([self.emit, '--image', '--threads=2', *features, f'--detached={encoded}',
                 self.tree.image])
        merged = self.merge('image-merged.btf', encoded, f'--image={self.tree.image}', *features)
        self.compare('vmlinux: the same from the image alone',
                     self.finalisation.final(merged, 'vmlinux'), self.vmlinux)

    def readers(self):
        """btf-emit's two DWARF readers read the same entries from each object and lead to the same object BTF."""
        objects = self.tree.objects()
        status, output = output_of([self.readers_tool, *objects], cwd=self.tree.build)
        self.ok(f'{len(objects)} objects: the same entries as libdw reads, and the same object BTF '
                'to the byte', status == 0, output)

    def running_kernel_loads_it(self):
        """Loads the BTF of vmlinux into the running kernel, without a layout section, which 7.0 and older refuse."""
        title = f'{self.name}: vmlinux: the running kernel accepts it, without a layout section'
        plain = self.results / 'plain.btf'
        plain.write_bytes(Parts(self.contents_of(self.vmlinux)).without_layout())
        status, output = output_of([self.load_tool, plain])
        if status == SKIPPED:
            self.checks.skip(title, output.strip())
        else:
            self.checks.ok(title, status == 0, output)

    def sections(self):
        """vmlinux and each module have a single .BTF, with type and flags of final BTF, and no relocations of it."""
        for path in ['vmlinux', *self.tree.modules()]:
            table = command(['readelf', '-SW', self.tree.build / path])
            found = re.findall(r'\]\s+(\S*BTF)\s+(\S+)\s+\S+\s+\S+\s+\S+\s+\S+\s*([A-Z]*)', table)
            wanted = 'A' if path == 'vmlinux' else ''
            self.ok(f'{path}: one .BTF, as kernels require, and no object BTF',
                    found == [('.BTF', 'PROGBITS', wanted)], table)

    def layout(self):
        """Kernels that know layout sections ask for one and get it. Older kernels, which would refuse it,
        get none."""
        known = 'struct btf_layout' in (self.tree.source / 'include/uapi/linux/btf.h').read_text()
        found = Parts(self.contents_of(self.vmlinux)).layout
        self.ok(f'vmlinux: {"a" if known else "no"} layout section, as this kernel requires',
                bool(found) == known, f'{len(found)} bytes')

    def split_dwarf(self):
        """Checks of a build with -gsplit-dwarf: objects have .dwo files, vmlinux has little DWARF of its own, and gdb
        finds types in the .dwo files."""
        without = [path for path in self.tree.objects() if path.startswith(('kernel/', 'net/'))
                   and '.debug_info' in command(['readelf', '-SW', self.tree.build / path])
                   and not (self.tree.build / path).with_suffix('.dwo').exists()]
        self.ok('C objects of kernel/ and net/ have .dwo files', not without, str(without[:5]))
        self.ok('vmlinux: at most a tenth of the .dwo files\' debug information',
                10 * self.debug_bytes([self.vmlinux])
                <= self.debug_bytes(self.tree.build.rglob('*.dwo')))
        if not shutil.which('gdb'):
            self.checks.skip(f'{self.name}: gdb finds types in the .dwo files', 'gdb not found')
            return
        said = command(['gdb', '-nx', '-batch', '-ex', 'ptype struct pid', self.vmlinux],
                       cwd=self.tree.build)
        self.ok('gdb finds types in the .dwo files', 'struct upid numbers[' in said, said)

    @staticmethod
    def debug_bytes(paths):
        """Returns the sum of the sizes of all sections .debug_info and .debug_info.dwo in the files."""
        total = 0
        for path in paths:
            table = command(['readelf', '-SW', path])
            total += sum(int(size, 16) for size in re.findall(
                r'\] \.debug_info(?:\.dwo)? +PROGBITS +\w+ +\w+ +(\w+)', table))
        return total

    def same_but_for_folder(self, *paths):
        """True if two objects have the same sections, and differ only in debug information and build IDs. Debug
        information names the build folder, which may be that of another tree, because all trees share the compiler
        cache."""
        sections, rest = [], []
        for path in paths:
            table = command(['readelf', '-SW', path])
            sections.append(re.findall(r'^ *\[ *\d+\] (\S+) +([A-Z]\S+)', table, re.M))
            copy = self.results / 'plain.part'
            command([self.objcopy, '-g', '-R', '.note.gnu.build-id', path, copy])
            rest.append(copy.read_bytes())
        return sections[0] == sections[1] and rest[0] == rest[1]

    def unharmed(self):
        """Objects of programs other than vmlinux and its modules, such as the vdso, are as the compiler alone writes
        them. Only what same_but_for_folder() ignores may differ. Also fails if a folder has fewer such objects than
        `apart` of the machine demands."""
        harmed, too_few = [], []
        total = 0
        for folder, at_least in self.tree.machine.apart.items():
            done = 0
            for path in sorted((self.tree.build / folder).rglob('*.o')):
                name = str(path.relative_to(self.tree.build))
                try:
                    made_by = self.tree.saved_command(name)
                except OSError:
                    continue # without a .cmd file, there is no command to repeat
                if not made_by.startswith('btf-cc ') or name in self.linked:
                    continue
                plain = self.results / 'plain.o'
                words = shlex.split(made_by.split(';')[0])[1:]
                words[words.index('-o') + 1] = str(plain)
                command(words, cwd=self.tree.build, env=self.tree.workshop.environment({}))
                done += 1
                if plain.read_bytes() != path.read_bytes() and not self.same_but_for_folder(plain, path):
                    harmed.append(name)
            total += done
            if done < at_least:
                too_few.append(f'{folder}: {done} objects compared, at least {at_least} expected')
        self.ok(f'{total} objects of vdso, boot and the like are what the compiler made',
                not too_few and not harmed, str(too_few + harmed))

    @functools.cached_property
    def linked(self):
        """Returns the objects of vmlinux. For NAME.pi.o, which objcopy made of NAME.o, this includes NAME.o."""
        objects = self.tree.objects()
        return {*objects, *(path.replace('.pi.o', '.o') for path in objects)}
