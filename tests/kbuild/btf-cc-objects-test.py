#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the objects that btf-cc writes: they are byte-identical to those of the compiler followed by btf-emit.
Also tests which objects btf-cc leaves as the compiler wrote them, and btf-cc's settings.

usage: btf-cc-objects-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import resource
import shutil
import stat

from helpers.kbuild_case import PROGRAM, KbuildCase, run, target_of

ASSEMBLER = '''.section .text, "ax"
.globl start
.type start, @function
start: ret
.size start, . - start
'''
BASE = {'var', 'decl_tag', 'type_tag', 'enum64'}
LIST = 'encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func'
LISTED = set(LIST.split(','))
# PAHOLE_FLAGS -> the features of objects. Most are what kernels 5.16 to 6.19 export for pahole 1.31. Each of the last
# two has one more feature, which these kernels do not put into PAHOLE_FLAGS: distilled_base, or reproducible_build.
# Objects have neither attributes nor distilled_base, because objects do not depend on these.
KERNELS = {
    '--btf_gen_floats': BASE | {'float'},
    '--btf_gen_floats -j --skip_encoding_btf_enum64': BASE - {'enum64'} | {'float'},
    '--btf_gen_floats -j --lang_exclude=rust --skip_encoding_btf_inconsistent_proto'
    ' --btf_gen_optimized': BASE | {'float', 'optimized_func', 'consistent_func'},
    f'-j --btf_features={LIST} --lang_exclude=rust': LISTED,
    f'-j --btf_features={LIST},decl_tag_kfuncs --lang_exclude=rust': LISTED | {'decl_tag_kfuncs'},
    f'-j8 --btf_features={LIST},decl_tag_kfuncs --lang_exclude=rust --btf_features=attributes'
    ' --btf_features=distilled_base': LISTED | {'decl_tag_kfuncs'},
    f' -j   --btf_features={LIST},decl_tag_kfuncs -j --btf_features=+reproducible_build':
        LISTED | {'decl_tag_kfuncs', 'reproducible_build'},
}


class ObjectsCase(KbuildCase):
    def setUp(self):
        super().setUp()
        for name, text in PROGRAM.items():
            self.write(name, text)

    def good(self, *arguments, settings=None, said=b''):
        self.assertEqual(self.cc(*arguments, settings=settings), (0, b'', said), arguments)

    def other_compiler(self, name):
        if not target_of(name):
            self.skipTest(f'{name} is not installed')
        return name

    def same(self, compiler, *arguments, output='add.o', emit=('--address-pool',), settings=None):
        """Checks that btf-cc makes the same object as the compiler followed by btf-emit, with the same permissions, and
        leaves no other file in the object's folder."""
        self.must(compiler, *arguments)
        self.must(self.btf_emit, *emit, output)
        want = self.read(output)
        mode = stat.S_IMODE(os.stat(self.path(output)).st_mode)
        os.remove(self.path(output))
        folder = os.path.dirname(self.path(output))
        before = set(os.listdir(folder))
        self.good(compiler, *arguments, settings=settings)
        self.assertEqual(self.read(output), want, arguments)
        self.assertEqual(set(os.listdir(folder)), before | {os.path.basename(output)})
        self.assertEqual(stat.S_IMODE(os.stat(self.path(output)).st_mode), mode)

    def untouched(self, compiler, *arguments, output='add.o'):
        """Checks that btf-cc makes the same object as the compiler alone."""
        self.must(compiler, *arguments)
        want = self.read(output)
        os.remove(self.path(output))
        self.good(compiler, *arguments)
        self.assertEqual(self.read(output), want, arguments)


