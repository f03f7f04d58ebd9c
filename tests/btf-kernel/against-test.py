#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel check --against with pairs of builds of a small kernel that are equal or differ in a known way.

usage: against-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import struct

from helpers.kernel_packages import MODULE, PROGRAMS, SOURCE, PackageCase, must, run_tests


def raw_btf(strings, names, pointed_to):
    """Self-contained BTF: an empty struct for each name, and a pointer to one of them."""
    types = b''.join(struct.pack('<III', strings.index(name), 4 << 24, 0) for name in names)
    types += struct.pack('<III', 0, 2 << 24, pointed_to)
    return struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings


class Against(PackageCase):
    def build(self, name, source=SOURCE, flags=(), features=(), path='vmlinux.c'):
        """Builds another vmlinux in a new folder, and returns the folder. `path` is the source's name in the
        compile command; {} in it stands for the folder."""
        folder = self.top / name
        folder.mkdir()
        (folder / 'vmlinux.c').write_text(source)
        must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', *flags, '-c', path.format(folder),
             '-o', 'vmlinux.o', cwd=folder)
        self.link(folder, ['vmlinux.o'], features)
        return folder

    def link(self, folder, objects, features=()):
        must(PROGRAMS['emit'], '--address-pool', '--features=+global_var', *objects, cwd=folder)
        must('gcc', '-nostdlib', '-static', '-o', 'vmlinux', *objects, cwd=folder)
        must(PROGRAMS['merge'], *features, '--image=vmlinux', '--update=vmlinux', *objects, cwd=folder)

    def differences(self, here, there, status=1):
        """Compares `here` with `there`. Returns the texts of the findings, which must all be of rule `against`,
        and of the notes of this rule."""
        report = self.check(here, options=[f'--against={there}'], status=status)
        self.assertTrue(all(f['rule'] == 'against' for f in report['findings']), report)
        return ([f['what'] for f in report['findings']],
                [f['what'] for f in report['notes'] if f['rule'] == 'against'])

    def test_same(self):
        self.assertEqual(self.differences(self.make / 'vmlinux', self.build('same') / 'vmlinux', 0), ([], []))

    def test_header_form(self):
        other = self.build('form', features=['--features=+layout'])
        self.assertEqual(self.differences(self.make / 'vmlinux', other / 'vmlinux')[0],
                         ['header form: 24 bytes here, 32 there'])

    def test_types(self):
        other = self.build('types', SOURCE.replace('int count;', 'int count, more;'))
        (what,), _ = self.differences(self.make / 'vmlinux', other / 'vmlinux')
        self.assertIn("only here (STRUCT 'files_struct' of 4 bytes, 1 elements)", what)
        self.assertIn("only there (STRUCT 'files_struct' of 8 bytes, 2 elements)", what)

    def test_signs_of_an_enum(self):
        """The sign of an enum's values is a difference, also in a module whose vmlinux differs."""
        sources = SOURCE, SOURCE.replace('*next;', '*next, *last;')
        module = MODULE % {'n': 1} + 'enum sign { last = %s } sign;\nint of(enum sign s) { return s; }\n'
        said, notes = self.differences(*(self.with_module(f'sign-{n}', sources[n], module % ('-1', '0xffffffff')[n])
                                         for n in range(2)))
        self.assertEqual((len(said), notes), (2, []))
        self.assertIn("(ENUM 'sign' of 4 bytes, 1 elements, signed)", said[1])

    def test_unreadable_module(self):
        """A module of the other build that cannot be read is not treated as a module without BTF."""
        here, there = (self.with_module(f'unreadable-{n}', SOURCE, MODULE % {'n': 1}) for n in range(2))
        (there / 'mine.ko').write_bytes((there / 'mine.ko').read_bytes()[:100])
        (what,), _ = self.differences(here, there)
        self.assertIn('cannot be compared: ', what)
        self.assertIn(f'{there}', what)

    def test_order(self):
        """The same objects, linked in reverse order."""
        (self.top / 'order').mkdir()
        folders = [self.top / 'order' / name for name in 'ab']
        for folder, objects in zip(folders, (['one.o', 'two.o'], ['two.o', 'one.o'])):
            folder.mkdir()
            (folder / 'one.c').write_text(SOURCE)
            (folder / 'two.c').write_text('struct two { long a; };\nint two(struct two *t) { return !t; }\n')
            for name in ('one', 'two'):
                must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', name + '.c', cwd=folder)
            self.link(folder, objects)
        (what,), _ = self.differences(*(folder / 'vmlinux' for folder in folders))
        self.assertTrue(what.startswith('order: the same types, but type '), what)

    def with_module(self, name, source, module, *options):
        """Builds a vmlinux and a module over it in a new folder, and returns the folder."""
        folder = self.build(name, source)
        (folder / 'mine.c').write_text(module)
        must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', '-o', 'mine.ko', 'mine.c', cwd=folder)
        must(PROGRAMS['emit'], 'mine.ko', cwd=folder)
        must(PROGRAMS['merge'], '--base=vmlinux', *options, '--update=mine.ko', 'mine.ko', cwd=folder)
        return folder

    def test_modules_of_different_kernels(self):
        """A difference in the distilled base of a module is found although vmlinux differs, too."""
        source = SOURCE + 'unsigned more(unsigned a) { return a; }\n'
        sources = source, source.replace('*next;', '*next, *last;')
        module = MODULE % {'n': 1}
        modules = module, module.replace('int number', 'unsigned number')
        said, notes = self.differences(*(self.with_module(f'distilled-{n}', sources[n], modules[n], '--distilled-base')
                                         for n in range(2)))
        self.assertEqual((len(said), notes), (2, []))
        self.assertIn('STRUCT', said[0])
        self.assertEqual(said[1], "distilled base: 1 type only there (INT 'unsigned int' of 4 bytes)")
        # Only type ids and places of strings differ, because of vmlinux.
        said, notes = self.differences(*(self.with_module(f'split-{n}', sources[n], module) for n in range(2)))
        self.assertEqual((len(said), len(notes)), (1, 1))
        self.assertIn('1 module differs only in type ids and places of strings', notes[0])

    def test_empty_btf(self):
        """A module with an empty .BTF differs from one without BTF."""
        folders = [self.with_module(name, SOURCE, MODULE % {'n': 1}) for name in ('none', 'empty')]
        for folder in folders:
            must('objcopy', '--remove-section=.BTF', 'mine.ko', cwd=folder)
        must('objcopy', '--add-section=.BTF=/dev/null', 'mine.ko', cwd=folders[1])
        said, notes = self.differences(*folders)
        self.assertEqual((said, notes), (['has BTF only there'], []))

    def test_self_contained_modules(self):
        """Self-contained BTF does not depend on vmlinux, so its differences do not follow from those of vmlinux."""
        names = b'one', b'two'
        first = raw_btf(b'\0one\0two\0', names, 1)
        sources = SOURCE, SOURCE.replace('*next;', '*next, *last;')
        folders = [self.build(f'whole-{n}', source) for n, source in enumerate(sources)]
        for second, what in (
                (raw_btf(b'\0two\0one\0', names, 1), 'strings: the same types, but their names are in another order'),
                (raw_btf(b'\0one\0two\0', names, 2), 'references: the same types, but some refer to other types')):
            for folder, module in zip(folders, (first, second)):
                (folder / 'mine.ko.btf').write_bytes(module)
            said, notes = self.differences(*folders)
            self.assertEqual((len(said), said[-1], notes), (2, what, []))

    def test_names_that_vmlinux_gains(self):
        """Split BTF does not repeat strings of its base, so a module loses the names that its vmlinux gains. This does
        not count as a difference of the module."""
        sources = SOURCE, SOURCE + 'struct mine1 { char number; };\nint more(struct mine1 *mine) { return !mine; }\n'
        said, notes = self.differences(*(self.with_module(f'names-{n}', sources[n], MODULE % {'n': 1})
                                         for n in range(2)))
        self.assertEqual((len(said), len(notes)), (1, 1), said)
        self.assertIn('1 module differs only', notes[0])

    def test_references_to_vmlinux(self):
        """A member that gets another type of vmlinux is found although vmlinux differs, too."""
        source = SOURCE + 'unsigned more(unsigned a) { return a; }\n'
        sources = source, source.replace('*next;', '*next, *last;')
        module = MODULE.replace('int number', 'int number; unsigned other') % {'n': 1}
        modules = module, module.replace('int number; unsigned other', 'unsigned number; int other')
        for options, what in ([], "STRUCT 'mine1' of 16 bytes, 3 elements refers"), (['--distilled-base'], 'some refer'):
            said, notes = self.differences(*(self.with_module(f'references-{n}{len(options)}', sources[n], modules[n],
                                                              *options) for n in range(2)))
            self.assertEqual((len(said), notes), (2, []))
            self.assertIn('STRUCT', said[0])
            self.assertEqual(said[1], f'references: the same types, but {what} to other types')

    def test_order_of_a_distilled_base(self):
        """A distilled base has its types in the order of vmlinux, so its order does not count as a difference."""
        listed = 'struct list { struct list *next; };\n'
        sources = SOURCE, listed + SOURCE.replace(listed, '')
        module = MODULE % {'n': 1} + listed + 'int of_list(struct list *list) { return !list; }\n'
        said, notes = self.differences(*(self.with_module(f'order-{n}', sources[n], module, '--distilled-base')
                                         for n in range(2)))
        self.assertEqual((len(said), len(notes)), (1, 1), said)
        self.assertTrue(said[0].startswith('order: '), said)
        self.assertIn('1 module differs only', notes[0])

    def test_user(self):
        """The user who built the kernel and the number of the build are in the kernel, but not in its BTF."""
        other = self.build('user', SOURCE.replace('(a@b) #1', '(c@d) #2'))
        said, notes = self.differences(self.make / 'vmlinux', other / 'vmlinux', 0)
        self.assertEqual(said, [])
        self.assertEqual(notes, ['user: a@b here, c@d there', 'build: #1 here, #2 there'])

    def test_build_folder(self):
        """The build folder affects BTF only through the length of __FILE__."""
        source = SOURCE + 'const char origin[] = __FILE__;\n'
        features = ['--features=+global_var']
        short, long = (self.build(name, source, features=features, path='{}/vmlinux.c')
                       for name in ('short', 'much-longer'))
        (what,), _ = self.differences(short / 'vmlinux', long / 'vmlinux')
        sizes = [len(f'{folder}/vmlinux.c') + 1 for folder in (short, long)]
        # The section with the array may be longer, too, so other differences may stand between these two.
        self.assertRegex(what, rf"types? only here \(ARRAY '' of {sizes[0]} elements.*types? only there \(ARRAY '' "
                               rf"of {sizes[1]} elements")
        self.assertNotIn('STRUCT', what)
        same = [self.build(name, source, features=features, path='{}/vmlinux.c',
                           flags=[f'-ffile-prefix-map={self.top / name}=.']) for name in ('map', 'mapped')]
        self.assertEqual(self.differences(*(folder / 'vmlinux' for folder in same), 0), ([], []))

    def test_configuration_and_compiler(self):
        """If types differ, differences of the configuration and the compiler are findings, too."""
        def package(name, compiler, config, more):
            source = SOURCE.replace('(a@b) #1', f'(a@b) ({compiler}) #1').replace('int count;', more)
            folder = self.build(name, source)
            (folder / '.config').write_text('CONFIG_DEBUG_INFO_BTF=y\n# CONFIG_B is not set\n' + config)
            return folder
        one = package('one', 'gcc (Debian 12) 12.2, ld 2.40', 'CONFIG_SAME=1\nCONFIG_A=y\n', 'int count;')
        two = package('two', 'gcc (Debian 13) 13.1, ld 2.40', 'CONFIG_SAME=1\nCONFIG_B=m\n', 'long count;')
        said, _ = self.differences(one, two)
        self.assertEqual(said[1:], [
            'compiler: gcc (Debian 12) 12.2, ld 2.40 here, gcc (Debian 13) 13.1, ld 2.40 there',
            'configuration: A is y here, not set there; B is not set here, m there'])
        self.assertIn("STRUCT 'files_struct'", said[0])
        # If the BTF is the same, these differences are only notes.
        three = package('three', 'gcc (Debian 14) 12.2, ld 2.40', 'CONFIG_SAME=2\nCONFIG_A=y\n', 'int count;')
        said, notes = self.differences(one, three, 0)
        self.assertEqual((said, len(notes)), ([], 2))
        self.assertIn('configuration: SAME is 1 here, 2 there', notes)


if __name__ == '__main__':
    run_tests()
