#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-module: different states of modules, different forms of bases, dkms.conf.

usage: btf-module-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import re
import shutil
import subprocess
import unittest

from helpers.kbuild_case import HERE, KbuildCase, run

ROOT = os.path.join(HERE, '..', '..')
SCRIPT = os.path.join(ROOT, 'kbuild-integration', 'btf-module')
MANUAL = SCRIPT + '.1'
KERNEL = 'struct task { int pid; }; struct page { long flags; }; struct task *t; struct page *p;\n'
MODULE = '''struct task { int pid; };
struct mine { struct task *who; int n; };
int count(struct mine *m) { return m->who->pid + m->n; }
static const char modinfo[] __attribute__((section(".modinfo"), used)) = "vermagic=6.12.7 SMP";
'''
# MODULE with a set of kfuncs in the form of the kernel's macros. Its only entry is count().
IDS = MODULE + '''asm(".pushsection .BTF_ids,\\"a\\"\\n"
    "__BTF_ID__set8__kfuncs: .long 0, 1\\n"
    "__BTF_ID__func__count__1: .zero 4\\n .long 0\\n"
    ".type __BTF_ID__set8__kfuncs, STT_OBJECT\\n .size __BTF_ID__set8__kfuncs, .-__BTF_ID__set8__kfuncs\\n"
    ".popsection");
'''
PACKERS = {'gzip': ['gzip', '-n'], 'xz': ['xz'], 'zstd': ['zstd', '-q'], 'bzip2': ['bzip2'],
           'lz4': ['lz4', '-lq'], 'lzma': ['xz', '--format=lzma']}