class Compile(ObjectsCase):
    def test_compilers_and_dwarf(self):
        done = 0
        for compiler in ('gcc', 'clang', 'clang-14', 'clang-19', 'aarch64-linux-gnu-gcc'):
            if not target_of(compiler):
                print(f'SKIP {compiler}: not installed')
                continue
            for version in ('-gdwarf-4', '-gdwarf-5'):
                for source in PROGRAM:
                    output = source[:-2] + '.o'
                    self.same(compiler, version, '-O2', '-c', source, '-o', output, output=output)
                    self.assertTrue(self.has_object_btf(output))
                    done += 1
        self.assertGreaterEqual(done, 6)

    def test_ways_to_name_the_output(self):
        for output, words in (('add.o', []), ('x.o', ['-ox.o']), ('x.o', ['-o', 'x.o']),
                              ('no-suffix', ['-o', 'no-suffix']), ('sub/x.o', ['-o', 'sub/x.o']),
                              ('x.o', ['--output=x.o']), ('x.o', ['--output', 'x.o']),
                              ('with space.o', ['-o', 'with space.o']),
                              ('n\nl.o', ['-o', 'n\nl.o']),
                              ('ü"\'$x.o', ['-oü"\'$x.o']), ('-x.o', ['-o', '-x.o']),
                              ('c.c', ['-o', 'c.c'])):
            with self.subTest(words=words):
                os.makedirs(self.path('sub'), exist_ok=True)
                for arguments in (['-c', 'add.c', *words], [*words, '-c', 'add.c']):
                    self.good('gcc', '-g', *arguments)
                    self.assertIn('.debug', self.section_names(output))
                    os.remove(self.path(output))

    def test_long_option_names(self):
        self.same('gcc', '-g', '--compile', 'add.c')
        for option, output in (('--preprocess', 'x.i'), ('--assemble', 'x.s')):
            self.untouched('gcc', '-g', '-c', option, 'add.c', '-o', output, output=output)

    def test_several_sources(self):
        before = self.names()
        self.good('gcc', '-g', '-c', *PROGRAM)
        objects = {name[:-2] + '.o' for name in PROGRAM}
        self.assertEqual(self.names(), before | objects)
        for name in objects:
            self.assertTrue(self.has_object_btf(name), name)

    def test_default_output_is_in_this_folder(self):
        os.mkdir(self.path('sub'))
        for name in ('sub/a.b.c', 'sub/.c.c', 'sub/x.C', 'sub/y.cpp', 'sub/z.i'):
            shutil.copy(self.path('add.c'), self.path(name))
            output = os.path.splitext(os.path.basename(name))[0] + '.o'
            self.same('gcc', '-g', '-c', name, output=output)

    def test_language_by_option(self):
        self.write('source.txt', PROGRAM['add.c'])
        self.same('gcc', '-g', '-x', 'c', '-c', 'source.txt', output='source.o')
        self.same('gcc', '-g', '-xc', '-c', 'source.txt', '-o', 'x.o', output='x.o')

    def test_values_that_look_like_options(self):
        for words in (['-include', 'other.c'], ['-MT', '-E', '-MMD'], ['-MF', '-S', '-MD'],
                      ['-D', 'unused=a.c'], ['-Xassembler', '--warn'], ['-I', '-E'],
                      ['--param', 'ggc-min-expand=1'],
                      ['-isystem', '-fsyntax-only']):
            self.good('gcc', '-g', '-c', 'add.c', *words)
            self.assertTrue(self.has_object_btf('add.o'), words)
            os.remove(self.path('add.o'))

    def test_response_files(self):
        self.write('args', '-g -c "add.c"\n -o \'a b.o\' @more')
        self.write('more', '-O2 -DX=\\"y\\"')
        self.same('gcc', '@args', output='a b.o')
        self.write('link', '-g add.c main.c -o prog')
        self.good('gcc', '@link')
        self.assertNotIn('.BTF', self.section_names('prog'))
        self.write('open', "-g -c 'add.c")
        self.same('gcc', '@open')
        self.write('inner', '-g -c add.c "-DQ=\\"x\\""')
        self.same('gcc', '@inner')
        self.same('gcc', '-g', '-I', '@nothing', '-c', 'add.c')
        self.write('@at.c', PROGRAM['add.c'])
        self.same('gcc', '-g', '-c', '@at.c', output='@at.o')

    def test_response_file_of_gcc_15(self):
        """gcc 15 and later read quotes in response files as a shell does; older gcc and clang differ. btf-cc does not
        know the version, so it considers both readings."""
        self.script('gcc-15', '#!/bin/sh\nexec gcc -g "-DS=\\\\" -c add.c -o new.o\n')
        self.script('gcc-14', '#!/bin/sh\nexec gcc -g -c add.c -o ab.o\n')
        self.write('args', "-g '-DS=\\' -c add.c -o 'new.o'")
        self.good('--strict', './gcc-15', '@args')
        self.assertTrue(self.has_object_btf('new.o'))
        self.write('args', '-g -c add.c -o "a\\b.o"')
        self.good('--strict', './gcc-14', '@args')
        self.assertTrue(self.has_object_btf('ab.o'))

    def test_assembler(self):
        self.write('start.S', ASSEMBLER)
        self.same('gcc', '-g', '-c', 'start.S', '-o', 'start.o', output='start.o')
        self.untouched('gcc', '-c', 'start.S', '-o', 'start.o', output='start.o')
        self.good('gcc', '-g', '-c', 'start.S', '-o', 'start.o')
        self.write('calls.s', '.globl f\nf: ret\n')
        self.untouched('gcc', '-c', 'calls.s', output='calls.o')

    def test_no_dwarf(self):
        for flags in ([], ['-g0'], ['-g', '-g0'], ['-s']):
            self.untouched('gcc', '-c', *flags, 'add.c')

    def test_gcc_lto(self):
        self.untouched('gcc', '-g', '-flto', '-fno-fat-lto-objects', '-O2', '-c', 'add.c',
                       '-frandom-seed=1')
        self.same('gcc', '-g', '-flto', '-ffat-lto-objects', '-O2', '-c', 'add.c',
                  '-frandom-seed=1')
        for name in ('main', 'add'):
            self.good('gcc', '-g', '-flto', '-ffat-lto-objects', '-O2', '-c', name + '.c')
        self.good('gcc', '-flto', '-O2', '-g', 'main.o', 'add.o', '-o', 'prog')
        self.assertEqual(self.run_tool(self.path('prog')).returncode, 0)

    def test_clang_lto(self):
        clang = self.other_compiler('clang')
        for kind in ('-flto', '-flto=thin'):
            self.untouched(clang, '-g', kind, '-O2', '-c', 'add.c')
        self.untouched(clang, '-g', '-emit-llvm', '-O2', '-c', 'add.c', '-o', 'add.bc',
                       output='add.bc')

    def test_split_dwarf(self):
        self.good('gcc', '-g', '-gsplit-dwarf', '-c', 'add.c')
        self.assertIn('.BTF', self.section_names('add.o'))
        self.must('gcc', '-g', '-c', 'main.c')
        self.must('gcc', 'main.o', 'add.o', '-o', 'prog')

    def test_again_over_an_old_object(self):
        """An object of an earlier compile has no effect, even if that compile had other settings."""
        self.good('gcc', '-g', '-c', 'add.c')
        want = self.read('add.o')
        for settings in ({'BTF_CC_STRIP_DWARF': '1'}, {'BTF_CC_FEATURES': '+global_var'}):
            self.good('gcc', '-g', '-c', 'add.c', settings=settings)
            self.assertNotEqual(self.read('add.o'), want)
        self.good('gcc', '-g', '-c', 'add.c')
        self.assertEqual(self.read('add.o'), want)

    def test_other_programs_of_a_kernel_tree(self):
        """btf-cc leaves objects of the vdso, of boot code and so on as the compiler wrote them."""
        alone = ['arch/x86/boot/main.o', 'arch/x86/boot/compressed/misc.o',
                 'arch/x86/realmode/rm/wakemain.o', 'arch/x86/purgatory/purgatory.o']
        ours = ['arch/x86/kernel/main.o', 'arch/x86/boot/startup/sme.o', 'arch/x86/realmode/init.o',
                'arch/x86/entry/vdso/vma.o', 'drivers/boot/x.o', 'kernel/boot/arch/x.o',
                'arch/boot/fs/namei.o']
        for name in alone + ours:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        for name in alone:
            self.untouched('gcc', '-g', '-c', 'add.c', '-o', name, output=name)
            self.untouched('gcc', '-g', '-c', 'add.c', '-o', self.path(name), output=name)
        for name in ours:
            self.same('gcc', '-g', '-c', 'add.c', '-o', name, output=name)
            self.same('gcc', '-g', '-c', 'add.c', '-o', self.path(name), output=name)
        vdso = ['-g', '-c', 'add.c', '-o', 'arch/x86/entry/vdso/vma.o']
        for flags in (['-fPIC'], ['-fno-pie', '-fpic'], ['-DBUILD_VDSO'], ['-DBUILD_VDSO32_64']):
            self.untouched('gcc', *flags, *vdso, output=vdso[-1])
        self.same('gcc', '-fPIC', '-fno-pic', *vdso, output=vdso[-1])
        if target_of('gcc') == 'x86_64':
            self.untouched('gcc', '-m16', '-g', '-c', 'add.c')
        else:
            print('SKIP -m16: only gcc for x86 has this option')


