#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that the work grows with the size of an input, not with the product of the sizes of its parts.

usage: sharing-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]

Parts of a file may share other parts: names may be tails of one string, functions may have one prototype, archives
may name one file. For example, N functions that share a prototype with N parameters must not cost N * N steps. Each
case makes small files, mostly of less than 4 MB. A run may take LIMIT_CPU seconds of processor time and LIMIT_MEMORY
bytes, far more than a run needs on any machine. If the work grew with the product, a run would exceed these limits.
"""
import os
import resource
import struct

from helpers.kbuild_case import KbuildCase, run

LIMIT_CPU, LIMIT_MEMORY = 20, 3 << 30
N = 100000
MANY = 250000  # MANY * MANY steps of 1 ns take a minute
INT, PTR, STRUCT, UNION, TYPEDEF, FUNC, PROTO, VAR, DATASEC, TAG = 1, 2, 4, 5, 8, 12, 13, 14, 15, 17
INT_WORDS = (1, INT << 24, 4, 1 << 24 | 32)  # an INT whose name is at offset 1 of the strings
HEADER = 104  # bytes of a link trailer's header
SHARED_NAMES = r'names of more than 1023 characters add up to 64 MB'


def btf(words, strings):
    types = struct.pack(f'<{len(words)}I', *words)
    return struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings


def strings_of(names):
    """A string section that begins with "" and "int"; and the offset of each name."""
    out, offsets = bytearray(b'\0int\0'), []
    for name in names:
        offsets.append(len(out))
        out += name.encode() + b'\0'
    return bytes(out), offsets


def tails(count, shared=False):
    """BTF with `count` typedefs, whose names are tails of one string or, if `shared`, the whole string."""
    words = list(INT_WORDS)
    for i in range(count):
        words += [5 + (0 if shared else i), TYPEDEF << 24, 1]
    return btf(words, b'\0int\0' + b'a' * 2 * count + b'\0')


def functions(count, parameters):
    """BTF with `count` functions that have one prototype."""
    strings, names = strings_of(f'f{i}' for i in range(count))
    words = [*INT_WORDS, 0, PROTO << 24 | parameters, 1, *[1, 1] * parameters]
    for name in names:
        words += [name, FUNC << 24, 2]
    return btf(words, strings)


def trailer(blob, types, names, prototype, samples):
    """`blob`, of `types` types, with a link trailer (common/FORMAT.md, 3). The trailer has one function for each of
    `names`, which are offsets of strings. `prototype`: the words of the prototype that all these functions share.
    `samples`: position samples."""
    external, has_address = 256, 32
    records = b''.join(struct.pack('<IIQ4I', name, external | has_address, 1, 0, 0, 0, 0) for name in names)
    tables = {40: (os.urandom(16 * types), types), 48: (records, len(names)),
              56: (struct.pack(f'<{len(prototype)}I', *prototype), len(prototype)),
              96: (struct.pack(f'<{len(samples)}I', *samples), len(samples))}
    head, body = bytearray(HEADER), b''
    for field in range(40, 104, 8):
        contents, count = tables.get(field, (b'', 0))
        # At 88 there is the version of the emitter, not a table.
        struct.pack_into('<II', head, field, *((HEADER + len(body), count) if field != 88 else (10000, 0)))
        body += contents + b'\0' * (-len(contents) % 8)
    struct.pack_into('<IHHIIII', head, 0, 0x4c465442, 1, HEADER, HEADER + len(body), 0, 0x1ff, 1)
    struct.pack_into('<II', head, 32, types + 1, 0)
    return blob + b'\0' * (-len(blob) % 8) + bytes(head) + body


def trailer_functions(count, parameters):
    strings, names = strings_of(f'f{i}' for i in range(count))
    return trailer(btf(INT_WORDS, strings), 1, names, [1, parameters, *[1, 1] * parameters], [0])


def trailer_tails(count):
    blob = tails(count)
    return trailer(blob, count + 1, [], [], [0, *(4 + 3 * (i - 1) for i in range(4, count + 1, 4))])


def abbreviation(code, tag, children, *attributes):
    """An abbreviation whose code and tag are below 128. `attributes`: name, form, ..."""
    return bytes([code, tag, children, *attributes, 0, 0])


INT_DIE = 13  # the offset of the int in dwarf_unit(); the contents begin 7 bytes later
# The abbreviations 1 to 12, for dwarf_unit(): a unit with a language; int; an unnamed struct; a member without
# attributes; a member with a type; a struct with a name; a function; its parameters; an array; its dimensions; a
# variable; its tags.
ABBREVIATIONS = b''.join([
    abbreviation(1, 0x11, 1, 0x13, 0x0b), abbreviation(2, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b),
    abbreviation(3, 0x13, 1, 0x0b, 0x0b), abbreviation(4, 0x0d, 0), abbreviation(5, 0x0d, 0, 0x49, 0x13),
    abbreviation(6, 0x13, 1, 0x03, 0x08, 0x0b, 0x06), abbreviation(7, 0x2e, 1, 0x03, 0x08),
    abbreviation(8, 0x05, 0, 0x03, 0x08, 0x49, 0x13), abbreviation(9, 0x01, 1, 0x49, 0x13),
    abbreviation(10, 0x21, 0), abbreviation(11, 0x34, 1, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18),
    bytes([12, 0x80, 0xc0, 1, 0, 0x03, 0x0e, 0x1c, 0x08, 0, 0]), b'\0'])
SKELETON = abbreviation(1, 0x4a, 0, 0x76, 0x0e)  # for write_split()
C, C_PLUS_PLUS = 12, 4


def dwarf_unit(language, contents):
    """The start of a unit: its header, its DIE and an int. The length in the header includes `contents` more bytes,
    and the 0 at the end."""
    head = struct.pack('<HIBBB', 4, 0, 8, 1, language) + b'\x02int\0\x04\x05'
    return struct.pack('<I', len(head) + contents + 1) + head


def reference(at):
    return struct.pack('<I', at)


def elf(machine, *parts, relocatable=False):
    """An ELF file: an object if it is for BPF (247) or `relocatable`, otherwise an image. Each of `parts` is a section:
    name, type, contents, link, size of an entry. A table of relocations applies to the first of `parts`."""
    parts = [(b'', 0, b'', 0, 0), *parts]
    names = b'\0'.join(name for name, *_ in parts) + b'\0.shstrtab\0'
    heads, body = b'', b''
    for name, kind, data, link, entry in [*parts, (b'.shstrtab', 3, names, 0, 0)]:
        heads += struct.pack('<IIQQQQIIQQ', names.index(name + b'\0'), kind, 0, 0, 64 + len(body), len(data),
                             link, link and 1, 8, entry)
        body += data + b'\0' * (-len(data) % 8)
    heads = bytes(64) + heads[64:]
    file_type = 1 if machine == 247 or relocatable else 2
    return struct.pack('<4s12sHHIQQQIHHHHHH', b'\x7fELF', b'\2\1\1'.ljust(12, b'\0'), file_type,
                       machine, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(parts) + 1, len(parts)) + body + heads


def bpf_program(types, relocations, strings, externs):
    """A BPF object with types, CO-RE relocations in one section, and `externs` weak symbols called v."""
    ext = struct.pack('<III', 16, 1, len(relocations)) + b''.join(relocations)
    return elf(247, (b'.BTF', 1, btf(types, strings), 0, 0),
               (b'.BTF.ext', 1, struct.pack('<HBB7I', 0xeb9f, 1, 0, 32, 0, 0, 0, 0, 0, len(ext)) + ext, 0, 0),
               (b'.symtab', 2, bytes(24) + struct.pack('<IBBHQQ', 1, 2 << 4, 0, 0, 0, 0) * externs, 4, 24),
               (b'.strtab', 3, b'\0v\0', 0, 0))


def thin_archive(members):
    names = ''.join(member + '/\n' for member in members)
    names += '\n' * (len(names) % 2)
    out, at = f'!<thin>\n{"//":48}{len(names):<10}`\n{names}', 0
    for member in members:
        out += f'{f"/{at}":16}{0:<12}{0:<6}{0:<6}{644:<8}{0:<10}`\n'
        at += len(member) + 2
    return out


def archive_of_one_name(count):
    """An archive whose members all have one name, which is as long as the headers of all members together."""
    out = f'!<arch>\n{"//":48}{count * 60 + 2:<10}`\n{"n" * count * 60}/\n'
    return out + f'{"/0":16}{0:<12}{0:<6}{0:<6}{644:<8}{0:<10}`\n' * count


class Sharing(KbuildCase):
    def limited(self, *command):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU, LIMIT_CPU))
            if self.limits_memory:
                resource.setrlimit(resource.RLIMIT_AS, (LIMIT_MEMORY, LIMIT_MEMORY))
        return self.call(*command, preexec_fn=limit, timeout=600)

    def setUp(self):
        super().setUp()
        self.limits_memory = True
        self.limits_memory = self.limited(self.btf_merge, '--version').returncode == 0  # False with a sanitizer

    def ends(self, command, status=1, said='^'):
        """Checks the exit status and the output of a run with limits. `said`: a pattern of the output; by default, any
        output matches. An error about memory is a failure."""
        done = self.limited(*command)
        self.assertEqual(done.returncode, status, (command, done.stderr))
        self.assertRegex(done.stdout + done.stderr, said)
        self.assertNotIn('memory', done.stderr)

    def kernel_ends(self, *arguments, **how):
        program = os.path.join(os.path.dirname(self.btf_emit), '..', 'btf-kernel', 'btf-kernel')
        if os.path.exists(program):
            self.ends([program, *arguments], **how)
        else:
            print('SKIP btf-kernel: not built')

    def merge_ends(self, name, contents, *options, **how):
        self.write(name, contents)
        self.ends([self.btf_merge, '-o', 'out', *options, name], **how)

    def test_prototype_words(self):
        self.merge_ends('v', trailer_functions(N // 4, N // 4), said='prototypes of functions share words')

    def test_prototypes(self):
        for options in ([], ['--dedup=libbpf'], ['--verify']):
            self.merge_ends('f', functions(N // 4, 60000), *options, status=0)
        self.merge_ends('many', functions(N * 5, 65535), status=0)

    def test_names(self):
        for shared in (False, True):
            self.merge_ends('names', tails(N, shared), said=SHARED_NAMES)
            self.ends([self.btf_merge, '--check=names'], said=SHARED_NAMES)
            self.kernel_ends('diff', 'names', 'names', said=SHARED_NAMES)

    def test_names_of_an_object(self):
        self.merge_ends('names', trailer_tails(N), said=SHARED_NAMES)

    def test_names_of_split_btf(self):
        """All types of the split BTF have the same name, which is in the base."""
        self.write('base', btf(INT_WORDS, b'\0int\0' + b'a' * N + b'\0'))
        self.write('split', btf([5, TYPEDEF << 24, 1] * N, b''))
        self.ends([self.btf_merge, '--check=split', '--base=base'], said=SHARED_NAMES)

    def test_wrong_base(self):
        """FUNCs and a DATASEC refer to ids beyond the last type, so other first ids of the split BTF are tried: for
        each FUNC_PROTO, the one that gives it the highest wanted id. A try looks at the wanted ids from its
        first id on, and fails only at the second highest, which should be a VAR's, but is a FUNC_PROTO's."""
        last, words = 0xfffff, [0, PROTO << 24, 1] * MANY
        for i in range(MANY):
            words += [1, FUNC << 24, last - i if i != 1 else last - MANY]
        words += [1, DATASEC << 24 | 1, 4, last - 1, 0, 4]
        self.write('base', btf(INT_WORDS, b'\0int\0'))
        self.write('split', btf(words, b''))
        self.ends([self.btf_merge, '--check=split', '--base=base'], said='split')

    def headers_end(self, contents, name, kind, size, said):
        """Runs the programs with a file in which 60,000 sections have one header. All sections begin at `contents`,
        which also has the names of sections."""
        count = 60000
        head = struct.pack('<IIQQQQIIQQ', name, kind, 0, 0, 64, size, 0, 0, 1, 0)
        names = struct.pack('<IIQQQQIIQQ', 0, 3, 0, 0, 64, len(contents), 0, 0, 1, 0)
        self.write('x.o', struct.pack('<4s12sHHIQQQIHHHHHH', b'\x7fELF', b'\2\1\1'.ljust(12, b'\0'), 1, 62, 1, 0, 0,
                                      64 + len(contents), 0, 64, 0, 0, 64, count + 2, count + 1)
                   + contents + bytes(64) + head * count + names)
        for command in ([self.btf_emit, 'x.o'], [self.btf_merge, '-o', 'out', 'x.o']):
            self.ends(command, said=said)
        self.kernel_ends('check', 'x.o', said=said)

    def test_names_of_sections(self):
        """The sections, of type SHT_NOBITS, have one name of 16 million characters."""
        self.headers_end(b'\0' + b'a' * (160 * N) + b'\0', 1, 8, 0, 'names of sections add up to more than ')

    def test_contents_of_sections(self):
        """The sections, of type SHT_NOTE, have the same 4 MB. These are very many notes."""
        self.headers_end(bytes(4 << 20), 0, 7, 4 << 20, 'sections overlap: they add up to more than 16 times the file')

    def test_relocations_of_one_place(self):
        """The offset of a unit's abbreviations has many relocations R_RISCV_ADD32, each of which adds 0."""
        for count in 16, 17:
            self.write('x.o', elf(243, (b'.debug_info', 1, dwarf_unit(C, 0) + b'\0', 0, 0),
                                  (b'.debug_abbrev', 1, ABBREVIATIONS, 0, 0), (b'.symtab', 2, bytes(24), 4, 24),
                                  (b'.strtab', 3, b'\0', 0, 0),
                                  (b'.rela.debug_info', 4, struct.pack('<QQq', 6, 35, 0) * count, 3, 24),
                                  relocatable=True))
            self.ends([self.btf_emit, '--detached=out', 'x.o'], status=count - 16,
                      said='more than 16 relocations are for offset 0x6\n' if count > 16 else '^$')

    def test_names_in_dwarf(self):
        """Typedefs (abbreviation 5) of an int (2) in a unit (1). The names are tails of one string, which is long or
        not; all are one string, which is long or not, or is not at the end of the section."""
        abbreviations = bytes([1, 0x11, 1, 0, 0, 2, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0,
                               5, 0x16, 0, 0x03, 0x0e, 0x49, 0x13, 0, 0, 0])
        usual, long, shared = b'a' * 60000 + b'\0', b'a' * (20 << 20) + b'\0', 'entries share long strings'
        for at, strings, said in (((lambda i: i % 60000), usual, 'its names take more than 64 MB in all'),
                                  ((lambda i: i), long, shared), ((lambda i: 0), usual, SHARED_NAMES),
                                  ((lambda i: 0), long, shared), ((lambda i: 0), long + b'x', shared)):
            unit = struct.pack('<HIBB', 4, 0, 8, 1) + b'\x02int\0\x04\x05'
            unit += b''.join(struct.pack('<BII', 5, at(i), 12) for i in range(N)) + b'\0'
            self.write_dwarf(struct.pack('<I', len(unit)) + unit, abbreviations, strings)
            self.ends([self.btf_emit, 'x.o'], said=said)

    def write_dwarf(self, info, abbreviations, strings, rest=b'', **more):
        """Writes x.o. Its .debug_info is `info`; if `rest` is given, the address of a variable v and `rest` follow.
        `more`: other debug sections."""
        parts = {'info': info, 'rest': rest, 'abbrev': abbreviations, 'str': strings, **more}
        for name, contents in parts.items():
            self.write(name, contents)
        self.write('x.s', '.data\nv: .long 0\n' + ''.join(
            f'.section .debug_{s},"",@progbits\n.incbin "{s}"\n' for s in ('abbrev', 'str', *more, 'info'))
            + ('.quad v\n.incbin "rest"\n' if rest else ''))
        self.must('as', 'x.s', '-o', 'x.o')

    def write_split(self, ids, info, abbreviations, **more):
        """Writes x.o, with a skeleton (abbreviation 1) for each of `ids`, and x.dwo. `info`: the units in x.dwo.
        `more`: other debug sections there."""
        parts = {'info': info, 'abbrev': abbreviations, **more}
        for name, contents in parts.items():
            self.write('dwo.' + name, contents)
        self.write('x.s', ''.join(f'.section .debug_{s}.dwo,"e",@progbits\n.incbin "dwo.{s}"\n' for s in parts))
        self.must('as', 'x.s', '-o', 'x.dwo')
        self.write_dwarf(b''.join(struct.pack('<IHBBIQBI', 21, 5, 4, 8, 0, i, 1, 0) for i in ids), abbreviations,
                         b'x.dwo\0')

    def test_split_units(self):
        """The units of many skeletons are in one .dwo file, in reverse order."""
        self.write_split(range(N), b''.join(struct.pack('<IHBBIQB', 17, 5, 5, 8, 0, i, 2) for i in reversed(range(N))),
                         SKELETON + abbreviation(2, 0x11, 0) + b'\0')
        self.ends([self.btf_emit, '-v', 'x.o'], status=0, said='^((?!skipped).)*$')

    def test_skeletons_of_one_unit(self):
        """The unit has many entries, each of one byte."""
        self.write_split([1] * N, struct.pack('<IHBBIQB', 18 + N, 5, 5, 8, 0, 1, 2) + b'\3' * N + b'\0',
                         SKELETON + abbreviation(2, 0x11, 1) + abbreviation(3, 0x34, 0) + b'\0')
        self.ends([self.btf_emit, 'x.o'], said='skeletons share long units of split DWARF')

    def test_partial_unit(self):
        """Small units have a pointer to the int of one partial unit. An empty unit of 20 MB is between them."""
        abbreviations = b''.join([
            abbreviation(1, 0x11, 1), abbreviation(2, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b),
            abbreviation(3, 0x3c, 1), abbreviation(4, 0x0f, 0, 0x49, 0x10), b'\0'])
        partial = struct.pack('<IHIBB', 16, 4, 0, 8, 3) + b'\x02int\0\x04\x05\0'
        empty = struct.pack('<IHIB', 7 + (20 << 20), 4, 0, 8) + bytes(20 << 20)
        users = struct.pack('<IHIBBBIB', 14, 4, 0, 8, 1, 4, 12, 0) * (N // 2)
        self.write_dwarf(partial + empty + users, abbreviations, b'\0')
        self.ends([self.btf_emit, '-v', 'x.o'], status=0, said=r'read by libdw \(partial-unit\)')

    def emit_ends(self, language, contents, **how):
        self.write_dwarf(dwarf_unit(language, len(contents)) + contents + b'\0', ABBREVIATIONS, b'\0')
        self.ends([self.btf_emit, '--quiet', 'x.o'], status=0, **how)

    def test_types_of_members(self):
        """Members whose type has many children: first a struct with unnamed members, then an array with dimensions."""
        many = INT_DIE + 7
        users = b''.join(b'\x06t%d\0' % i + struct.pack('<I', 4) + (b'\x05' + reference(many)) * (N // 2) + b'\0'
                         for i in range(6))
        self.emit_ends(C_PLUS_PLUS, b'\x03\x01' + b'\x04' * 10 * N + b'\0' + users)
        self.emit_ends(C_PLUS_PLUS, b'\x09' + reference(INT_DIE) + b'\x0a' * 5 * N + b'\0' + users)

    def test_range_lists(self):
        """Functions of a .dwo file have one range list, which begins with a LEB128 of 20 MB."""
        split = struct.pack('<HBBIQB', 5, 5, 8, 0, 1, 2)
        split += b''.join(b'\3f%d\0\0' % i for i in range(N)) + b'\0'
        self.write_split(
            [1], struct.pack('<I', len(split)) + split,
            SKELETON + abbreviation(2, 0x11, 1) + abbreviation(3, 0x2e, 0, 0x03, 0x08, 0x55, 0x23) + b'\0',
            rnglists=struct.pack('<IHBBII', 12 + (20 << 20), 5, 8, 0, 1, 4) + b'\3' + b'\x80' * (20 << 20))
        self.ends([self.btf_emit, '-v', 'x.o'], status=0, said='^((?!skipped).)*$')

    def test_location_lists(self):
        """The lists of a function's parameters are tails of one list, in DWARF 4 and 5."""
        abbreviations = b''.join([abbreviation(1, 0x11, 1), abbreviation(2, 0x2e, 1, 0x03, 0x08),
                                  abbreviation(3, 0x05, 0, 0x02, 0x17), b'\0'])
        for head, section, entry in ((struct.pack('<HIB', 4, 0, 8), 'loc', struct.pack('<QQH', 1, 2, 1) + b'\x50'),
                                     (struct.pack('<HBBI', 5, 1, 8, 0), 'loclists', b'\5\1\x50')):
            contents = head + b'\1\2f\0' + b''.join(b'\3' + struct.pack('<I', i * len(entry))
                                                    for i in range(N)) + b'\0\0'
            self.write_dwarf(struct.pack('<I', len(contents)) + contents, abbreviations, b'\0',
                             **{section: entry * 2 * N + bytes(16)})
            for reader in 'fast', 'libdw':
                self.ends([self.btf_emit, '--reader=' + reader, 'x.o'], said='parameters share long location lists')

    def test_abbreviation_tables(self):
        """Units of one entry, which refer to one long table, or to two in turn."""
        table = abbreviation(2, 0x34, 0) * 2 * N + abbreviation(1, 0x11, 0) + b'\0'
        for tables in 1, 2:
            info = b''.join(struct.pack('<IHIBB', 8, 4, i % tables * len(table), 8, 1) for i in range(N))
            self.write_dwarf(info, table * tables, b'\0')
            self.ends([self.btf_emit, '--quiet', 'x.o'], status=tables - 1,
                      said=r'.debug_abbrev\+0x[0-9a-f]+: units share long tables' if tables == 2 else '^$')

    def test_structs_by_value(self):
        """Functions whose last parameter, on the stack, is a struct with many members."""
        large, word = (b'\x08p\0' + reference(at) for at in (INT_DIE + 7, INT_DIE))
        contents = b'\x06P\0' + struct.pack('<I', 16) + (b'\x05' + reference(INT_DIE)) * N + b'\0'
        for i in range(N // 4):
            contents += b'\x07f%d\0' % i + word * 6 + large + b'\0'
        self.emit_ends(C, contents)

    def test_pieces_of_structs(self):
        """clang changed the signatures of functions (DW_CC_nocall). Each takes one piece of a struct with many
        members."""
        abbreviations = b''.join([
            ABBREVIATIONS[:-1], abbreviation(13, 0x11, 1, 0x25, 0x08),
            abbreviation(14, 0x2e, 1, 0x03, 0x08, 0x36, 0x0b),
            abbreviation(15, 0x05, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18), b'\0'])
        unit = struct.pack('<HIBB', 4, 0, 8, 13) + b'clang\0\x02int\0\x04\x05'  # the int is at 18, the struct at 25
        unit += b'\x06P\0' + struct.pack('<I', 16) + (b'\x05' + reference(18)) * N + b'\0'
        for i in range(2 * N):
            unit += b'\x0ef%d\0\3\x0fp\0' % i + reference(25) + b'\3\x55\x93\x08\0'  # DW_OP_reg5, DW_OP_piece 8
        self.write_dwarf(struct.pack('<I', len(unit) + 1) + unit + b'\0', abbreviations, b'\0')
        self.ends([self.btf_emit, '--quiet', '--features=+true_signature', 'x.o'], status=0)

    def test_chain_of_tags(self):
        """Pointers share a chain of 1,000 type tags. Each tag refers to the next one; the last refers to a pointer."""
        abbreviations = ABBREVIATIONS[:-1] + bytes([
            13, 0x81, 0xc0, 1, 0, 0x03, 0x0e, 0x1c, 0x08, 0xb9, 0x42, 0x13, 0, 0,
            14, 0x0f, 0, 0x49, 0x13, 0xb9, 0x42, 0x13, 0, 0, 0])
        first = INT_DIE + 7
        contents = b''.join(b'\x0d' + reference(0) + b'%04d\0' % i + reference(first + 14 * (i + 1))
                            for i in range(1000)) + (b'\x0e' + reference(INT_DIE) + reference(first)) * N
        self.write_dwarf(dwarf_unit(C, len(contents)) + contents + b'\0', abbreviations, b'btf_type_tag\0')
        self.ends([self.btf_emit, 'x.o'], status=0)

    def test_tags_of_a_variable(self):
        variable = b'\x0bv\0' + reference(INT_DIE) + b'\x09\x03'
        tags = b''.join(b'\x0c' + reference(0) + b'%06d\0' % i for i in range(2 * N)) + b'\0'
        self.write_dwarf(dwarf_unit(C, len(variable) + 8 + len(tags)) + variable, ABBREVIATIONS,
                         b'btf_decl_tag\0', tags + b'\0')
        self.ends([self.btf_emit, '--features=+global_var', 'x.o'], status=0)
        self.ends([self.btf_merge, '--features=+global_var', '-o', 'out', 'x.o'], status=0)

    def test_tags_of_functions(self):
        """The functions have one name and one prototype, and each has a tag."""
        words = [*INT_WORDS, 0, PROTO << 24 | 60000, 1, *[1, 1] * 60000]
        words += [1, FUNC << 24, 2] * (N // 2)
        for i in range(N // 2):
            words += [1, TAG << 24, 3 + i, 0xffffffff]
        self.merge_ends('tagged', btf(words, b'\0int\0'), status=0)

    def test_mended_types(self):
        """First structs with a member beyond their end, then structs with a bitfield that is longer than its type, an
        enum."""
        words = list(INT_WORDS)
        for i in range(N * 5 // 4):
            words += [0, STRUCT << 24 | 1, i, 1, 1, 8 * i]
        self.merge_ends('members', btf(words, b'\0int\0'), status=0, said='it is left out')
        words = [1, 6 << 24 | 1, 4, 1, 0]
        for i in range(N * 5 // 4):
            words += [0, STRUCT << 24 | 1 << 31 | 1, 8 + i, 1, 1, 40 << 24]
        self.merge_ends('bits', btf(words, b'\0int\0'), status=0, said='its type becomes an INT')

    def test_mended_variables(self):
        """One DATASEC with 500,000 variables, all with the illegal name $. An enumerator BTF_MAX_VLEN shows that the
        kernel reads more than 65,535 entries. The file has 14 MB."""
        count = 5 * N
        words = [*INT_WORDS, 5, 6 << 24 | 1, 4, 13, 0xffffff]
        for i in range(count):
            words += [26, VAR << 24, 1, 1]
        words += [28, DATASEC << 24 | count, 4 * count]
        for i in range(count):
            words += [3 + i, 4 * i, 4]
        self.merge_ends('variables', btf(words, b'\0int\0btf_max\0BTF_MAX_VLEN\0$\0.data\0'),
                        '--features=+global_var', status=0, said='the VAR is left out')

    def test_bpf_programs(self):
        """First many externs and many weak symbols, then many types in the program and in the kernel."""
        self.write('kernel', btf(INT_WORDS + (0, STRUCT << 24, 4), b'\0int\0'))
        words = [*INT_WORDS, 5, VAR << 24, 1, 2, 7, DATASEC << 24 | 60000, 4, *[2, 0, 4] * 60000]
        self.write('externs.o', bpf_program(words, [], b'\0int\0x\0.ksyms\0', N))
        self.kernel_ends('diff', '--bpf=externs.o', 'kernel', 'kernel', said='variable x: broken')
        strings, names = strings_of(f's{i}' for i in range(N // 2))
        words = [word for name in names for word in (name, STRUCT << 24, 4)]
        self.write('kernel', btf(words, strings.replace(b's', b't')))
        self.write('types.o', bpf_program(words, [struct.pack('<4I', 0, 1 + i, 2, 8) for i in range(N // 2)],
                                          strings.replace(b'int', b'i0\0'), 0))
        self.kernel_ends('diff', '--bpf=types.o', 'kernel', 'kernel', status=0, said=f'{N // 2} absent')

    def diff_ends(self, make, said):
        """Compares two kernels. `make(new)` returns the types and strings of the new kernel, or of the old one."""
        for name in 'old', 'new':
            self.write(name, btf(*make(name == 'new')))
        self.kernel_ends('diff', '-q', 'old', 'new', said=said)

    def test_nested_unnamed_types(self):
        """A union and the 15 unnamed unions nested in it have 6 members each, all of the type of the next level. The
        innermost type is an unnamed struct, to which 6 ** 16 paths lead. All sizes change. In the second run, all
        members of a union have the same name."""
        for names in 'abcdef', 'aaaaaa':
            strings, offsets = strings_of(['s', *dict.fromkeys(names)])
            members = [offsets[1 + sorted(set(names)).index(name)] for name in names]

            def make(new):
                size = 4 + 4 * new
                words = [offsets[0], UNION << 24 | 6, size]
                for level in range(16):
                    words += [word for name in members for word in (name, 3 + level, 0)]
                    words += [0, UNION << 24 | 6, size] if level < 15 else []
                words += [0, STRUCT << 24 | 1, size, members[0], 1, 0]
                return [*INT_WORDS, *words], strings
            self.diff_ends(make, 'union s changed')

    def test_changed_members(self):
        """All members of a struct get other names, and have another order."""
        def make(new):
            count = 2 * MANY
            strings, names = strings_of(['s', *(f'{"nm"[new]}{i}' for i in range(count))])
            words = [*INT_WORDS, names[0], STRUCT << 24 | count, 4 * count]
            for i in range(count)[::-1 if new else 1]:
                words += [names[1 + i], 1, 32 * i]
            return words, strings
        self.diff_ends(make, said='n123 is called m123\n')

    def test_changed_tags(self):
        def make(new):
            strings, names = strings_of(['s', *(f'{"nm"[new]}{i}' for i in range(MANY))])
            words = [*INT_WORDS, names[0], STRUCT << 24, 4]
            for name in names[1:]:
                words += [name, TAG << 24, 2, 0xffffffff]
            return words, strings
        self.diff_ends(make, said='- tag n1\n')

    def test_changed_definitions(self):
        """All definitions of one struct change."""
        def make(new):
            words = [word for i in range(MANY) for word in (5, STRUCT << 24, 4 + i + new * MANY)]
            return [*INT_WORDS, *words], b'\0int\0x\0'
        self.diff_ends(make, said='struct x changed\n')

    def test_changed_constants(self):
        """Many enums have a constant of the same name, and all its values change."""
        def make(new):
            words = [word for i in range(MANY) for word in (0, 6 << 24 | 1, 4, 5, i + new * MANY)]
            return [*INT_WORDS, *words], b'\0int\0x\0'
        self.diff_ends(make, said='x changed\n')

    def test_symbols(self):
        """The names of an image's symbols are tails of one string."""
        self.write('x.s', f's: .quad 0\n.section .x,"",@progbits\n.skip {24 * N}\n'
                          f'.section .y,"",@progbits\n.skip {2 * N}, 97\n.byte 0\n')
        self.must('as', 'x.s', '-o', 'image')
        data = bytearray(self.read('image'))
        table, = struct.unpack_from('<Q', data, 40)
        count, = struct.unpack_from('<H', data, 60)
        heads = [list(struct.unpack_from('<IIQQQQIIQQ', data, table + 64 * i)) for i in range(count)]
        symbols, = (h for h in heads if h[1] == 2)
        records, = (h for h in heads if h[5] == 24 * N)
        names, = (h for h in heads if h[5] == 2 * N + 1)
        for i in range(1, N):  # global functions in the first section
            struct.pack_into('<IBBHQQ', data, records[4] + 24 * i, i, 0x12, 0, 1, 0, 0)
        symbols[4:8] = records[4], 24 * N, heads.index(names), 1
        names[1] = 3
        data[names[4]] = 0
        for i, head in enumerate(heads):
            struct.pack_into('<IIQQQQIIQQ', data, table + 64 * i, *head)
        self.write('image', bytes(data))
        self.merge_ends('one', functions(1, 0), '--image=image',
                        said=r'the names of symbols add up to more than \d+ characters')

    def test_long_symbol(self):
        """Long names are not an error if their sum is not large."""
        self.write('x.s', ''.join(f'.globl f0{i}\nf0{i}:\n'.replace('f0', 'a' * 2 * N) for i in range(3))
                   + '.globl f0\nf0: .quad 0\n')
        self.must('as', 'x.s', '-o', 'image')
        self.merge_ends('one', functions(1, 0), '--image=image', status=0)

    def test_symbols_of_a_function(self):
        """A function has many symbols, and many instances with another address."""
        self.write('abbrev', abbreviation(1, 0x11, 1) + abbreviation(2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01) + b'\0')
        self.write('x.s', ''.join(f'.type f.{i}, @function\nf.{i}: .byte 0\n' for i in range(3 * N))
                   + 'v: .byte 0\n.section .debug_abbrev,"",@progbits\n.incbin "abbrev"\n'
                   '.section .debug_info,"",@progbits\n.long 2f - 1f\n1: .short 4\n.long 0\n.byte 8, 1\n'
                   f'.rept {2 * N}\n.byte 2, 102, 0\n.quad v\n.endr\n.byte 0\n2:\n')
        self.must('as', 'x.s', '-o', 'x.o')
        self.ends([self.btf_emit, '--address-pool', 'x.o'], status=0)
        self.ends([self.btf_merge, '-o', 'out', 'x.o'], status=0)

    def test_symbols_of_ids(self):
        """The symbols of a kernel's .BTF_ids have one name."""
        self.write('vmlinux', elf(62, (b'.BTF', 1, btf(INT_WORDS, b'\0int\0'), 0, 0), (b'.BTF_ids', 1, bytes(8), 0, 0),
                                  (b'.symtab', 2, bytes(24) + struct.pack('<IBBHQQ', 1, 0, 0, 2, 0, 0) * N, 4, 24),
                                  (b'.strtab', 3, b'\0' + b'a' * 4 * N + b'\0', 0, 0)))
        self.kernel_ends('check', 'vmlinux', said='the names of symbols add up to more than [0-9]* characters')

    def test_pools(self):
        """An object has many sections .debug, each of which may be an address pool."""
        many = [(b'.debug', 1, bytes(8), 0, 0)] * 60000
        self.merge_ends('pools.o', elf(62, (b'.BTF', 1, functions(1, 0), 0, 0), *many, relocatable=True),
                        status=0)

    def test_archives(self):
        for i in range(14):
            self.write(f'thin{i}.a', thin_archive([f'thin{i + 1}.a'] * 4))
        self.write('thin14.a', thin_archive([]))
        self.ends([self.btf_merge, '-o', 'out', 'thin0.a'],
                  said='thin14.a: thin archives name this file more than 16 times')
        self.write('f', functions(1000, 1))
        self.merge_ends('many.a', thin_archive(['f'] * 17), said='f: thin archives name this file more')
        self.merge_ends('few.a', thin_archive(['f'] * 16), status=0)
        self.merge_ends('names.a', archive_of_one_name(N // 4), said='name of an archive member has 1500000 char')

    def test_flat_image(self):
        """An arm64 Image with many headers of BTF, which share types and strings. The last type has an unknown kind."""
        words = [0, PTR << 24, 0] * N + [0, 31 << 24, 0]
        end = 24 * N
        headers = b''.join(struct.pack('<HBBIIIII', 0xeb9f, 1, 0, end - at, 0, len(words) * 4, len(words) * 4, 1)
                           for at in range(0, end, 24))
        start = (bytes(56) + b'ARMd').ljust(64, b'\0')
        self.write('image', start + headers + struct.pack(f'<{len(words)}I', *words) + b'\0')
        self.kernel_ends('check', 'image')


if __name__ == '__main__':
    run('__main__')
