#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the forms of debug information that compilers, linkers, objcopy and dwz make, and debug information of C++ and
Rust. Each form must give the same BTF as the plain form of the same source.

usage: forms-test.py BTF-EMIT BTF-LINES BTF-MERGE BTF-COMPARE [TEST...]
"""
import itertools
import os
import re
import shutil

from helpers.btf_reader import types
from helpers.cli_case import CliCase, run
from helpers.compilers import clangs, installed, target_of

SOURCES = {
    'shared.h': '''enum kind { ONE, TWO = -5 };
struct list { struct list *next; enum kind kind; };
union both { long l; struct { short a, b; } s; };
struct big {
    struct list list;
    union both both;
    char name[16];
    unsigned flag : 3;
    unsigned rest : 29;
    int (*call)(struct big *, const char *);
};
typedef struct big big_t;
extern int shared(big_t *b, int n);
''',
    'one.c': '''#include "shared.h"
big_t here;
static int counter = 3;
__attribute__((noinline)) int shared(big_t *b, int n) { counter++; return b->flag + n; }
int other(struct list *l) { return l->kind + counter; }
__attribute__((section(".second"))) int second(void) { return counter; }
__attribute__((section(".second"))) int third(int n) { return counter + n; } // a range list with a base
''',
    'two.c': '''#include "shared.h"
struct only_two { struct big b[2]; double d; } bees;
static inline int twice(int x) { return x * 2; }
int main(int argc, char **argv) { (void)argv; return shared(bees.b, twice(argc)); }
''',
}
CXX = '''namespace ns {
template <typename T> struct box { T v; T &get() { return v; } };
enum class color : unsigned char { red, green };
enum small : short { neg = -3 };
}
struct base { int x; };
struct derived : base {
    int &left;
    int &&right;
    int ns::box<int>::*inside;
    derived(int &n) : left(n), right(static_cast<int &&>(n)) {}
    bool operator==(const derived &other) const { return left == other.left; }
};
ns::box<long> first;
ns::color color;
_Complex double twofold;
extern "C" int plain(ns::box<int> *b, derived &d, ns::color c, ns::small s)
{
    auto closure = [&](int n) { return n + b->get(); };
    return closure(d.left) + (d == *&d) + (int)c + s;
}
'''
CLASSES = '''template <typename T> struct legal { T t; struct inner { T *p; } in; };
struct one {};
struct two {};
struct fixed {
    int a;
    static int counted;
    static const int constant = 4;
    int b;
    static legal<int> last;
};
int fixed::counted = 1;
namespace outer { int in_namespace = 1; namespace { int without_name; }
namespace inner { extern int declared; struct user { static int in_class; }; } }
int outer::inner::declared = 2, outer::inner::user::in_class = 3;
int spend() { return outer::without_name++; }
struct empties { int x; long y; [[no_unique_address]] one e; [[no_unique_address]] two f; };
struct top { int a; };
struct left : virtual top { int b; };
struct right : virtual top { int c; };
struct bottom : left, right { int d; };
int use(fixed *f, empties *e, bottom *b, legal<long>::inner *l)
{
    return f->a + fixed::counted + e->x + b->d + !l;
}
'''
# The ELF note of a kernel with link-time optimisation. With this note, btf-emit reads the units of a file as one.
NOTE_OF_LTO = '''.section .note.Linux, "a", %note
.long 6, 4, 0x101
.asciz "Linux"
.balign 4
.long 1
'''
RUST = '''#![crate_type = "lib"]
pub enum Shape { Circle(u32), Rect { w: u64, h: u64 }, Unit }
pub struct Wrap<T> { pub v: T, pub o: Option<Box<T>> }
pub struct Tuple(u8, u32, u16);
#[repr(C)]
pub union Both { pub a: u32, pub b: f32 }
#[no_mangle]
pub extern "C" fn area(s: &Shape) -> u64 {
    match s { Shape::Circle(r) => *r as u64, Shape::Rect { w, h } => w * h, Shape::Unit => 0 }
}
#[no_mangle]
pub fn wrap(w: &Wrap<u32>, t: Tuple, _u: Both, f: fn(i32) -> i32, s: &str, l: &[u8]) -> usize {
    w.v as usize + t.1 as usize + s.len() + l.len() + f(3) as usize
}
'''
COMPILERS = ['gcc', *clangs()]
CLANGXX = list(filter(target_of, (name.replace('clang', 'clang++') for name in clangs())))
CXX_COMPILERS = list(filter(target_of, ['g++', *CLANGXX]))
VERSIONS = ('-gdwarf-4', '-gdwarf-5')


class Forms(CliCase):
    def setUp(self):
        super().setUp()
        for name, text in SOURCES.items():
            self.write(name, text)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f'{program} is not installed')

    def any_of(self, compilers):
        """Returns `compilers`; skips the test if there are none."""
        return compilers or self.skipTest('none of the compilers is installed')

    def object(self, compiler, *flags, output, source='one.c'):
        self.must(compiler, '-g', '-O1', '-c', *flags, source, '-o', output)

    def program(self, *flags, output='program', compiler='gcc'):
        self.must(compiler, '-g', '-O1', '-Wl,--build-id', *flags, 'one.c', 'two.c', '-o', output)

    def said(self, *arguments, made=()):
        """Encodes one file; returns the output of -v."""
        return self.emit('-v', '--features=+global_var', *arguments, made=made)

    def same_objects(self, plain, other, reader='fast'):
        """Checks that `other`, which is `plain` in another form, gives the same BTF, and is read by `reader`."""
        for name in (plain, other):
            said = self.said('-o', name + '.btf.o', name, made=[name + '.btf.o'])
            self.assertNotIn('skipped', said)
        self.assertEqual('read by libdw' in said, reader == 'libdw', said)
        self.must(self.btf_compare, plain + '.btf.o', other + '.btf.o')
        for record in ('FUNCTION', 'VARIABLE'):
            self.assertEqual([line for line in self.lines(plain + '.btf.o') if record in line],
                             [line for line in self.lines(other + '.btf.o') if record in line])

    def merged(self, program, *flags):
        self.said('--image', *flags, '-o', program + '.objects', program, made=[program + '.objects'])
        self.must(self.btf_merge, '--features=+global_var', '--image=' + program,
                  '-o', program + '.btf', program + '.objects')
        return program + '.btf'

    def same_programs(self, plain, other, *flags):
        self.must(self.btf_compare, self.merged(plain), self.merged(other, *flags))

    def each_compiler(self):
        for compiler in COMPILERS:
            if target_of(compiler):
                for version in VERSIONS:
                    with self.subTest(compiler=compiler, version=version):
                        self.object(compiler, version, output='plain.o')
                        yield compiler, version

    # Compression.

    def test_zstd(self):
        for tool in installed('objcopy', 'llvm-objcopy-19'):
            for _compiler, _version in self.each_compiler():
                self.must(tool, '--compress-debug-sections=zstd', 'plain.o', 'packed.o')
                self.assertIn('ZSTD', self.must('readelf', '-tW', 'packed.o'))
                self.same_objects('plain.o', 'packed.o')

    def test_zstd_image(self):
        self.need('ld.lld-19', 'clang-19')
        for version in VERSIONS:
            flags = (version, '-fuse-ld=lld-19')
            self.program(*flags, output='plain', compiler='clang-19')
            self.program(*flags, '-Wl,--compress-debug-sections=zstd', output='packed',
                         compiler='clang-19')
            self.assertIn('ZSTD', self.must('readelf', '-tW', 'packed'))
            self.same_programs('plain', 'packed')

    # Versions and widths.

    def test_old_versions(self):
        self.object('gcc', '-gdwarf-4', output='plain.o')
        for version in ('2', '3'):
            self.object('gcc', '-gdwarf-' + version, '-gstrict-dwarf', output='old.o')
            self.same_objects('plain.o', 'old.o')

    def test_64_bits(self):
        for compiler, version in self.each_compiler():
            self.object(compiler, version, '-gdwarf64', output='wide.o')
            self.same_objects('plain.o', 'wide.o')

    # Units of other kinds, and other files.

    def test_type_units(self):
        for version in VERSIONS:
            self.object('gcc', version, output='plain.o')
            self.object('gcc', version, '-fdebug-types-section', output='types.o')
            self.same_objects('plain.o', 'types.o', 'libdw')
            # With compressed sections, and in a program.
            self.object('gcc', version, '-fdebug-types-section', '-gz', output='packed.o')
            self.same_objects('plain.o', 'packed.o', 'libdw')
            self.program(version, output='plain')
            self.program(version, '-fdebug-types-section', output='types')
            self.same_programs('plain', 'types')

    def test_partial_units(self):
        self.need('dwz')
        # With -flto, the abstract instances of functions are in other compile units than the code.
        for flags in (['-gdwarf-4'], ['-gdwarf-5'], ['-O2', '-flto']):
            self.program(*flags, output='plain')
            shutil.copy(self.path('plain'), self.path('small'))
            self.must('dwz', 'small')
            self.assertIn('read by libdw (partial-unit)',
                          self.said('--image', '--detached=small.btf', 'small', made=['small.btf']))
            self.same_programs('plain', 'small')

    def test_alternate_file(self):
        """An alternate file (dwz -m) whose path begins with /usr/lib/debug is also looked for below --debug-dir."""
        self.need('dwz')
        path = '/usr/lib/debug/.dwz/common.debug'
        for version in VERSIONS:
            self.program(version, output='plain')
            for name in ('small', 'small2'):
                self.program(version, output=name)
            self.must('dwz', '-m', 'common.debug', '-M', path, 'small', 'small2')
            self.bad(rf"small: \.gnu_debugaltlink: names '{path}', but no file with its build id was found",
                     '--image', '-o', 'out', 'small', same=['small'])
            os.makedirs(self.path('root/.dwz'), exist_ok=True)
            os.rename(self.path('common.debug'), self.path('root/.dwz/common.debug'))
            self.same_programs('plain', 'small', '--debug-dir=' + self.path('root'))

    def test_alternate_file_next_to_it(self):
        self.need('dwz')
        self.program(output='plain')
        for name in ('small', 'small2'):
            self.program(output=name)
        self.must('dwz', '-m', 'common.debug', '-r', 'small', 'small2')
        self.same_programs('plain', 'small')
        # An alternate file with another build ID is not used.
        self.must('objcopy', '--update-section', '.note.gnu.build-id=shared.h', 'common.debug')
        self.bad(r"small: \.gnu_debugaltlink: names 'common\.debug', but no file with its build id was found",
                 '--image', '-o', 'out', 'small')

    def test_split(self):
        for compiler, version in self.each_compiler():
            self.object(compiler, version, '-gsplit-dwarf', output='split.o')
            self.same_objects('plain.o', 'split.o')
            self.object(compiler, version, '-gsplit-dwarf', '-gz', output='packed.o')
            self.same_objects('plain.o', 'packed.o')
            # A .dwo file that is not in the compilation directory is looked for in the object's folder.
            self.object(compiler, version, '-gsplit-dwarf', '-fdebug-prefix-map=' + self.folder +
                        '=/nowhere', output='moved.o')
            self.same_objects('plain.o', 'moved.o')
            for name in ('split.dwo', 'moved.dwo', 'packed.dwo'):
                os.remove(self.path(name))
            self.assertIn('skipped 1 split-dwarf-unit', self.emit('-v', 'split.o'))
            self.bad(r'split\.o: \.debug_info: a unit is not read \(split-dwarf-unit\), so the DWARF '
                     'is not dropped', '--strip-dwarf', 'split.o', same=['split.o'])

    def test_split_by_libdw(self):
        for compiler, version in self.each_compiler():
            if compiler in ('clang', 'clang-19') and version == '-gdwarf-5':
                print(f'SKIP {compiler} {version}: libdw does not say where the ranges of a file of '
                      'split DWARF are')
                continue
            self.object(compiler, version, '-gsplit-dwarf', output='split.o')
            self.same_by_libdw('split.o')

    def test_split_in_one(self):
        for compiler in self.any_of(clangs()):
            self.object(compiler, output='plain.o')
            self.object(compiler, '-gsplit-dwarf=single', output='single.o')
            self.same_objects('plain.o', 'single.o')
            os.rename(self.path('single.o'), self.path('moved.o'))
            self.same_objects('plain.o', 'moved.o')

    def test_split_type_units(self):
        for compiler, version in self.each_compiler():
            for flags in (), ('-gz',), ('-gdwarf64',):
                self.object(compiler, version, '-gsplit-dwarf', '-fdebug-types-section', *flags,
                            output='split.o')
                self.same_objects('plain.o', 'split.o')

    def test_split_cxx_type_units(self):
        self.write('cxx.cc', CXX)
        for compiler, version in itertools.product(self.any_of(CXX_COMPILERS), VERSIONS):
            command = (compiler, '-g', '-O1', version, '-c', '-gsplit-dwarf', 'cxx.cc', '-o')
            self.must(*command, 'plain.o')
            self.must(*command, 'types.o', '-fdebug-types-section')
            self.assertNotEqual(self.read('plain.dwo'), self.read('types.dwo'))
            self.good('--features=+global_var', 'plain.o', 'types.o')
            self.must(self.btf_compare, 'plain.o', 'types.o')

    def test_split_type_units_damaged(self):
        self.need('dwp')
        self.program('-gdwarf-4', '-gsplit-dwarf', '-fdebug-types-section', output='split')
        self.must('dwp', '-e', 'split', '-o', 'split.dwp')
        self.must('objcopy', '--dump-section', '.debug_tu_index=index', 'split.dwp')
        index = self.read('index')
        self.write('whole', index)
        slots = int.from_bytes(index[12:16], 'little')
        columns = int.from_bytes(index[4:8], 'little')
        row = 16 + slots * 12 + columns * 4 # the first row of offsets, after the row of section numbers
        for value, why in ((0xfffffff0, r'\.debug_tu_index: names a unit beyond the end of its section'),
                           (1, r'\.debug_info\+0x[0-9a-f]+: .*')):
            self.write('index', index[:row] + value.to_bytes(4, 'little') + index[row + 4:])
            self.must('objcopy', '--update-section', '.debug_tu_index=index', 'split.dwp')
            self.bad(r'\S*split\.dwp: ' + why, '--image', '-o', 'out', 'split')
        self.must('objcopy', '--dump-section', '.debug_types.dwo=types', 'split.dwp')
        units = self.read('types')
        self.write('types', len(units).to_bytes(4, 'little') + units[4:-4] + bytes(8)) # its first unit covers all of it
        self.must('objcopy', '--update-section', '.debug_types.dwo=types',
                  '--update-section', '.debug_tu_index=whole', 'split.dwp')
        self.bad(r'\S*split\.dwp: \.debug_info\+0x[0-9a-f]+: a unit begins here, inside the unit that '
                 'ends at 0x[0-9a-f]+', '--image', '-o', 'out', 'split')
        self.write('types', units[:23] + b'\x7f' + units[24:]) # the abbreviation code of the first unit's entry
        self.must('objcopy', '--update-section', '.debug_types.dwo=types',
                  '--update-section', '.debug_tu_index=whole', 'split.dwp')
        self.bad(r'\S*split\.dwp: \.debug_info\+0x[0-9a-f]+: unit whose entry has an abbreviation '
                 'that is not in its table', '--image', '-o', 'out', 'split')
        self.must('objcopy', '--remove-section', '.debug_types.dwo', 'split.dwp')
        self.bad(r'\S*split\.dwp: \.debug_tu_index: names a unit beyond the end of its section',
                 '--image', '-o', 'out', 'split')
        # Without the type units and their index, references to these types become void, with a message.
        self.must('objcopy', '--remove-section', '.debug_tu_index', 'split.dwp')
        self.assertIn('type-unit-references are not read, so types are void',
                      self.emit('--image', '--detached=out', 'split', made=['out']))

    def test_split_and_lto_note(self):
        """Units of several .dwo files are not read as one, even with the note of link-time optimisation."""
        self.write('note.s', NOTE_OF_LTO)
        for compiler, reader in ('gcc', 'fast'), ('gcc', 'libdw'), ('clang-19', 'fast'):
            if installed(compiler):
                self.program(output='plain', compiler=compiler)
                self.program('-gsplit-dwarf', 'note.s', output='split', compiler=compiler)
                self.same_programs('plain', 'split', '--reader=' + reader)

    def test_split_unit_of_two_skeletons(self):
        """With the LTO note, the units of one .dwo file are read as one. A unit with two skeletons is read once."""
        self.write('note.s', NOTE_OF_LTO)
        for version, flags in itertools.product(VERSIONS, ((), ('-fdebug-types-section',))):
            self.object('gcc', version, '-gsplit-dwarf', *flags, source='two.c', output='two.o')
            self.must('objcopy', '--weaken', 'two.o', 'again.o')
            program = ('gcc', '-g', '-O1', version, '-Wl,--build-id', 'one.c', 'two.o')
            self.must(*program, '-o', 'plain')
            self.must(*program, 'again.o', 'note.s', '-o', 'split')
            self.same_programs('plain', 'split')

    def test_split_program(self):
        # GNU's dwp does not support DWARF 5, and llvm-dwp hangs on gcc's files.
        tools = installed('dwp', 'llvm-dwp-19')
        for compiler, version, *flags in itertools.product(COMPILERS, VERSIONS, (
                '-gsplit-dwarf', '-fdebug-types-section')):
            with self.subTest(compiler=compiler, version=version, flags=flags):
                self.program(version, output='plain', compiler=compiler)
                self.program(version, '-gsplit-dwarf', *flags, output='split', compiler=compiler)
                self.same_programs('plain', 'split')
                tool = 'dwp' if version == '-gdwarf-4' else 'llvm-dwp-19'
                if tool in tools and (tool, compiler) != ('llvm-dwp-19', 'gcc'):
                    self.package(tool)
                for name in self.names():
                    if name.endswith('.dwo'):
                        os.remove(self.path(name))

    def package(self, tool):
        """Puts all .dwo files into one .dwp file, renames the .dwo files, and checks that the BTF stays the same."""
        self.must(tool, '-e', 'split', '-o', 'split.dwp')
        dwo = [name for name in self.names() if name.endswith('.dwo')]
        for name in dwo:
            os.rename(self.path(name), self.path(name + '.away'))
        self.same_programs('plain', 'split')
        for name in dwo:
            os.rename(self.path(name + '.away'), self.path(name))
        os.remove(self.path('split.dwp'))

    # C++ and Rust. Names that BTF does not allow never make a merge fail.

    def merged_names(self, source):
        """Encodes and merges an object with names that BTF does not allow. Returns the BTF of the encoded object as
        text, and what btf-emit says."""
        said = self.said('--address-pool', '-o', 'emitted.o', source, made=['emitted.o'])
        self.must(self.btf_merge, '--features=+global_var', '-o', 'all.btf', 'emitted.o')
        self.assertIn('name-made-legal', said)
        return '\n'.join(self.lines('emitted.o')), said

    def test_cxx(self):
        self.write('cxx.cc', CXX)
        for compiler, version in itertools.product(self.any_of(CXX_COMPILERS), VERSIONS):
            with self.subTest(compiler=compiler, version=version):
                self.must(compiler, '-g', '-O1', version, '-c', 'cxx.cc', '-o', 'cxx.o')
                lines, said = self.merged_names('cxx.o')
                self.assertRegex(lines, r'STRUCT box_long(_int)?_ size 8; long(_int| int)? v@0')
                self.assertIn('ENUM color size 1', lines)
                self.assertIn('reference-as-pointer', said)
                self.same_by_libdw('cxx.o')

    def test_cxx_classes(self):
        """Classes that kernels would refuse do not make a merge fail, whichever compiler wrote them."""
        self.write('classes.cc', CLASSES)
        for compiler, version, *flags in itertools.product(
                self.any_of(CXX_COMPILERS), ('-gdwarf-2', *VERSIONS),
                ('-O1', '-fdebug-types-section', '-gsplit-dwarf')):
            if (version, flags) == ('-gdwarf-2', ['-fdebug-types-section']):
                continue # test_type_units_of_old_versions tests clang's type units of DWARF 2
            with self.subTest(compiler=compiler, version=version, flags=flags):
                self.must(compiler, '-g', '-std=c++20', version, *flags, '-c', 'classes.cc',
                          '-o', 'classes.o')
                lines, said = self.merged_names('classes.o')
                self.assertRegex(lines, r'STRUCT fixed size 8; int a@0; int b@32\n')
                self.assertEqual(sorted(re.findall(r'VAR (\w+): int', lines)),
                                 ['counted', 'declared', 'in_class', 'in_namespace', 'without_name'])
                self.assertRegex(lines, r'STRUCT empties size 16; int x@0; struct one e@0; .*'
                                        r'long( int)? y@64\n')
                self.assertNotIn('member-location', said)
                if flags == ['-O1']:
                    self.same_by_libdw('classes.o')

    def test_type_units_of_old_versions(self):
        """btf-emit refuses clang's type units of DWARF 2 and 3, which neither libdw nor debuggers read."""
        self.write('classes.cc', CLASSES)
        for compiler, version in itertools.product(self.any_of(CLANGXX), ('-gdwarf-2', '-gdwarf-3')):
            self.must(compiler, '-g', '-std=c++20', version, '-fdebug-types-section', '-c', 'classes.cc',
                      '-o', 'classes.o')
            self.bad(r'classes\.o: \.debug_types\+0x0: cannot read a unit: invalid DWARF version',
                     'classes.o')

    def test_cxx_declared_member(self):
        """clang only declares a class whose vtable is in another object. A member of such a class is left out."""
        self.write('member.cc', '''struct home { int t; virtual void far(); };
struct user { int a; home h; const home two[2]; home *p; };
int use(user *u) { return u->a; }
home given, several[3];
home give(home h, home (*a)[4]) { return given.t > h.t ? given : (*a)[1]; }
''')
        for compiler in self.any_of(CLANGXX):
            self.must(compiler, '-g', '-O1', '-c', 'member.cc', '-o', 'member.o')
            self.assertRegex(self.emit('-o', 'emitted.o', 'member.o', made=['emitted.o']),
                             r"'user': member 'h' is left out, as BTF cannot express a member whose "
                             r'type is only declared \(and 1 more\)')
            self.must(self.btf_merge, '-o', 'all.btf', 'emitted.o')
            self.assertRegex('\n'.join(self.lines('emitted.o')),
                             r'STRUCT user size 64; int a@0; \*\S+ home p@448')

    def test_cxx_declared_parameter(self):
        """Kernels refuse prototypes with types that are only declared. A pointer to such a prototype becomes void *."""
        self.write('param.cc', '''struct far;
void (*given)(far, int);
struct user { void (*take)(far); far (*give)(int); int last; } u;
int use(user *v) { return v->last; }
''')
        for compiler in self.any_of(CXX_COMPILERS):
            self.must(compiler, '-g', '-c', 'param.cc', '-o', 'param.o')
            self.good('--features=+global_var', 'param.o')
            self.must(self.btf_merge, '--features=+global_var', '-o', 'all.btf', 'param.o')
            self.assertRegex('\n'.join(self.lines('param.o')),
                             r'STRUCT user size 24; \*void take@0; \*void give@64; int last@128')

    def test_cxx_declared_member_elsewhere(self):
        """Each function takes struct user as its own object describes it: home.o with member h, other.o without it."""
        struct = '''struct home { int t; virtual void far(); };
struct user { int a; home h; long z; };
struct outer { user u; user *p; };
'''
        self.write('home.cc', struct + '''void home::far() { t++; }
extern "C" int full(user *u, outer *o) { return u->h.t + (o != nullptr); }
''')
        self.write('other.cc', struct + '''extern "C" int full(user *, outer *);
extern "C" int lean(user *u, outer *o) { return u->a + o->u.a; }
extern "C" int start(outer *o) { return lean(o->p, o) + full(o->p, o); }
''')
        for compiler in self.any_of(CLANGXX):
            for name in 'home', 'other':
                self.must(compiler, '-g', '-O1', '-c', name + '.cc', '-o', name + '.o')
            self.emit('--address-pool', 'home.o', 'other.o')
            for dedup, order in itertools.product(('hash', 'libbpf'), (1, -1)):
                self.must(self.btf_merge, '--dedup=' + dedup, '-o', 'all.btf',
                          *['home.o', 'other.o'][::order])
                self.assertEqual(self.members_by_function('all.btf'), {
                    'full': [['a', 'h', 'z'], ['u', 'p']], 'lean': [['a', 'z'], ['u', 'p']],
                    'start': [['u', 'p']]})

    def members_by_function(self, name):
        """Returns, by function name, the names of the members of each struct to which a parameter points."""
        all_types = [None, *types(self.read(name))]
        blob = self.read(name)
        header, strings = (int.from_bytes(blob[at:at + 4], 'little') for at in (4, 16))

        def text(offset):
            begin = header + strings + offset
            return blob[begin:blob.index(b'\0', begin)].decode()

        def members(pointer):
            return [text(word) for word in all_types[all_types[pointer][2]][3][::3]]
        return {function: [members(word) for word in all_types[prototype][3][1::2]]
                for kind, function, prototype, _ in all_types[1:] if kind == 'FUNC'}

    def test_module_of_two_languages(self):
        """Merges a module over a base. Like NVIDIA's modeset module, it has C code, and C++ code with references."""
        self.need('g++')
        self.write('cxx.cc', CXX)
        self.must('g++', '-g', '-O1', '-fno-exceptions', '-c', 'cxx.cc', '-o', 'cxx.o')
        for name in ('one', 'two'):
            self.object('gcc', source=name + '.c', output=name + '.o')
        self.good('--address-pool', '--features=+global_var', 'one.o', 'two.o', 'cxx.o')
        self.must(self.btf_merge, '--features=+global_var', '-o', 'base.btf', 'one.o')
        self.must('ld', '-r', '-o', 'module.ko', 'two.o', 'cxx.o')
        self.must(self.btf_merge, '--base=base.btf', '--update=module.ko', 'module.ko')
        self.must(self.btf_merge, '--base=base.btf', '--check=module.ko')

    def test_cxx_type_units(self):
        self.write('cxx.cc', CXX)
        # A type to which no other entry refers.
        self.write('lone.cc', 'struct lone { enum { limit = 4 }; static int f(); };\n'
                   'int lone::f() { return limit; }\n')
        for compiler, version in itertools.product(self.any_of(CXX_COMPILERS), VERSIONS):
            for flags, name in ((), 'plain'), (('-fdebug-types-section',), 'types'):
                for source in 'cxx', 'lone':
                    self.must(compiler, '-g', '-O1', version, *flags, '-c', source + '.cc',
                              '-o', f'{source}-{name}.o')
                self.good('--features=+global_var', f'cxx-{name}.o', f'lone-{name}.o')
                self.assertIn('STRUCT lone size 1', self.lines(f'lone-{name}.o'))
            self.must(self.btf_compare, 'cxx-plain.o', 'cxx-types.o')
            self.assertIn('cxx-types.o: units: 1\n', self.emit('--dry-run', '--stats', 'cxx-types.o'))

    def test_rust(self):
        self.need('rustc')
        self.write('lib.rs', RUST)
        for version in ('4', '5'):
            done = self.call('rustc', '-g', '--emit=obj', '-Cdwarf-version=' + version, 'lib.rs',
                             '-o', 'rust.o')
            if done.returncode:
                print(f'SKIP DWARF {version}: rustc does not make it')
                self.must('rustc', '-g', '--emit=obj', 'lib.rs', '-o', 'rust.o')
            lines, _said = self.merged_names('rust.o')
            self.assertIn('STRUCT Wrap_u32_ size 16', lines)
            self.assertIn('FUNC area: u64 (*struct', lines)
            self.same_by_libdw('rust.o')
            self.assertIn('excluded-language', self.emit('-v', '--lang-exclude=rust', 'rust.o'))

    def same_by_libdw(self, name):
        for reader in ('fast', 'libdw'):
            self.good('--reader=' + reader, '--address-pool', '-o', reader + '.o', name, made=[reader + '.o'])
        self.assertEqual(self.read('fast.o'), self.read('libdw.o'))

    # Debug information in a separate file.

    def stripped(self):
        """Makes `plain`; `bare`, the same without debug information; and bare.debug, which has that information."""
        self.program(output='plain')
        self.must('objcopy', '--only-keep-debug', 'plain', 'bare.debug')
        self.must('objcopy', '--strip-debug', 'plain', 'bare')

    def nothing_in(self, name):
        self.assertIn('has nothing for BTF', self.said('--image', '--detached=none.btf', name, made=['none.btf']))
        os.remove(self.path('none.btf'))

    def test_debug_link(self):
        self.stripped()
        self.nothing_in('bare')
        self.must('objcopy', '--add-gnu-debuglink=bare.debug', 'bare')
        self.same_programs('plain', 'bare')
        os.mkdir(self.path('.debug'))
        os.rename(self.path('bare.debug'), self.path('.debug/bare.debug'))
        self.same_programs('plain', 'bare')
        self.write('.debug/bare.debug', self.read('.debug/bare.debug') + b'\0')  # `bare` names another checksum
        self.nothing_in('bare')

    def test_build_id(self):
        self.stripped()
        build_id = self.must('readelf', '-n', 'bare').split('Build ID: ')[1].split()[0]
        folder = f'root/.build-id/{build_id[:2]}'
        os.makedirs(self.path(folder))
        name = f'{folder}/{build_id[2:]}.debug'
        os.rename(self.path('bare.debug'), self.path(name))
        flag = '--debug-dir=' + self.path('root')
        self.assertIn(f'; DWARF of {self.path(name)}',
                      self.said(flag, '--image', '--detached=out.btf', 'bare', made=['out.btf']))
        self.same_programs('plain', 'bare', flag)
        for file in 'bare', name: # a kernel has all its notes in section .notes
            self.must('objcopy', '--rename-section', '.note.gnu.build-id=.notes', file)
        self.same_programs('plain', 'bare', flag)


if __name__ == '__main__':
    installed('g++', *(name.replace('clang', 'clang++') for name in clangs() or ['clang'])) # prints what is missing
    run(__name__, Forms, ('btf_emit', 'btf_lines', 'btf_merge', 'btf_compare'))