class Failure(ObjectsCase):
    """Compiles whose objects are damaged, missing, or hard to read or write. The "compiler" ./fake copies broken.o,
    whose DWARF has an unknown version; some tests replace ./fake or broken.o."""

    def setUp(self):
        super().setUp()
        self.must('gcc', '-g', '-c', 'add.c', '-o', 'broken.o')
        section = self.section('broken.o', '.debug_info')
        data = bytearray(self.read('broken.o'))
        data[section.offset + 4:section.offset + 6] = b'\x63\x00'  # DWARF 99
        self.write('broken.o', bytes(data))
        self.script('fake', '#!/bin/sh\ncp broken.o "$4"\n')

    def test_not_strict(self):
        status, out, error = self.cc('./fake', '-c', 'add.c', '-o', 'add.o')
        self.assertEqual((status, out), (0, b''))
        self.assertRegex(error, rb'^btf-cc: WARNING: no object BTF: add\.o.*\n$')
        self.assertEqual(self.read('add.o'), self.read('broken.o'))

    def test_strict(self):
        before = self.names()
        status, out, error = self.cc('./fake', '-c', 'add.c', '-o', 'add.o',
                                     settings={'BTF_CC_STRICT': '1'})
        self.assertEqual((status, out), (1, b''))
        self.assertRegex(error, rb'^btf-cc: ERROR: no object BTF: add\.o.*\n$')
        self.assertEqual(self.names(), before)

    def test_strict_leaves_links(self):
        """btf-cc --strict removes an object for which it cannot make BTF, but not a symbolic link, which may lead to
        /dev/stdout."""
        self.write('target.o', '') # cp does not write through a dangling link
        os.symlink('target.o', self.path('link.o'))
        status, out, error = self.cc('--strict', './fake', '-c', 'add.c', '-o', 'link.o')
        self.assertEqual((status, out), (1, b''))
        self.assertRegex(error, rb'^btf-cc: ERROR: no object BTF: link\.o.*\n$')
        self.assertTrue(os.path.islink(self.path('link.o')))

    def test_strict_and_good(self):
        self.good('gcc', '-g', '-c', 'add.c', settings={'BTF_CC_STRICT': '1'})
        self.assertTrue(self.has_object_btf('add.o'))

    def test_damaged_objects(self):
        """btf-cc does not change a damaged object. btf-cc prints a warning, unless the file is too short to be an
        object."""
        self.must('gcc', '-g', '-c', 'add.c', '-o', 'whole.o')
        whole = self.read('whole.o')
        for size in [0, 3, 17, 18, 63, *range(64, len(whole), 499)]:
            self.write('broken.o', whole[:size])
            status, out, error = self.cc('./fake', '-c', 'add.c', '-o', 'add.o')
            self.assertEqual((status, out), (0, b''), size)
            self.assertEqual(self.read('add.o'), whole[:size])
            if size < 18:
                self.assertEqual(error, b'', 'too short to be an object')
            else:
                self.assertRegex(error, rb'^btf-cc: WARNING: no object BTF: add\.o[^\n]*\n$')

    def test_output_that_is_no_file(self):
        os.mkdir(self.path('folder'))
        self.script('fake', '#!/bin/sh\nexit 0\n')
        for output in ('folder', '/dev/full', '-'):
            self.good('--strict', './fake', '-g', '-c', 'add.c', '-o', output)
        self.good('--strict', './fake', '-c', 'add.c', '-o', 'missing.o')

    def test_other_actions_of_clang(self):
        """A command of clang that makes no object, or writes it to standard output, succeeds."""
        clang = self.other_compiler('clang')
        # clang 21 warns that these actions do not use -c.
        compile_it = '--strict', clang, '-Wno-unused-command-line-argument', '-g', '-c', 'add.c'
        status, out, error = self.cc(*compile_it, '-o', '-')
        self.assertEqual((status, out[:4], error), (0, b'\x7fELF', b''))
        for words in (['-fsyntax-only'], ['--analyze'], ['-emit-ast', '-o', 'x.ast'], ['-emit-ast'], ['-emit-llvm']):
            status, _, error = self.cc(*compile_it, *words)
            self.assertEqual((status, error), (0, b''), words)
        self.assertLessEqual({'x.ast', 'add.ast', 'add.bc'}, self.names())
        self.assertNotIn('add.o', self.names())

    def test_object_that_the_compiler_does_not_write(self):
        """btf-cc neither changes nor removes an object of an earlier command."""
        self.write('add.h', 'struct s { int a; };\n')
        self.script('fake', '#!/bin/sh\nexit 0\n')
        note = b'btf-cc: add.o: not written by the compiler, left alone\n'
        for flags in ([], ['-g']):
            self.must('gcc', *flags, '-c', 'add.c')
            before = self.read('add.o')
            self.good('--strict', 'gcc', '-g', '-x', 'c-header', '-c', 'add.h')
            self.good('--strict', 'gcc', '-g', '-x', 'c-header', '-c', 'add.c')
            self.good('--strict', './fake', '-g', '-c', 'add.c')
            self.good('--strict', '-v', './fake', '-g', '-c', 'add.c', said=note)
            self.assertEqual(self.read('add.o'), before)

    def test_limit_of_file_sizes(self):
        """The object with BTF would exceed the limit of `ulimit -f`. The object stays as the compiler wrote it, or is
        removed with --strict. btf-cc does not die of SIGXFSZ."""
        compile_it = 'gcc', '-g', '-pipe', '-c', 'add.c'
        self.must(*compile_it)
        want = self.read('add.o')
        limits = len(want) + 64, len(want) + 64
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        status, out, error = self.cc(*compile_it, preexec_fn=limit)
        self.assertEqual((status, out), (0, b''))
        self.assertRegex(error, rb'^btf-cc: WARNING: no object BTF: add\.o: .*File too large\n$')
        self.assertEqual(self.read('add.o'), want)
        status, out, error = self.cc('--strict', *compile_it, preexec_fn=limit)
        self.assertEqual((status, out), (1, b''))
        self.assertRegex(error, rb'^btf-cc: ERROR: no object BTF: add\.o: .*File too large\n$')
        self.assertNotIn('add.o', self.names())

    def test_unreadable_object(self):
        self.script('fake', '#!/bin/sh\ngcc -g "$@" && chmod 0 add.o\n')
        status, out, error = self.cc('./fake', '-c', 'add.c')
        self.assertEqual((status, out), (0, b''))
        if os.geteuid() == 0:
            self.assertTrue(self.has_object_btf('add.o'))
        else:
            self.assertRegex(error, b'^btf-cc: WARNING: .*add.o: .*Permission denied\n$')

    def test_read_only_folder(self):
        """In a folder without write permission, the compiler can rewrite an existing object, and so can btf-cc."""
        self.must('gcc', '-g', '-c', 'add.c')
        os.mkdir(self.path('sub'))
        os.rename(self.path('add.o'), self.path('sub/add.o'))
        if os.geteuid() == 0:
            print('SKIP folder without write permission: root can write everywhere')
        os.chmod(self.path('sub'), 0o555)
        self.good('gcc', '-g', '-c', 'add.c', '-o', 'sub/add.o')
        self.assertTrue(self.has_object_btf('sub/add.o'))
        os.chmod(self.path('sub'), 0o755)


