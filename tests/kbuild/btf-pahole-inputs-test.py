#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the inputs of btf-pahole: a vmlinux and modules with object BTF in all of their objects, in some, or in none;
files that btf-pahole has encoded before; files that are missing, truncated, not ELF, or have wrong hashes.

usage: btf-pahole-inputs-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import itertools
import os
import re
import shutil
import stat
import struct

from helpers.inputs_case import InputsCase, KERNEL, MODULE, PER_CPU, VARIABLES
from helpers.kbuild_case import Elf, KbuildCase, run

# Like a kernel's linker script, defines symbols in .BTF. Because of the symbols, lld makes the section even if it is
# empty.
BTF_SYMBOLS = '''SECTIONS {
  .BTF : AT(ADDR(.BTF)) { PROVIDE(__start_BTF = .); KEEP(*(.BTF)) PROVIDE(__stop_BTF = .); }
} INSERT AFTER .rodata;
'''
DISCARD = 'SECTIONS { /DISCARD/ : { *(.gone) } }'


class Programs(InputsCase):
    def reference(self):
        """Makes the file `want`: the BTF of KERNEL from DWARF alone. Checks that `want` has the expected names."""
        self.link('plain', *self.objects(KERNEL, ()))
        self.encode(VARIABLES, '--btf_encode_detached=want', 'plain')
        text = '\n'.join(self.dump('want'))
        for name in ("FUNC 'main'", "FUNC 'schedule'", "FUNC 'print'", "VAR 'first'",
                     "VAR 'state_of'", "VAR 'global_count'", "VAR 'console'", "ENUM 'state'",
                     "DATASEC '.data..percpu'"):
            self.assertIn(name, text)

    def test_all_ways_to_mix(self):
        """The result has the same meaning whichever objects have object BTF, and whatever Kbuild names the image."""
        self.reference()
        some = {'start', 'sched'}
        for with_btf, image in (*((subset, 'vmlinux') for subset in self.subsets(KERNEL)),
                                (some, '.tmp_vmlinux1'), (some, 'vmlinux.unstripped')):
            with self.subTest(with_btf=with_btf, image=image):
                self.kernel(with_btf, image=image)
                self.encode(VARIABLES, '-j2', image)
                self.same_meaning(image, 'want')
                self.final(image)

    def test_sources_of_one_name(self):
        """Object BTF without DWARF does not hide the DWARF of another source of the same name."""
        self.write('main.c', 'int main(void) { return 0; }\n')
        self.must('gcc', '-c', 'main.c')
        for option in ('--strip-dwarf', '--plugin', None):
            with self.subTest(option):
                self.write('t.c', 'struct first { int a; };\nint one(struct first *p) { return p->a; }\n')
                options = [option] if option else []
                done = self.cc(*options, 'gcc', '-g', '-O2', '-c', 't.c', '-o', 'first.o',
                               settings={'BTF_CC_FEATURES': self.features})
                if option == '--plugin' and b'no plugin' in done[2]:
                    self.skipTest('there is no plugin for gcc')
                self.assertEqual(done, (0, b'', b''))
                if not option:
                    self.must('strip', '--strip-debug', 'first.o')
                self.write('t.c', 'struct second { int a; };\nint two(struct second *p) { return p->a; }\n')
                self.must('gcc', '-g', '-O2', '-c', 't.c', '-o', 'second.o')
                self.must('ld', '-r', '-o', 'vmlinux.o', 'main.o', 'first.o', 'second.o')
                self.link('vmlinux', 'main.o', 'first.o', 'second.o')
                self.must('ld', '-r', '-o', 'm.ko', 'first.o', 'second.o')
                for name in ('vmlinux', 'm.ko'):
                    self.encode(VARIABLES, name)
                    text = '\n'.join(self.dump(name))
                    for item in ("STRUCT 'first'", "STRUCT 'second'", "FUNC 'one'", "FUNC 'two'"):
                        self.assertIn(item, text, name)

    def test_stripped(self):
        """The objects with BTF have no DWARF."""
        self.reference()
        for with_btf in self.subsets(KERNEL):
            with self.subTest(with_btf=with_btf):
                self.kernel(with_btf, strip=True)
                self.encode(VARIABLES, 'vmlinux')
                self.same_meaning('vmlinux', 'want')

    def test_again(self):
        self.kernel({'start', 'sched'})
        self.encode(VARIABLES, 'vmlinux')
        once = self.read('vmlinux')
        self.encode(VARIABLES, 'vmlinux')
        self.assertEqual(self.read('vmlinux'), once)
        os.utime(self.path('vmlinux'), (1, 1))
        self.encode(VARIABLES, '--btf_encode_detached=out', 'vmlinux')
        self.assertEqual(self.read('out'), self.section('vmlinux').data)
        self.assertEqual(self.read('vmlinux'), once)
        self.assertEqual(os.stat(self.path('vmlinux')).st_mtime, 1) # the file was not changed

    def test_lld(self):
        """Two peculiarities of lld: relocations for symbols of a section that `ld.lld -r` discarded, and an empty .BTF
        if a linker script defines symbols in .BTF."""
        if not shutil.which('ld.lld'):
            self.skipTest('ld.lld: not installed')
        gone = '__attribute__((section(".gone"), used)) static struct gone { int no; } gone;\n'
        use = 'extern char __start_BTF[], __stop_BTF[]; long size(void);\n' \
              'long size(void) { return __stop_BTF - __start_BTF; }\n'
        objects = self.objects(KERNEL | {'sched': KERNEL['sched'] + gone, 'size': use}, KERNEL)
        self.write('percpu.lds', PER_CPU)
        self.write('discard.lds', DISCARD)
        self.write('btf.lds', BTF_SYMBOLS)
        self.must('ld.lld', '-r', '-T', 'discard.lds', '-o', 'vmlinux.o', *objects)
        self.must('gcc', '-fuse-ld=lld', '-no-pie', '-Wl,-T,percpu.lds', '-Wl,-T,btf.lds',
                  'vmlinux.o', '-o', 'vmlinux')
        empty = [s for s in Elf(self.path('vmlinux')).sections if s.name == '.BTF']
        self.assertEqual([s.size for s in empty], [0])
        self.encode(VARIABLES, '--btf_encode_detached=detached', 'vmlinux')
        for _ in range(2):
            self.encode(VARIABLES, 'vmlinux')
            self.assertEqual([s.size > 0 for s in Elf(self.path('vmlinux')).sections
                              if s.name == '.BTF'], [True])
            self.assertEqual(self.section('vmlinux').data, self.read('detached'))
        text = '\n'.join(self.dump('vmlinux'))
        self.assertIn("VAR 'console'", text)
        self.assertNotIn("VAR 'gone'", text)

    def test_late_objects(self):
        """Two of the inputs are objects that Kbuild compiles after the link of vmlinux.o."""
        self.reference()
        os.mkdir(self.path('init'))
        for with_btf in self.subsets(KERNEL):
            # If start.o has no object BTF, vmlinux is encoded from its DWARF.
            objects = self.objects(KERNEL, with_btf, strip='start' in with_btf)
            self.link('.tmp_vmlinux1', *objects)
            self.must('ld', '-r', '-o', 'vmlinux.o', 'start.o')
            os.rename(self.path('sched.o'), self.path('.vmlinux.export.o'))
            os.rename(self.path('print.o'), self.path('init/version-timestamp.o'))
            self.encode(VARIABLES, '.tmp_vmlinux1')
            self.same_meaning('.tmp_vmlinux1', 'want')

    def test_in_another_folder(self):
        self.reference()
        os.mkdir(self.path('out put'))
        self.kernel(KERNEL, strip=True)
        for name in ('vmlinux', 'vmlinux.o'):
            os.rename(self.path(name), self.path('out put/' + name))
        self.encode(VARIABLES, 'out put/vmlinux')
        self.same_meaning('out put/vmlinux', 'want')
        self.encode(VARIABLES, self.path('out put/vmlinux'))
        self.same_meaning('out put/vmlinux', 'want')

    def test_stale_vmlinux_o(self):
        """vmlinux.o has one object that is newer than vmlinux. This object is left out with a warning. The
        older version of the object is encoded from the DWARF of vmlinux."""
        self.reference()
        for name in ('start', 'sched', 'print'):
            self.kernel(KERNEL)
            self.write(name + '.c', KERNEL[name] + 'int added;\n')
            self.must(self.btf_cc, 'gcc', '-g', '-O2', '-fno-pie', '-c', name + '.c')
            self.must('ld', '-r', '-o', 'vmlinux.o', *(n + '.o' for n in KERNEL))
            status, out, error = self.pahole('-J', VARIABLES, 'vmlinux')
            self.assertEqual((status, out), (0, ''))
            self.assertRegex(error, 'WARNING: 1 object is not in vmlinux and left out')
            self.same_meaning('vmlinux', 'want')

    def test_vmlinux_of_other_objects(self):
        """All objects of vmlinux.o are newer than vmlinux, which has no DWARF, so there is nothing to encode. For a
        vmlinux this is an error."""
        self.kernel(KERNEL, strip=True)
        for name in KERNEL:
            self.write(name + '.c', KERNEL[name] + f'int added_{name};\n')
            self.must(self.btf_cc, '--strip-dwarf', 'gcc', '-g', '-O2', '-fno-pie', '-c', name + '.c')
        self.must('ld', '-r', '-o', 'vmlinux.o', *(n + '.o' for n in KERNEL))
        before = self.read('vmlinux')
        self.write('old.btf', 'of an earlier run')
        for options in ((), ('-V',), ('--btf_encode_detached=old.btf',)):
            with self.subTest(options=options):
                status, _, error = self.pahole('-J', *options, 'vmlinux')
                self.assertEqual(status, 1)
                self.assertIn('WARNING: 3 objects are not in vmlinux and left out', error)
                self.assertIn('ERROR: vmlinux: its objects give it no BTF, but it is a vmlinux', error)
                self.assertEqual(self.read('vmlinux'), before)
        self.assertNotIn('old.btf', self.names())

    def test_image_without_pools(self):
        """vmlinux has no address pools, so addresses come from symbols. Object BTF is used nevertheless."""
        self.reference()
        for with_btf in self.subsets(KERNEL)[1:]:
            with self.subTest(with_btf=with_btf):
                self.kernel(with_btf, strip=True, more=['-gdwarf-4'])
                self.must('objcopy', '--remove-section=.debug', 'vmlinux')
                status, out, error = self.pahole('-J', VARIABLES, 'vmlinux')
                self.assertEqual((status, out), (0, ''))
                self.assertNotIn('left out', error)
                self.same_meaning('vmlinux', 'want')

    def test_different_features(self):
        """Objects that were emitted with different features cause a warning."""
        self.kernel(KERNEL)
        self.must(self.btf_emit, '--features=var', '--address-pool', 'sched.o')
        objects = [name + '.o' for name in KERNEL]
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        self.link('vmlinux', *objects)
        status, out, error = self.pahole('-J', VARIABLES, 'vmlinux')
        self.assertEqual((status, out), (0, ''))
        self.assertRegex(error, r'^btf-pahole: WARNING: 1 object was emitted .*\(sched\.c\)\n$')

    def test_messages_about_a_copy_in_memory(self):
        """The object BTF that the module lacks is added to a copy in memory. Messages name the module, not the copy."""
        for name in ('sched', 'print'):
            self.write(name + '.c', KERNEL[name])
            self.must('gcc', '-g', '-c', name + '.c')
        self.must(self.btf_emit, '--address-pool', '--features=var,float', 'sched.o')
        self.must('ld', '-r', '-o', 'm.ko', 'sched.o', 'print.o')
        status, out, error = self.pahole('-J', '--btf_features=var', 'm.ko')
        self.assertEqual((status, out), (0, ''))
        self.assertRegex(error, r'WARNING: 1 object was emitted with float .*: m\.ko: \.BTF\+0x0 \(sched\.c\)\n')
        self.assertNotIn('/proc/', error)

    def test_dwarf_without_types(self):
        self.write('asm.S', '.globl _start\n_start: nop\n')
        self.must('gcc', '-g', '-nostdlib', 'asm.S', '-o', 'prog')
        self.must('gcc', '-g', '-c', 'asm.S', '-o', 'asm.ko')
        for name in ('prog', 'asm.ko'):
            status, out, error = self.pahole('-J', name)
            self.assertEqual((status, out), (0, ''), error)

    def test_no_file(self):
        self.refuse('missing: .*No such file or directory', '-J', 'missing')
        self.refuse('no/missing.ko: .*No such file or directory', '-J', 'no/missing.ko')
        self.refuse('.*', '-J', '')
        self.refuse(r'\.: .+', '-J', '.')

    def test_not_elf(self):
        self.write('text', 'no program at all\n' * 50)
        self.write('short', b'\x7fELF')
        self.write('magic', b'\x7fELF' + b'\0' * 500)
        self.compile('add.c')
        self.must('ar', 'rcs', 'lib.a', 'add.o')
        for name in ('text', 'short', 'magic', 'lib.a'):
            for link in (name, 'vmlinux', 'x.ko'):
                if link != name:
                    shutil.copy(self.path(name), self.path(link))
                self.refuse(link + '.*: .+', '-J', link, same=[link])

    def test_truncated(self):
        self.kernel(KERNEL)
        self.module(MODULE)
        for name, cut in (('vmlinux', 'vmlinux'), ('card.ko', 'cut.ko')):
            whole = self.read(name)
            for size in range(1, len(whole), max(97, len(whole) // 40)):
                self.write(cut, whole[:size])
                self.refuse(cut + '.*: .+', '-J', cut, same=[cut])
        whole = self.read('vmlinux.o')
        self.kernel(KERNEL)
        for size in range(1, len(whole), max(97, len(whole) // 20)):
            self.write('vmlinux.o', whole[:size])
            self.refuse('vmlinux.o.*: .+', '-J', 'vmlinux', same=['vmlinux', 'vmlinux.o'])


class TrueSignatures(InputsCase):
    """Tests the feature true_signature. gcc makes a clone of turn() without the parameter `unused`."""
    features = '+global_var,true_signature'
    asked = '--btf_features=' + features
    turn = '''struct angle { int by; };
static struct angle here = { 3 };
static int count[8];
static __attribute__((noinline)) int turn(int unused, int at, struct angle a) { return count[at & 7] * a.by; }
int turn_both(int x) { count[x & 7] = x; return turn(3, x, here) + turn(x, 4, here); }
'''

    def functions(self, *names):
        """Returns (name, names of the parameters) of each FUNC turn*. The suffix of a clone is cut down to its number:
        turn.isra.0 becomes turn.0."""
        parts, found = {}, []
        for line in self.dump(*names):
            if line.startswith('['):
                head, name = line.split()[0][1:-1], line.split("'")[1]
                parts[head] = []
            elif "'" in line:
                parts[head].append(line.split("'")[1])
            if line.startswith(f"[{head}] FUNC 'turn"):
                proto = line.split('type_id=')[1].split()[0]
                found.append((re.sub(r'\.(isra|constprop)', '', name), parts.get(proto)))
        return found

    def test_all_ways_to_mix(self):
        sources = KERNEL | {'turn': self.turn}
        self.link('plain', *self.objects(sources, ()))
        self.encode(self.asked, '--btf_encode_detached=want', 'plain')
        self.assertIn(('turn.0', ['at', 'a']), self.functions('want'))
        for with_btf in self.subsets(('sched', 'turn')):
            with self.subTest(with_btf=with_btf):
                objects = self.objects(sources, with_btf)
                self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
                self.link('vmlinux', *objects)
                self.encode(self.asked, '--btf_encode_detached=out', 'vmlinux')
                self.same_meaning('out', 'want')
                self.encode(VARIABLES, 'vmlinux')
                self.assertNotIn('turn.', str(self.functions('vmlinux')))

    def test_objects_without(self):
        """The link asks for true_signature, which the objects lack. There is a warning, and the clone is left out."""
        self.features = '+global_var'
        objects = self.objects(KERNEL | {'turn': self.turn}, KERNEL | {'turn': ''})
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        self.link('vmlinux', *objects)
        status, out, error = self.pahole('-J', self.asked, 'vmlinux')
        self.assertEqual((status, out), (0, ''))
        self.assertRegex(error, '^btf-pahole: WARNING: objects were emitted without true_signature, .*: functions '
                         'whose parameters were changed are left out\n$')
        self.assertEqual(self.functions('vmlinux'), [('turn_both', ['x'])])

    def test_module(self):
        """The clone is found as in vmlinux. pahole takes a clone in a module for the function itself."""
        self.kernel(KERNEL)
        self.encode(self.asked, 'vmlinux')
        for with_btf in ((), ('turn',)):
            self.objects({'turn': self.turn}, with_btf)
            self.must('ld', '-r', '-o', 'turn.ko', 'turn.o')
            self.encode(self.asked, '--btf_base', 'vmlinux', 'turn.ko')
            self.assertIn(('turn.0', ['at', 'a']), self.functions('turn.ko', 'vmlinux'))


class Modules(InputsCase):
    def setUp(self):
        super().setUp()
        self.kernel(KERNEL)
        self.encode(VARIABLES, 'vmlinux')
        os.rename(self.path('vmlinux'), self.path('base'))
        os.remove(self.path('vmlinux.o'))

    def reference(self):
        self.module(())
        os.rename(self.path('card.ko'), self.path('plain.ko'))
        self.encode_module('plain.ko')
        text = '\n'.join(self.dump('plain.ko', 'base'))
        for name in ("FUNC 'probe'", "FUNC 'pin_of'", "STRUCT 'card'", "VAR 'uses'", "VAR 'card'",
                     "STRUCT 'module'", "ENUM 'edge'"):
            self.assertIn(name, text)
        self.assertNotIn("STRUCT 'task'", text)

    def encode_module(self, name, *more):
        self.encode('-j', VARIABLES, '--lang_exclude=rust', '--btf_base', 'base', *more, name)

    def check(self, name='card.ko'):
        self.same_meaning(name, 'plain.ko', '--base-a', 'base', '--base-b', 'base')

    def relocations(self, name):
        """Returns offset, type, symbol's name and addend of each relocation of .text. The symbol's index is left out,
        because it may change."""
        text = self.must('readelf', '-rW', name)
        text = text[text.index("'.rela.text'"):].partition('Relocation section')[0]
        words = [line.split() for line in text.splitlines() if line[:4] == '0000']
        self.assertTrue(words)
        return [(w[0], w[2], *w[4:]) for w in words]

    def test_all_ways_to_mix(self):
        self.reference()
        for with_btf, strip in itertools.product(self.subsets(MODULE), (False, True)):
            with self.subTest(with_btf=with_btf, strip=strip):
                self.module(with_btf, strip)
                before = {s.name: s for s in Elf(self.path('card.ko')).sections}
                relocated = self.relocations('card.ko')
                self.encode_module('card.ko')
                self.check()
                self.final('card.ko')
                after = {s.name: s for s in Elf(self.path('card.ko')).sections}
                for section in ('.text', '.data', '.data..percpu'):
                    self.assertEqual(after[section].data, before[section].data)
                self.assertEqual(self.relocations('card.ko'), relocated)
                self.assertLessEqual(set(after) - {'.BTF'}, set(before))

    def test_again(self):
        """The first run replaces the object BTF in the .ko. Later runs take it from the objects of the module."""
        self.reference()
        for with_btf, strip in itertools.product(self.subsets(MODULE), (False, True)):
            with self.subTest(with_btf=with_btf, strip=strip):
                self.module(with_btf, strip)
                self.encode_module('card.ko')
                once = self.section('card.ko').data
                for _ in range(2):
                    self.encode_module('card.ko')
                    self.check()
                    self.final('card.ko')
                self.assertEqual(len(self.section('card.ko').data), len(once))

    def test_again_over_another_base(self):
        """Kbuild encodes an unchanged module again after a change to vmlinux. The result is the same as for a module
        that was just linked."""
        self.module(MODULE, strip=True)
        self.encode_module('card.ko')
        now = KERNEL | {'print': KERNEL['print'] + 'int more; long long wider(void) { return more; }\n'}
        objects = self.objects(now, ())
        self.link('base', *objects)
        self.encode(VARIABLES, 'base')
        self.encode_module('card.ko')
        again = self.section('card.ko').data
        self.module(MODULE, strip=True)
        self.encode_module('card.ko')
        self.assertEqual(self.section('card.ko').data, again)

    def test_again_without_saved_command(self):
        """Without a saved command, the inputs of sub/card.ko are sub/card.o and sub/card.mod.o."""
        self.reference()
        os.mkdir(self.path('sub'))
        objects = self.module(MODULE, strip=True)
        os.remove(self.path('.card.ko.cmd'))
        self.must('ld', '-r', '-o', 'sub/card.o', *objects[:2])
        os.rename(self.path('card.mod.o'), self.path('sub/card.mod.o'))
        os.rename(self.path('card.ko'), self.path('sub/card.ko'))
        for _ in range(3):
            self.encode_module('sub/card.ko')
            self.check('sub/card.ko')

    def test_saved_commands(self):
        """The forms of saved commands in different kernels."""
        self.reference()
        os.mkdir(self.path('sub dir'))
        objects = self.module(MODULE, strip=True)
        ko = self.read('card.ko')
        for name in objects:
            shutil.copy(self.path(name), self.path('sub dir/' + name))
            os.remove(self.path(name))
        quoted = ' '.join(f"'sub dir/{name}'" for name in objects)
        flags = '-r -m elf_x86_64 --no-warn-rwx-segments -z noexecstack --build-id=sha1'
        for text in (
                f'savedcmd_card.ko := ld {flags} -T scripts/module.lds -o card.ko {quoted}\n',
                f'cmd_card.ko := ld {flags}  -T scripts/module.lds -o card.ko {quoted};  true\n'
                'source_card.ko := x.o\n\ndeps_card.ko := y.o\n',
                f'savedcmd_card.ko := ld.lld {flags} -o card.ko -T scripts/module.lds {quoted}'
                ' ; ./tools/bpf/resolve_btfids/resolve_btfids -b vmlinux other.o\n',
                f'savedcmd_card.ko:={self.path("ld.o.x")} {flags} {quoted} -o card.ko'):
            with self.subTest(text=text):
                self.write('.card.ko.cmd', text)
                self.write('card.ko', ko)
                for _ in range(2):
                    self.encode_module('card.ko')
                    self.check()

    def test_again_without_objects(self):
        """A .ko with neither DWARF nor object BTF, whose objects are gone, causes an error and is unchanged."""
        objects = self.module(MODULE, strip=True)
        self.encode_module('card.ko')
        for name in objects:
            os.remove(self.path(name))
        self.refuse('card.ko: has neither object BTF nor DWARF, but its object card.o '
                    'is gone', '-J', '--btf_base=base', 'card.ko', same=['card.ko'])

    def test_again_without_one_object(self):
        """An object is gone, so its types cannot be encoded. There is an error, and the file is unchanged."""
        objects = self.module(MODULE, strip=True)
        self.encode_module('card.ko')
        for name in objects:
            os.rename(self.path(name), self.path('away'))
            self.refuse(f'{name}: .*No such file or directory', '-J', '--btf_base=base', 'card.ko',
                        same=['card.ko'])
            os.rename(self.path('away'), self.path(name))
        self.encode_module('card.ko')

    def test_object_without_dwarf(self):
        """One object of three has neither DWARF nor object BTF. The types and functions of the others are encoded."""
        self.module(MODULE)
        self.must('gcc', '-O2', '-c', 'pins.c')
        self.must('ld', '-r', '-o', 'card.ko', 'card.o', 'pins.o', 'card.mod.o')
        for _ in range(2):
            self.encode_module('card.ko')
            text = '\n'.join(self.dump('card.ko', 'base'))
            self.assertIn("FUNC 'probe'", text)
            self.assertNotIn("FUNC 'edge_of'", text)

    def test_compressed_pools(self):
        """The address pools of a module are compressed, and one object has no object BTF."""
        self.write('many.c', ''.join(f'int many_{i}(struct many_{i} *p) {{ return !p; }}\n' for i in range(300)))
        done = self.cc('gcc', '-w', '-g', '-c', 'many.c', settings={'BTF_CC_FEATURES': self.features})
        self.assertEqual(done, (0, b'', b''))
        self.write('other.c', 'struct other { int a; };\nint other(struct other *p) { return p->a; }\n')
        self.must('gcc', '-g', '-c', 'other.c')
        for form in 'none', 'zlib', 'zlib-gnu':
            self.must('ld', '-r', '-o', 'm.ko', 'many.o', 'other.o')
            self.must('objcopy', '--compress-debug-sections=' + form, 'm.ko')
            self.encode_module('m.ko')
            text = '\n'.join(self.dump('m.ko', 'base'))
            for name in ("FUNC 'many_0'", "FUNC 'many_299'", "STRUCT 'other'", "FUNC 'other'"):
                self.assertIn(name, text, form)

    def test_detached(self):
        self.reference()
        self.module(MODULE)
        self.encode_module('card.ko', '--btf_encode_detached=card.btf')
        # Another program will add the BTF, and must not find a section `.BTF`.
        self.assertEqual(self.section_names('card.ko') & {'.BTF', '.rela.BTF'}, set())
        self.check('card.btf')

    def test_without_base(self):
        self.module(MODULE)
        self.encode(VARIABLES, 'card.ko')
        self.assertIn("STRUCT 'task'", '\n'.join(self.dump('card.ko')))

    def test_mode_and_links(self):
        self.module(MODULE)
        os.chmod(self.path('card.ko'), 0o600)
        os.symlink('card.ko', self.path('link.ko'))
        self.encode_module('link.ko')
        self.final('card.ko')
        self.assertTrue(os.path.islink(self.path('link.ko')))
        self.assertEqual(stat.S_IMODE(os.stat(self.path('card.ko')).st_mode), 0o600)


class Strict(KbuildCase):
    ENCODE = '-J', '--btf_features=default', 'add.o'
    ON = {'BTF_PAHOLE_STRICT': '1'}

    def setUp(self):
        super().setUp()
        self.compile()
        self.must(self.btf_emit, '--address-pool', 'add.o')

    def lie(self):
        """Changes the hash of a type in add.o."""
        whole, btf = self.read('add.o'), self.section('add.o').data
        trailer = btf.index(b'BTFL')
        hashes, = struct.unpack_from('<I', btf, trailer + 40)
        at = whole.index(btf) + trailer + hashes
        with open(self.path('add.o'), 'r+b') as file:
            file.seek(at)
            file.write(bytes([whole[at] ^ 1]))

    def test_true_hash(self):
        self.assertEqual(self.pahole(*self.ENCODE, settings=self.ON), (0, '', ''))

    def test_lying_hash(self):
        self.lie()
        self.refuse(r'add\.o: \.BTF\+0x[0-9a-f]+: stored hash of type 1 \(.+\) does not match its contents',
                    *self.ENCODE, same=['add.o'], settings=self.ON)
        self.encode(*self.ENCODE)

    def test_wrong_setting(self):
        self.refuse('BTF_PAHOLE_STRICT=yes: must be 0 or 1', '-J', 'add.o',
                    settings={'BTF_PAHOLE_STRICT': 'yes'})


if __name__ == '__main__':
    run(__name__)