class Module(KbuildCase):
    def setUp(self):
        super().setUp()
        self.write('kernel.c', KERNEL)
        self.must('gcc', '-g', '-c', 'kernel.c', '-o', 'kernel.o')
        self.must(self.btf_emit, 'kernel.o')
        self.must(self.btf_merge, '-o', 'base.btf', 'kernel.o')
        os.mkdir(self.path('build'))
        self.must('objcopy', '--remove-section=.BTF', '--add-section', '.BTF=base.btf', 'kernel.o',
                  'build/vmlinux')
        self.module('x.ko')

    def module(self, name, text=MODULE, flags=('-g',)):
        self.write('module.c', text)
        self.must('gcc', *flags, '-c', 'module.c', '-o', name)

    def search_path(self, *first):
        """A PATH: the test's folders `first`, the folder of btf-pahole, the user's PATH."""
        return ':'.join([*map(self.path, first), os.path.dirname(self.btf_pahole), os.environ['PATH']])

    def btf(self, *arguments, status=0, **settings):
        """Runs btf-module. Checks its exit status, and that it leaves no new files. Returns what it printed; with a
        `status` other than 0, only standard error."""
        before = self.names()
        os.makedirs(self.path('tmp'), exist_ok=True)
        done = self.run_tool(SCRIPT, *arguments, text=True,
                             settings={'PATH': self.search_path(), 'TMPDIR': self.path('tmp'), **settings})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(self.names(), before | {'tmp'})
        self.assertEqual(os.listdir(self.path('tmp')), [])
        return done.stderr if status else done.stdout + done.stderr

    def bad(self, pattern, *arguments, module='x.ko'):
        before = self.read(module)
        self.assertRegex(self.btf(*arguments, module, status=1),
                         f'^btf-module: ERROR: {pattern}\n$')
        self.assertEqual(self.read(module), before)

    def test_no_room_for_the_copy(self):
        """If the disk is full, no incomplete copy of a module is left."""
        self.module('y.ko')
        before = self.read('y.ko')
        os.mkdir(self.path('bin'))
        self.script('bin/cp', '#!/bin/sh\nhead -c 100 "$2" >"$3"; exit 1\n')
        said = self.btf('--build=build', 'x.ko', 'y.ko', status=1, PATH=self.search_path('bin'))
        self.assertEqual(said, ''.join(f'btf-module: ERROR: {name}: cannot be copied within its folder\n'
                                       for name in ('x.ko', 'y.ko')))
        self.assertEqual(self.read('y.ko'), before)

    def has_struct(self, name, *base):
        return any("STRUCT 'mine'" in line for line in self.dump(name, *base))

    def test_distilled(self):
        said = self.btf('--build=build', 'x.ko')
        self.assertEqual(said, 'btf-module: x.ko: BTF over build/vmlinux\n')
        self.assertLessEqual({'.BTF', '.BTF.base'}, self.section_names('x.ko'))
        self.assertEqual(self.btf('--build=build', '-q', 'x.ko'), '')
        for arguments in (['--no-distill'], ['--kernel=6.10.3'], ['--kernel=6.1.0-56-amd64']):
            self.module('x.ko')
            self.btf('--build=build', *arguments, 'x.ko')
            self.assertNotIn('.BTF.base', self.section_names('x.ko'))
            self.assertTrue(self.has_struct('x.ko', 'base.btf'))
        self.module('x.ko')
        self.btf('--build=build', '--kernel=7.0-rc1', 'x.ko')
        self.assertIn('.BTF.base', self.section_names('x.ko'))

    def test_nothing_of_its_own(self):
        """A module whose types are all in the kernel's BTF gets no distilled base, because kernels refuse an empty
        one."""
        self.module('x.ko', 'struct task { int pid; }; struct task *mine;\n'
                            'asm(".pushsection .modinfo\\n.asciz \\"vermagic=6.12.7 SMP\\"\\n.popsection");\n')
        self.btf('--build=build', 'x.ko')
        self.assertIn('.BTF', self.section_names('x.ko'))
        self.assertNotIn('.BTF.base', self.section_names('x.ko'))

    def test_rust_is_left_out(self):
        os.mkdir(self.path('bin'))
        self.script('bin/btf-pahole', '#!/bin/sh\necho "$*" | grep -o -e "--lang_exclude=[a-z]*"\n')
        said = self.btf('--build=build', 'x.ko', PATH=self.search_path('bin'))
        self.assertEqual(said, 'btf-module: x.ko: BTF over build/vmlinux; --lang_exclude=rust\n')

    def test_old_kernels(self):
        """Kernels refuse kinds of BTF that they do not know. A distribution may have backported a newer kind; the
        kernel's BTF then has the enumerator BTF_KIND_... of this kind."""
        wide = MODULE + 'enum wide { WIDE = 1ULL << 40 }; enum wide w;\n'
        self.write('kernel.c', KERNEL + 'enum { BTF_KIND_ENUM64 = 19 } kinds;\n')
        self.must('gcc', '-g', '-c', 'kernel.c', '-o', 'kernel.o')
        self.must(self.btf_emit, '--detached=backport.btf', 'kernel.o')
        for version, base, known in (('5.15.0', 'base.btf', False), ('5.15.0', 'backport.btf', True),
                                     ('5.19.17-1', 'base.btf', False), ('6.0', 'base.btf', True)):
            self.module('x.ko', wide)
            self.btf(f'--base={base}', f'--kernel={version}', 'x.ko')
            self.assertEqual('ENUM64' in '\n'.join(self.dump('x.ko', base)), known, (version, base))
            self.must(self.btf_merge, '--check=x.ko', f'--base={base}', f'--kernel={version}')
        done = self.call(self.btf_merge, '--check=x.ko', '--base=base.btf', '--kernel=5.19')
        self.assertRegex(done.stdout + done.stderr, "ENUM64 'wide'.*: this kernel does not know the kind")
        self.assertEqual(done.returncode, 1)

    def test_standard_output_is_full(self):
        """btf-module fails because it cannot print. But the module has its BTF, and no message says that the module is
        unchanged."""
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = subprocess.run([SCRIPT, '--build=build', 'x.ko'], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False, cwd=self.folder,
                                  env=self.environment({'PATH': self.search_path()}))
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn('unchanged', done.stderr)
        self.assertIn('.BTF', self.section_names('x.ko'))

    def test_object_btf(self):
        """A module with object BTF and without DWARF gets the same BTF as from DWARF."""
        self.module('want.ko')
        self.btf('--base=base.btf', 'want.ko')
        self.must(self.btf_emit, '--address-pool', '--strip-dwarf', 'x.ko')
        self.btf('--base=base.btf', 'x.ko')
        self.assertEqual(self.section('x.ko').data, self.section('want.ko').data)

    def test_packed_bases(self):
        self.btf('--base=build/vmlinux', 'x.ko')
        want = self.read('x.ko')
        for name, packer in PACKERS.items():
            if not shutil.which(packer[0]):
                print(f'SKIP {name}: not installed')
                continue
            packed = self.run_tool(*packer, '-c', 'build/vmlinux').stdout
            # A magic number of gzip without gzip data comes before the packed data. btf-module must ignore it.
            self.write('vmlinuz', b'head' * 300 + b'\x1f\x8b\x08 is gzip' + packed + b'tail' * 300)
            self.module('x.ko')
            with self.subTest(name):
                said = self.btf('--base=vmlinuz', 'x.ko')
                self.assertEqual(said, 'btf-module: x.ko: BTF over vmlinuz\n')
                self.assertEqual(self.read('x.ko'), want)

    def test_no_base(self):
        self.bad('nothing: cannot be read', '--base=nothing')
        self.write('text', 'no kernel')
        self.bad('text: has no BTF, compressed or not', '--base=text')
        self.must('objcopy', '--remove-section=.BTF', 'kernel.o', 'bare')
        self.bad('bare: has no BTF, compressed or not', '--base=bare')
        self.bad('no BTF of kernel 5.0.nobody was found; .*give --base', '--kernel=5.0.nobody')

    def test_folders(self):
        """A folder is neither a base nor a module."""
        self.bad('build: cannot be read', '--base=build')
        self.assertEqual(self.btf('--build=build', 'build', 'x.ko', status=1),
                         'btf-module: ERROR: build: cannot be read\n')
        self.assertIn('.BTF', self.section_names('x.ko'))

    def test_path_of_a_user(self):
        """Debian has modinfo in a folder that is not in the PATH of users."""
        folders = [f for f in os.environ['PATH'].split(':') if not f.endswith('/sbin')]
        path = ':'.join([os.path.dirname(self.btf_pahole), *folders])
        self.assertEqual(self.btf('--build=build', 'x.ko', PATH=path), 'btf-module: x.ko: BTF over build/vmlinux\n')

    def test_no_program_to_unpack(self):
        os.mkdir(self.path('few'))
        for tool in ('cmp', 'cut', 'dirname', 'grep', 'head', 'mktemp', 'modinfo', 'od', 'readelf', 'readlink', 'rm',
                     'tail', 'tr', 'uname'):
            os.symlink(shutil.which(tool, path=os.environ['PATH'] + ':/usr/sbin:/sbin'), self.path('few/' + tool))
        self.write('vmlinuz', b'head' * 300 + b'\x28\xb5\x2f\xfd of zstd')
        said = self.btf('--base=vmlinuz', 'x.ko', status=1, PATH=self.path('few'))
        self.assertEqual(said, 'btf-module: ERROR: vmlinuz cannot be unpacked, because zstd is not installed\n')

        os.unlink(self.path('few/readelf'))
        said = self.btf('--build=build', 'x.ko', status=1, PATH=self.path('few'))
        self.assertRegex(said, 'ELF files cannot be read, because readelf is not installed\n$')

    def test_modules_of_several_kernels(self):
        """A failed search for the base of one module (y.ko) does not change the base of later modules."""
        self.script('btf-module', self.read(SCRIPT).decode().replace('/lib/modules/', 'lib/'))
        self.module('y.ko', MODULE.replace('6.12.7', '6.12.8'))
        self.module('z.ko')
        shutil.copytree(self.path('build'), self.path('lib/6.12.7/build'))
        os.makedirs(self.path('lib/6.12.8/build'))
        self.write('lib/6.12.8/build/vmlinux', 'no kernel')
        done = self.run_tool(self.path('btf-module'), 'x.ko', 'y.ko', 'z.ko', text=True,
                             settings={'PATH': self.search_path()})
        self.assertEqual(done.stdout, ''.join(f'btf-module: {name}: BTF over lib/6.12.7/build/vmlinux\n'
                                              for name in ('x.ko', 'z.ko')))
        self.assertRegex(done.stderr, '^btf-module: ERROR: no BTF of kernel 6.12.8 was found; .*\n$')

    def test_modules_that_cannot_have_it(self):
        self.module('bare.ko', flags=[])
        self.bad(r'bare\.ko: is unchanged: btf-pahole: ERROR: bare\.ko: has neither object BTF nor '
                 'DWARF', '--build=build', module='bare.ko')
        self.write('packed.ko.xz', self.read('x.ko'))
        self.bad('packed.ko.xz: is compressed; unpack it, .*', '--build=build', module='packed.ko.xz')
        self.write('signed.ko', self.read('x.ko') + b'~Module signature appended~\n')
        self.bad('signed.ko: is signed, .*', '--build=build', module='signed.ko')
        self.module('mute.ko', MODULE.replace('vermagic', 'other'))
        self.bad(r'mute.ko: has no kernel version \(vermagic\); give --kernel', '--build=build',
                 module='mute.ko')
        said = self.btf('--build=build', 'bare.ko', 'missing.ko', 'x.ko', status=1)
        self.assertIn('missing.ko: cannot be read', said)
        self.assertIn('.BTF', self.section_names('x.ko'))

    def test_kfuncs(self):
        """.BTF_ids is filled in without resolve_btfids, which headers often lack."""
        self.module('x.ko', IDS)
        self.assertEqual(self.btf('--build=build', 'x.ko'), 'btf-module: x.ko: BTF over build/vmlinux\n')
        self.assertNotEqual(self.section('x.ko', '.BTF_ids').data[8:12], bytes(4))
        self.module('x.ko', IDS.replace('int count(', 'int other('))
        self.bad(r'x\.ko: is unchanged: btf-pahole: ERROR: x\.ko: \.BTF_ids\+0x8: .*: this kfunc has no '
                 'FUNC in the BTF', '--build=build')

    def test_base_of_another_kernel(self):
        """The running kernel's BTF is never used for another kernel. Unless --base is given, the error names the
        package that has the right BTF."""
        self.write('running', b'\x9f\xeb of the running kernel')
        script = self.read(SCRIPT).decode().replace('running=/sys/kernel/btf/vmlinux', 'running=running')
        self.assertIn('running=running', script)
        os.mkdir(self.path('here'))
        self.script('here/btf-module', script)
        self.script('here/dpkg', '#!/bin/sh\n')
        self.script('here/uname', '#!/bin/sh\ncase $1 in -r) echo 6.12.7-run;; *) echo x86_64;; esac\n')
        def said(*arguments):
            done = self.run_tool(self.path('here/btf-module'), *arguments, 'x.ko', text=True,
                                 settings={'PATH': self.search_path('here')})
            return done.returncode, done.stdout + done.stderr
        before = self.read('x.ko')
        package = 'package linux-image-6.12.8 has it, or give --base\n'
        missing = 'no BTF of kernel 6.12.8 was found; ' + package
        self.assertEqual(said('--kernel=6.12.8'), (1, f'btf-module: ERROR: {missing}'))
        shutil.copy(self.path('running'), self.path('build/vmlinux')) # the magic of raw BTF, not ELF
        self.assertEqual(said('--kernel=6.12.8', '--build=build'),
                         (1, 'btf-module: ERROR: build/vmlinux has the BTF of the running kernel, 6.12.7-run; '
                          + missing))
        self.assertEqual(said('--kernel=6.12.8', '--base=running'),
                         (1, 'btf-module: ERROR: running: is the BTF of the running kernel, 6.12.7-run, '
                             'not of 6.12.8\n'))
        self.assertEqual(self.read('x.ko'), before)
        shutil.copy(self.path('base.btf'), self.path('running'))
        self.assertEqual(said('--kernel=6.12.7-run'), (0, 'btf-module: x.ko: BTF over running\n'))

    def test_raw_btf_as_vmlinux(self):
        """The vmlinux in the headers may be a copy of /sys/kernel/btf/vmlinux, which is raw BTF. With such a copy,
        Kbuild itself would run resolve_btfids, which headers often lack."""
        shutil.copy(self.path('base.btf'), self.path('build/vmlinux'))
        self.assertEqual(self.btf('--build=build', 'x.ko'), 'btf-module: x.ko: BTF over build/vmlinux\n')
        self.assertLessEqual({'.BTF', '.BTF.base'}, self.section_names('x.ko'))

    def test_dkms(self):
        os.mkdir(self.path('sub'))
        shutil.copy(self.path('x.ko'), self.path('sub/two.ko'))
        self.write('dkms.conf', 'PACKAGE_NAME=x\nPACKAGE_VERSION=1\nNAMES=two\n'
                   'BUILT_MODULE_NAME[0]="$PACKAGE_NAME"\nBUILT_MODULE_NAME[1]=$NAMES\n'
                   'BUILT_MODULE_LOCATION[1]=sub/\nMAKE[0]="make KVER=${kernelver}"\n')
        self.btf('--build=build', '--kernel=6.12', '--dkms=dkms.conf')
        for name in ('x.ko', 'sub/two.ko'):
            self.assertIn('.BTF', self.section_names(name))
        self.module('x.ko')
        self.write('dkms.conf', 'PACKAGE_NAME=x\n')
        self.btf('--build=build', '--dkms=dkms.conf')
        self.assertIn('.BTF', self.section_names('x.ko'))

    @unittest.skipUnless(os.getuid() == 0, 'not root, so btf-module cannot be run as another user')
    def test_module_of_another_user(self):
        """A user who may write only to the folder can replace the module. On a terminal, btf-module does not ask for a
        confirmation. Copies of the programs are run, because that user may be unable to enter btflink's own folders."""
        os.mkdir(self.path('bin'))
        for program in SCRIPT, self.btf_pahole:
            shutil.copy(program, self.path('bin'))
        os.chmod(self.path('x.ko'), 0o644)
        os.chmod(self.folder, 0o777)
        ours, terminal = os.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, terminal)
        done = self.run_tool(self.path('bin/btf-module'), '--build=build', 'x.ko', text=True, stdin=terminal,
                             settings={'PATH': self.search_path('bin')},
                             user=65534, group=65534, extra_groups=())
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, 'btf-module: x.ko: BTF over build/vmlinux\n', ''))
        self.assertIn('.BTF', self.section_names('x.ko'))
        # Some distributions let only root read boot images.
        os.chmod(self.path('build/vmlinux'), 0)
        done = self.run_tool(self.path('bin/btf-module'), '--build=build', '--kernel=6.12.99', 'x.ko', text=True,
                             settings={'PATH': self.search_path('bin')}, user=65534, group=65534, extra_groups=())
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, 'no BTF of kernel 6.12.99 was found; build/vmlinux cannot be read\n')

    def test_status_of_dkms_conf(self):
        """As with dkms, the status of the last command in dkms.conf does not matter."""
        self.write('dkms.conf', 'PACKAGE_NAME=x\n[ -n "$no_such_variable" ] && MAKE=x\n')
        self.btf('--build=build', '--dkms=dkms.conf')
        self.assertIn('.BTF', self.section_names('x.ko'))
        for text in ('', 'exit 0\n', 'PACKAGE_NAME=x\nexit 0\n', 'PACKAGE_VERSION=1\n'):
            self.write('dkms.conf', text)
            self.assertEqual(self.btf('--build=build', '--dkms=dkms.conf', status=2),
                             "btf-module: ERROR: dkms.conf: is not a dkms.conf\nTry 'btf-module --help'.\n")

    def test_syntax_of_dkms_conf(self):
        """Commands before a syntax error have no effect: the list of modules would be incomplete."""
        before = self.read('x.ko')
        self.write('dkms.conf', 'BUILT_MODULE_NAME[0]=x\nif then\nBUILT_MODULE_NAME[1]=y\n')
        said = self.btf('--build=build', '--dkms=dkms.conf', status=2)
        self.assertRegex(said, 'dkms.conf: line 2: syntax error')
        self.assertRegex(said, '\nbtf-module: ERROR: dkms.conf: is not a dkms.conf\n')
        self.assertEqual(self.read('x.ko'), before)

    def test_names_in_dkms_conf(self):
        """Environment variables do not name modules. As with dkms, an empty name stands for the package's name."""
        environment = {'PACKAGE_NAME': 'other', 'BUILT_MODULE_NAME': 'other', 'BUILT_MODULE_LOCATION': 'other'}
        self.write('dkms.conf', 'echo x\n')
        self.assertIn('is not a dkms.conf', self.btf('--build=build', '--dkms=dkms.conf', status=2, **environment))
        for text in 'PACKAGE_NAME=x\n', 'PACKAGE_NAME=x\nBUILT_MODULE_NAME[0]=""\n':
            self.module('x.ko')
            self.write('dkms.conf', text)
            self.btf('--build=build', '--dkms=dkms.conf', **environment)
            self.assertIn('.BTF', self.section_names('x.ko'))

    def test_variables_of_dkms(self):
        """The dkms.conf of lttng-modules names some modules only if the kernel's configuration has an option."""
        self.write('build/.config', 'CONFIG_NET=y\n')
        self.write('dkms.conf', 'PACKAGE_NAME=other\n. $kernel_source_dir/.config\n'
                   f'[ "$CONFIG_NET/$arch/$kernelver" != y/{os.uname().machine}/6.12 ] || BUILT_MODULE_NAME[0]=x\n')
        self.btf('--build=build', '--kernel=6.12', '--dkms=dkms.conf')
        self.assertIn('.BTF', self.section_names('x.ko'))

    def test_running_kernel_in_dkms_conf(self):
        """As with dkms, kernelver is the running kernel if no other is given."""
        self.write('dkms.conf', 'PACKAGE_NAME=other\n[ "$kernelver" != "$(uname -r)" ] || BUILT_MODULE_NAME[0]=x\n')
        self.btf('--build=build', '--dkms=dkms.conf')
        self.assertIn('.BTF', self.section_names('x.ko'))

    def test_recipe_for_dkms(self):
        """The recipe in docs/packagers.md names the folder of the module, although dkms reads dkms.conf without
        entering that folder."""
        with open(os.path.join(ROOT, 'docs/packagers.md'), encoding='utf-8') as file:
            line = next(l for l in file if l.startswith('    MAKE[0]='))
        self.write('dkms.conf', f'PACKAGE_NAME=x\nPACKAGE_VERSION=1\n{line.strip()}\n')
        said = self.must('env', '-C', '/', 'kernelver=6.12', 'kernel_source_dir=/headers',
                         'dkms_tree=/tree', 'bash', '-c',
                         f'. {self.path("dkms.conf")}; echo "${{MAKE[0]}}"')
        self.assertIn(' M=/tree/x/1/build modules && { btf-module --kernel=6.12 ', said)

    def test_links_and_names(self):
        """The target of a symbolic link gets BTF, and the link is kept. Names may begin with a dash."""
        os.symlink('x.ko', self.path('link.ko'))
        self.btf('--build=build', 'link.ko')
        self.assertTrue(os.path.islink(self.path('link.ko')))
        self.assertIn(b'.BTF.base', self.read('x.ko'))
        self.module('-dash.ko')
        self.btf('--build=build', '--', '-dash.ko')
        self.assertIn(b'.BTF.base', self.read('-dash.ko'))

    def test_two_at_once(self):
        """Concurrent runs do not disturb each other, because each has its own copy of the module."""
        self.module('y.ko')
        self.btf('--build=build', 'x.ko')
        runs = [subprocess.Popen([SCRIPT, '-q', '--build=build', 'y.ko'], cwd=self.folder,
                                 env=self.environment({'PATH': self.search_path()})) for _ in range(3)]
        self.assertEqual([r.wait(300) for r in runs], [0, 0, 0])
        self.assertEqual(self.read('y.ko'), self.read('x.ko'))
        self.assertEqual([name for name in self.names() if name.startswith('y.ko')], ['y.ko'])

    def test_usage(self):
        for arguments in ([], ['--nonsense', 'x.ko'], ['--base=', 'x.ko'], ['--dkms=none'],
                          ['--dkms=module.c', 'x.ko']):
            said = self.btf(*arguments, status=2)
            self.assertRegex(said, "^btf-module: ERROR: .*\nTry 'btf-module --help'.\n$")
        with open(MANUAL, encoding='utf-8') as file:
            manual = file.read().replace('Fl Fl ', '--')
        documented = re.findall(r'--[a-z-]+', '\n'.join(re.findall(r'^\.It .*', manual, re.M)))
        self.assertEqual(set(re.findall(r'--[a-z-]+', self.btf('--help'))), set(documented))
        self.assertRegex(self.btf('--version'), r'^btf-module [0-9.]+.*\n$')
        os.mkdir(self.path('bin'))
        self.script('bin/btf-pahole', '#!/bin/sh\nexit 1\n')
        self.btf('--version', status=1, PATH=f'{self.path("bin")}:{os.environ["PATH"]}')


if __name__ == '__main__':
    run(__name__)