class Settings(ObjectsCase):
    def features(self, name='add.o'):
        line = self.must(self.btf_dump, '--trailer', name)
        listed = line.split('features=')[1].split()[0]
        return set() if listed == 'none' else set(listed.split(','))

    def test_strip_dwarf(self):
        settings = {'BTF_CC_STRIP_DWARF': '1'}
        self.same('gcc', '-g', '-O1', '-c', 'add.c', emit=('--address-pool', '--strip-dwarf'),
                  settings=settings)
        self.assertNotIn('.debug_info', self.section_names('add.o'))
        once = self.read('add.o')
        self.must(self.btf_emit, '--address-pool', '--strip-dwarf', 'add.o')
        self.assertEqual(self.read('add.o'), once)
        self.good('gcc', '-g', '-O1', '-c', 'add.c', settings=settings)
        self.assertEqual(self.read('add.o'), once)

    def test_strip_twice(self):
        """btf-cc runs another btf-cc, as in CC="btf-cc ccache btf-cc gcc". If the inner one strips DWARF, the outer one
        finds no DWARF, and keeps the existing BTF. If the inner one keeps DWARF, both make the same BTF."""
        settings = {'BTF_CC_STRIP_DWARF': '1'}
        self.good('gcc', '-g', '-c', 'add.c', settings=settings)
        once = self.read('add.o')
        self.good(self.btf_cc, 'gcc', '-g', '-c', 'add.c', settings=settings)
        self.assertEqual(self.read('add.o'), once)
        self.good(self.btf_cc, 'gcc', '-g', '-c', 'add.c')
        self.good('gcc', '-g', '-c', 'add.c', '-o', 'x.o')
        self.assertEqual(self.read('add.o'), self.read('x.o'))

    def test_strip_dwarf_without_types(self):
        """DWARF without types for BTF is also dropped, as by btf-emit."""
        for source in ('empty.c', 'empty.S'):
            self.write(source, '')
            self.same('gcc', '-g', '-c', source, '-o', 'x.o', output='x.o',
                      emit=('--address-pool', '--strip-dwarf'),
                      settings={'BTF_CC_STRIP_DWARF': '1'})
            self.assertNotIn('.debug_info', self.section_names('x.o'))

    def test_features(self):
        for settings, features in (
                ({}, LISTED | {'decl_tag_kfuncs'}),
                ({'BTF_CC_FEATURES': 'var,float'}, {'var', 'float'}),
                ({'BTF_CC_FEATURES': '+global_var'}, LISTED | {'decl_tag_kfuncs', 'global_var'}),
                ({'BTF_CC_FEATURES': 'default'}, LISTED | {'decl_tag_kfuncs'}),
                ({'PAHOLE_FLAGS': '--btf_features=default --btf_features=true_signature'},
                 LISTED | {'decl_tag_kfuncs', 'true_signature'}),
                ({'BTF_CC_FEATURES': 'var', 'PAHOLE_FLAGS': '--btf_features=float'}, {'var'}),
                ({'BTF_CC_FEATURES': '+var', 'PAHOLE_FLAGS': '--btf_features=float'}, {'float', 'var'}),
                *(({'PAHOLE_FLAGS': flags}, features) for flags, features in KERNELS.items())):
            with self.subTest(settings=settings):
                self.good('gcc', '-g', '-c', 'add.c', settings=settings)
                self.assertEqual(self.features(), features)

    def test_languages(self):
        flags = {'PAHOLE_FLAGS': '--btf_features=default --lang_exclude=c++,rust'}
        shutil.copy(self.path('add.c'), self.path('add.cc'))
        shutil.copy(self.path('add.c'), self.path('c.c'))
        self.good('gcc', '-g', '-c', 'add.cc', 'c.c', settings=flags)
        self.assertFalse(self.has_object_btf('add.o'))
        # With these options, the DWARF says C++ without a version, not C++14.
        old = ['-g', '-std=c++98', '-gdwarf-4', '-gstrict-dwarf']
        self.good('gcc', *old, '-c', 'add.cc', settings=flags)
        self.assertFalse(self.has_object_btf('add.o'))
        self.assertTrue(self.has_object_btf('c.o'))
        self.good('gcc', *old, '-c', 'add.cc')
        self.assertTrue(self.has_object_btf('add.o'))

    def test_languages_by_environment(self):
        """Without the option --lang_exclude, pahole uses PAHOLE_LANG_EXCLUDE, and so does btf-cc."""
        only = {'PAHOLE_LANG_EXCLUDE': 'c99,c11'}
        command = ['gcc', '-g', '-std=gnu11', '-gdwarf-5', '-c', 'add.c']
        self.good(*command, settings=only)
        self.assertFalse(self.has_object_btf('add.o'))
        for more in ({'PAHOLE_FLAGS': '--lang_exclude=rust'}, {'PAHOLE_LANG_EXCLUDE': 'rust'}):
            self.good(*command, settings={**only, **more})
            self.assertTrue(self.has_object_btf('add.o'))

    def test_settings_line(self):
        """For these variants, the line that --settings prints differs if and only if objects differ. (The line also
        states BTF_CC_STRICT, because a cache that was filled without it may have objects without BTF, and
        BTF_CC_QUIET, because a cache keeps warnings, too. This is not tested.)"""
        variants = [{}, {'BTF_CC_STRIP_DWARF': '1'}, {'BTF_CC_STRIP_DWARF': '0'},
                    {'BTF_CC_FEATURES': 'default'}, {'BTF_CC_FEATURES': '+global_var'},
                    {'BTF_CC_FEATURES': 'global_var,default'}, {'BTF_CC_FEATURES': 'var'},
                    {'BTF_CC_FEATURES': '+reproducible_build'},
                    {'PAHOLE_FLAGS': '-j --btf_features=default'},
                    {'PAHOLE_FLAGS': '-j4 --btf_features=default'},
                    {'PAHOLE_FLAGS': '--btf_features=var'},
                    {'PAHOLE_FLAGS': '--btf_features=default --lang_exclude=c11,c99'},
                    {'PAHOLE_FLAGS': '--lang_exclude=c99 --btf_features=default'
                                     ' --lang_exclude=c11'},
                    {'PAHOLE_FLAGS': '--btf_features=default --lang_exclude=c99,c11,c99'},
                    {'PAHOLE_LANG_EXCLUDE': 'c11,c99'}]
        objects, lines = [], []
        for settings in variants:
            status, out, error = self.cc('--settings', settings=settings)
            self.assertEqual((status, error, out.count(b'\n')), (0, b'', 1), settings)
            self.good('gcc', '-g', '-gdwarf-5', '-std=gnu11', '-c', 'other.c', settings=settings)
            objects.append(self.read('other.o'))
            lines.append(out)
        for i, a in enumerate(variants):
            for k, b in enumerate(variants):
                self.assertEqual(objects[i] == objects[k], lines[i] == lines[k],
                                 f'{a}: {lines[i]}, {b}: {lines[k]}')


