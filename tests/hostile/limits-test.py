#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the limits of BTF, of memory and of mappings. What is beyond a limit of BTF causes an error, or is left out
with a warning; no number overflows.

usage: limits-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]

The slow tests, class Slow, are in suite hostile-slow: 4 GB sections, 100,000 objects, 66,000 inputs.
"""
import io
import os
import resource
import struct

from helpers.btf_reader import type_heads, types
from helpers.kbuild_case import KbuildCase, run

FEATURES = '--features=+global_var'
INT, PTR, STRUCT, ENUM, TYPEDEF = 1, 2, 4, 6, 8
MAX_TYPES, MAX_ELEMENTS = 0xfffff, 0xffff

# Abbreviations of DWARF: 1 a unit, 2 a base type, 3 an array, 4 the array's size, 5 a typedef.
ABBREVIATIONS = bytes([1, 0x11, 1, 0, 0,
                       2, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0,
                       3, 0x01, 1, 0x49, 0x13, 0, 0,
                       4, 0x21, 0, 0x37, 0x06, 0, 0,
                       5, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0,
                       0])
INT_DIE = 12  # offset of the base type, after the header and the unit's entry


def info(kind, vlen=0):
    return kind << 24 | vlen


class Blob:
    """Writes BTF word by word."""

    def __init__(self):
        self.words, self.strings = io.BytesIO(), io.BytesIO(b'\0')
        self.strings.seek(1)

    def name(self, text):
        at = self.strings.tell()
        self.strings.write(text.encode() + b'\0')
        return at

    def add(self, *words):
        self.words.write(struct.pack(f'<{len(words)}I', *words))

    def bytes(self):
        words, strings = self.words.getvalue(), self.strings.getvalue()
        return struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(words), len(words),
                           len(strings)) + words + strings


def typedefs(count, prefix, length=0):
    """BTF with int and `count` typedefs of int, whose names have at least `length` characters."""
    blob = Blob()
    blob.add(blob.name('int'), info(INT), 4, 1 << 24 | 32)
    for i in range(count):
        blob.add(blob.name(f'{prefix}{i:x}'.ljust(length, 'x')), info(TYPEDEF), 1)
    return blob.bytes()


class LimitCase(KbuildCase):
    def merge(self, *arguments, status=0):
        done = self.run_tool(self.btf_merge, '-o', 'out', FEATURES, *arguments)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, status, error)
        self.assertEqual('out' in self.names(), status == 0)
        return error

    def refused(self, pattern, *inputs):
        """Checks that btf-merge fails with an error of one line."""
        self.assertRegex(self.merge(*inputs, status=1), f'^btf-merge: ERROR: {pattern}\n$')

    def mended(self, pattern, *inputs):
        """Checks that btf-merge succeeds with one warning. Removes the result."""
        self.assertRegex(self.merge(*inputs), f'^btf-merge: WARNING: {pattern}\n$')
        os.unlink(self.path('out'))

    def heads(self):
        try:
            return type_heads(self.read('out'))
        finally:
            os.unlink(self.path('out'))

    def lengths(self):
        """The kind, the name and the number of words after the head of each type."""
        try:
            return [(kind, name, len(words)) for kind, name, _, words in types(self.read('out'))]
        finally:
            os.unlink(self.path('out'))

    def object_of(self, source, name='x.o'):
        self.write('x.c', source)
        self.must('gcc', '-g', '-fno-eliminate-unused-debug-types', '-c', 'x.c', '-o', name)
        return name


class Limits(LimitCase):
    def test_types(self):
        half = MAX_TYPES // 2
        self.write('a', typedefs(half, 'a'))
        self.write('b', typedefs(half, 'b'))  # adds one type less, because a has the same int
        self.merge('a', 'b')
        self.assertEqual(len(self.heads()), MAX_TYPES)
        self.write('c', typedefs(1, 'c'))
        self.refused('merged BTF.*more than 1048575 types', 'a', 'b', 'c')

    def test_types_of_one(self):
        self.write('a', typedefs(MAX_TYPES, 'a'))
        self.refused('.*more than 1048575 types', 'a')

    def test_names(self):
        """All names together take at most 16 MB. Each name here takes 512 bytes, with its NUL byte."""
        for name, megabytes in (('a', 7), ('b', 7), ('c', 3)):
            self.write(name, typedefs(megabytes << 11, name, 511))
        self.merge('a', 'b')
        self.heads()
        self.refused('merged BTF.*(16777216|strings|names).*', 'a', 'b', 'c')

    def test_chain_in_a_base(self):
        """The base has a long chain of pointers to an INT that the module does not have, and the declaration and the
        definition of an enum, both of which the module has, too."""
        def enum(blob):
            name = blob.name('e')
            blob.add(name, info(ENUM), 4)
            blob.add(name, info(ENUM, 1), 4, blob.name('A'), 1)

        base, module = Blob(), Blob()
        base.add(base.name('other'), info(INT), 4, 1 << 24 | 32)
        enum(base)
        for number in range(300000):
            base.add(0, info(PTR), number + 3 if number else 1)
        enum(module)
        self.write('base', base.bytes())
        self.write('module', module.bytes())
        self.merge('--base=base', 'module')  # must end before the timeout of call()
        os.unlink(self.path('out'))

    def test_memory(self):
        """Too little memory causes an error, not a signal."""
        self.write('a', typedefs(MAX_TYPES // 2, 'a'))
        self.write('dwarf.o', self.read(self.object_of(''.join(
            f'struct s{i} {{ int a{i}; }} v{i};\n' for i in range(20000)))))
        for command in ([self.btf_merge, '-o', 'out', 'a'], [self.btf_emit, FEATURES, 'dwarf.o']):
            before = self.read('dwarf.o')
            least = next((m for m in range(4 << 20, 256 << 20, 4 << 20)
                          if self.limited(m, command[0], '--version').returncode == 0), None)
            if least is None:
                self.skipTest('the program does not even start in 256 MB (a sanitizer?)')
            done = self.limited(least + (1 << 20), *command)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, '^btf-(merge|emit): ERROR: .*memory.*\n$')
            self.assertNotIn('out', self.names())
            self.assertEqual(self.read('dwarf.o'), before)

    def limited(self, size, *command):
        """Runs a command with a limited address space."""
        return self.call(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                         (size, size)))

    def elements(self, make, what, kind):
        """A type with the largest allowed number of elements is complete. Further elements are left out with a
        warning; the others are kept."""
        self.assertEqual(self.emit(FEATURES, self.object_of(make(MAX_ELEMENTS))), '')
        self.merge('x.o')
        want = self.lengths()
        self.assertIn('big', [name for _, name, _ in want])
        self.assertIn(max(words for _, _, words in want), (2 * MAX_ELEMENTS, 3 * MAX_ELEMENTS))
        for more, others in (1, ''), (3, r' \(and 2 more\)'):
            self.assertRegex(self.emit(FEATURES, self.object_of(make(MAX_ELEMENTS + more))),
                             r'^btf-emit: WARNING: x\.o: \.debug_info(\+0x[0-9a-f]+)?: ' + what +
                             ' is left out, as BTF cannot express more than 65535 ' + kind +
                             others + r'\n$')
            self.merge('x.o')
            self.assertEqual(self.lengths(), want)

    def test_members(self):
        self.elements(lambda n: 'struct big {' + ''.join(f'char m{i};' for i in range(n)) + '} v;',
                      "'big': member 'm65535'", 'members')

    def test_enumerators(self):
        self.elements(lambda n: 'enum big {' + ''.join(f'e{i},' for i in range(n)) + '} v;',
                      "'big': enumerator 'e65535'", 'enumerators')

    def test_parameters(self):
        self.elements(lambda n: 'void (*big)(' + ','.join(['char'] * n) + ');',
                      "'function prototype': a parameter", 'parameters')

    def test_variables_of_an_object(self):
        source = ''.join(f'int v{i} = 1;' for i in range(MAX_ELEMENTS + 1))
        self.assertRegex(self.emit(FEATURES, self.object_of(source)),
                         r"^btf-emit: WARNING: x\.o: \.debug_info: variable 'v\d+' is left out, as BTF "
                         r'cannot express more than 65535 variables of section \.data\n$')

    def test_bitfield_offsets(self):
        """The offset of a bitfield is counted in bits and stored in 24 bits. (Other cases:
        tests/emit/dwarf/composites.py)"""
        most = (1 << 24) // 8
        source = 'struct big {{ char c[{}]; int b : 3; }} v;'
        self.good(FEATURES, self.object_of(source.format(most - 4)))
        self.merge('x.o')
        self.assertIn('STRUCT big', self.heads())
        self.assertRegex(self.emit(FEATURES, self.object_of(source.format(most))),
                         r"^btf-emit: WARNING: x\.o: \.debug_info\+0x[0-9a-f]+: 'big': member 'b' is "
                         r'left out, as BTF cannot express a bitfield beyond 2 MB\n$')
        self.merge('x.o')
        self.assertIn('STRUCT big', self.heads())

    def test_variables_of_one_section(self):
        """All kernels read up to 65,535 variables of a DATASEC. Further ones are left out with a warning, unless an
        enumerator BTF_MAX_VLEN in the result shows that the kernel reads more."""
        for name, count in (('a', 40000), ('b', MAX_ELEMENTS - 40000), ('c', 1)):
            self.good(FEATURES, self.object_of(
                ''.join(f'int {name}{i} = 1;' for i in range(count)), name + '.o'))
        self.merge('a.o', 'b.o')
        self.assertEqual(sum(h.startswith('VAR ') for h in self.heads()), MAX_ELEMENTS)
        rule = r'type \d+ \(DATASEC .\.data.\): vlen is 65536, .*: all elements after the first 65535 are left ' \
            'out'
        self.mended(rule, 'a.o', 'b.o', 'c.o')
        self.good(FEATURES, self.object_of('enum btf_max { BTF_MAX_VLEN = 0xffffff } e;', 'e.o'))
        self.merge('a.o', 'b.o', 'c.o', 'e.o')
        heads = self.heads()
        self.assertEqual(sum(h.startswith('VAR ') for h in heads), MAX_ELEMENTS + 2)
        self.assertIn('DATASEC .data', heads)

    def long_enum(self, count=0x12345):
        """BTF with an enum that has more than 65,535 enumerators, as newer kernels allow, and a typedef of it."""
        blob = Blob()
        blob.add(blob.name('big'), info(ENUM, count), 4)
        for i in range(count):
            blob.add(blob.name(f'e{i}'), i)
        blob.add(blob.name('big_t'), info(TYPEDEF), 1)
        return blob

    def test_long_counts_are_read(self):
        """An enum with more than 65,535 enumerators is written if an enumerator BTF_MAX_VLEN in the base or the result
        shows that the kernel reads it. Otherwise the enum is truncated. --dedup=libbpf refuses such an enum even
        if the kernel reads it."""
        blob = self.long_enum()
        self.write('old', blob.bytes())
        rule = r'type 1 \(ENUM .big.\): vlen is 74565, more than BTF_MAX_VLEN; kernels without this enumerator read 65535 at most'
        self.mended(rule + ': all elements after the first 65535 are left out', 'old')
        blob.add(blob.name('btf_max'), info(ENUM, 1), 4)
        blob.add(blob.name('BTF_MAX_VLEN'), 0xffffff)
        self.write('new', blob.bytes())
        self.refused('.*more than 65535 elements, which libbpf may misread.*', '--dedup=libbpf',
                     'new')
        self.merge('new', 'old')
        self.write('whole', self.read('out'))
        self.assertEqual(self.heads(), ['ENUM big', 'TYPEDEF big_t', 'ENUM btf_max'])
        # Over the base `whole`, the result has only int and the typedef of c as new types.
        self.write('c', typedefs(1, 'c'))
        self.merge('--base=whole', 'c', 'new')
        self.assertEqual(struct.unpack_from('<I', self.read('out'), 12), (16 + 12,))
        os.unlink(self.path('out'))
        self.refused('.*more than 65535 elements, which libbpf may misread.*', '--dedup=libbpf',
                     '--base=whole', 'c')
        self.assertEqual(self.call(self.btf_merge, '--check=whole').returncode, 0)
        done = self.call(self.btf_merge, '--check=old')
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout + done.stderr, r'old\+0x18: ' + rule)

    def test_wrong_long_counts(self):
        blob = Blob()
        blob.add(blob.name('int'), info(INT), 4, 1 << 24 | 32)
        blob.add(blob.name('s'), info(STRUCT, 0x10000), 4)
        blob.add(blob.name('m'), 1, 0)
        self.write('a', blob.bytes())
        self.refused(r'a\+0x28: type 2 \(STRUCT, vlen 65536\) is cut off', 'a')


class Slow(LimitCase):
    def archive(self, name, members):
        with open(self.path(name), 'wb') as file:
            file.write(b'!<arch>\n')
            for number, contents in enumerate(members):
                file.write(f'{f"m{number}.o/":16}{0:<12}{0:<6}{0:<6}{644:<8}'
                           f'{len(contents):<10}`\n'.encode())
                file.write(contents + b'\n' * (len(contents) % 2))

    def test_many_objects(self):
        """100,000 objects of ten kinds with static variables, in an archive and after ld -r."""
        kinds = []
        for i in range(10):
            # Half of the variables are in .bss, half in .data, because a DATASEC can have only 65,535.
            self.object_of(f'static int v{i} = {i % 2}; int *f{i}(void) {{ return &v{i}; }}')
            self.good('--address-pool', FEATURES, 'x.o')
            self.must('objcopy', '--strip-debug', 'x.o')
            kinds.append(self.read('x.o'))
        self.archive('many.a', (kinds[i % 10] for i in range(100000)))
        self.merge('many.a')
        from_archive = self.heads()
        self.assertIn('INT int', from_archive)
        self.must('ld', '-r', '--allow-multiple-definition', '-o', 'many.o', '--whole-archive',
                  'many.a')
        os.unlink(self.path('many.a'))
        self.merge('many.o')
        self.assertEqual(sorted(set(self.heads())), sorted(set(from_archive)))

    def test_more_files_than_mappings(self):
        """A process can have 65,530 mappings (vm.max_map_count). btf-merge gets 66,000 inputs, all of them the same
        file. The file has more than 64 KB, because btf-merge reads smaller files instead of mapping them."""
        self.good(FEATURES, self.object_of('int v;'))
        with open(self.path('x.o'), 'ab') as file:
            file.truncate(64 * 1024 + 1)
        self.write('list', 'x.o\n' * 66000)
        self.merge('@list')
        self.assertIn('INT int', self.heads())

    def too_much(self, pattern, dies):
        """An object with more types or names than a kernel can read causes an error in btf-emit, or at the latest in
        btf-merge. `dies` yields DIEs as bytes, because compilers and assemblers need minutes for so many."""
        unit = struct.pack('<HIBB', 4, 0, 8, 1) + b'\x02int\0\x04\x05' + b''.join(dies) + b'\0'
        self.write('info', struct.pack('<I', len(unit)) + unit)
        self.write('abbrev', ABBREVIATIONS)
        self.write('x.s', ''.join(f'.section .debug_{s},"",@progbits\n.incbin "{s}"\n'
                                  for s in ('info', 'abbrev')))
        self.must('as', 'x.s', '-o', 'x.o')
        done = self.call(self.btf_emit, FEATURES, 'x.o')
        if done.returncode:
            self.assertRegex(done.stderr, rf'^btf-emit: ERROR: x\.o: .*{pattern}.*\n$')
        else:
            self.refused(f'.*{pattern}.*', 'x.o')

    def test_types_of_an_object(self):
        """Arrays of int with different lengths."""
        self.too_much('more than 1048575 types',
                      (struct.pack('<BIBIB', 3, INT_DIE, 4, i, 0) for i in range(MAX_TYPES)))

    def test_names_of_an_object(self):
        self.too_much('16 MB', (b'\5' + f't{i:x}'.ljust(500, 'x').encode() +
                                struct.pack('<BI', 0, INT_DIE) for i in range(35000)))

    def test_large_sections(self):
        """A section of more than 4 GB, which is a hole in a sparse file. btf-emit may succeed, or report an error in
        the debug sections; btf-merge finds no BTF."""
        size = (1 << 32) + 4096
        for section, tool in (('.debug_info', 'emit'), ('.debug_str', 'emit'), ('.BTF', 'merge')):
            self.object_of('int v;')
            if section == '.BTF':
                self.good(FEATURES, 'x.o')
            data = bytearray(self.read('x.o'))
            table, = struct.unpack_from('<Q', data, 40)
            count, names = struct.unpack_from('<HH', data, 60)
            _, _, _, _, strings, _ = struct.unpack_from('<IIQQQQ', data, table + names * 64)
            for i in range(count):
                name, = struct.unpack_from('<I', data, table + i * 64)
                if data[strings + name:].startswith(section.encode() + b'\0'):
                    struct.pack_into('<QQ', data, table + i * 64 + 24, len(data), size)
            with open(self.path('x.o'), 'wb') as file:
                file.write(data)
                file.truncate(len(data) + size)
            if tool == 'emit':
                done = self.call(self.btf_emit, FEATURES, 'x.o')
                self.assertIn(done.returncode, (0, 1), done.stderr)
                if done.returncode:
                    self.assertRegex(done.stderr, r'^btf-emit: ERROR: x\.o: \.debug_')
            else:
                done = self.call(self.btf_merge, '-o', 'out.btf', 'x.o')
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn('x.o: has no BTF', done.stderr)
            os.unlink(self.path('x.o'))


if __name__ == '__main__':
    run('__main__')