class Plans(ObjectsCase):
    """btf-cc learns Kbuild's plans from the kernel's configuration and Kbuild's variables. It adds no BTF that Kbuild
    will not merge, and keeps DWARF that Kbuild reads later."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path('tree/include/config'))

    def emitted(self, *arguments, options='', **settings):
        self.write('tree/include/config/auto.conf', options)
        self.good('gcc', '-g', *arguments, '-c', 'add.c', settings={'objtree': 'tree', **settings})
        return '.BTF' in self.section_names('add.o')

    def test_configuration(self):
        both = 'CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n'
        self.assertTrue(self.emitted(options=both))
        self.assertTrue(self.emitted('-DMODULE', options=both))
        self.assertTrue(self.emitted(options='CONFIG_A=1\nCONFIG_DEBUG_INFO_BTF=y'))
        self.assertFalse(self.emitted('-DMODULE', options='CONFIG_DEBUG_INFO_BTF=y\n'))
        self.assertFalse(self.emitted(options='CONFIG_DEBUG_INFO=y\n'))
        self.assertFalse(self.emitted(options='# CONFIG_DEBUG_INFO_BTF=y\n'))
        self.assertFalse(self.emitted(options='CONFIG_DEBUG_INFO_BTF=yes\n'))
        self.assertTrue(self.emitted(objtree='nowhere'))

    def test_external_module(self):
        both = 'CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n'
        self.assertFalse(self.emitted('-DMODULE', options=both, KBUILD_EXTMOD='there'))
        self.write('tree/vmlinux', '')
        self.assertTrue(self.emitted('-DMODULE', options=both, KBUILD_EXTMOD='there'))

    def test_dwarf_that_is_read_later_stays(self):
        both = 'CONFIG_DEBUG_INFO_BTF=y\nCONFIG_GENDWARFKSYMS=y\n'
        self.assertTrue(self.emitted(options=both, BTF_CC_STRIP_DWARF='1'))
        self.assertIn('.debug_info', self.section_names('add.o'))
        self.assertTrue(self.emitted(options='CONFIG_DEBUG_INFO_BTF=y\nCONFIG_GENKSYMS=y\n',
                                     BTF_CC_STRIP_DWARF='1'))
        self.assertNotIn('.debug_info', self.section_names('add.o'))

    def test_verbose_says_why(self):
        self.write('tree/include/config/auto.conf', '')
        self.good('gcc', '-g', '-c', 'add.c', settings={'objtree': 'tree', 'BTF_CC_VERBOSE': '1'},
                  said=b'btf-cc: add.o: CONFIG_DEBUG_INFO_BTF is off, left alone\n')


if __name__ == '__main__':
    run(__name__)
