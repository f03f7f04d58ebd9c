# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Builds a small vmlinux and a small module, with object BTF in chosen objects."""
import itertools

from helpers.kbuild_case import Elf, KbuildCase

KERNEL = {
    'start': '''struct task { struct task *next; int id; };
extern int schedule(struct task *t), print(const char *text, ...);
__attribute__((section(".data..percpu"))) struct task first = { &first, 1 };
int global_count = 1;
int main(void) { print("x"); return schedule(&first); }
''',
    'sched': '''struct task { struct task *next; int id; };
enum state { RUN, WAIT };
__attribute__((section(".data..percpu"))) static enum state state_of = WAIT;
static inline int step(int n) { return n + 1; }
int schedule(struct task *t) { return t->id + step(state_of) - 3; }
''',
    'print': '''typedef __builtin_va_list va_list;
struct device { char name[8]; union { long a; void *b; }; };
static struct device console;
int print(const char *text, ...) { console.a = (long)text; return console.name[0]; }
''',
}
MODULE = {
    'card': '''struct task { struct task *next; int id; };
struct card { struct task *owner; unsigned pins : 4; };
extern int print(const char *text, ...), pin_of(struct card *c);
static struct card card;
__attribute__((section(".data..percpu"))) int uses = 1;
int probe(struct task *t) { card.owner = t; print("probe"); return pin_of(&card); }
''',
    'pins': '''struct task;
struct card { struct task *owner; unsigned pins : 4; };
enum edge { RISING, FALLING };
int pin_of(struct card *c) { return c->pins + FALLING; }
enum edge edge_of(int n) { return n ? RISING : FALLING; }
''',
    'card.mod': '''struct module { const char *name; int (*init)(void); };
struct module this_module = { "card", 0 };
''',
}
# As in vmlinux, .data..percpu is a section of its own, not part of .data.
PER_CPU = 'SECTIONS { .data..percpu : { *(.data..percpu) } } INSERT AFTER .data;'
VARIABLES = '--btf_features=+global_var'


class InputsCase(KbuildCase):
    features = '+global_var'  # of btf-cc

    def objects(self, sources, with_btf, strip=False, more=()):
        """Writes and compiles NAME.c for each NAME in `sources`. If NAME is in `with_btf`, btf-cc runs the compiler.
        Returns the objects' names."""
        for name, text in sources.items():
            self.write(name + '.c', text)
            wrapper = [self.btf_cc] if name in with_btf else []
            settings = {'BTF_CC_STRICT': '1', 'BTF_CC_FEATURES': self.features,
                        'BTF_CC_STRIP_DWARF': str(int(strip))}
            done = self.run_tool(*wrapper, 'gcc', '-g', '-O2', '-fno-pie', '-fno-common', '-c',
                                 *more, name + '.c', '-o', name + '.o', settings=settings)
            self.assertEqual((done.returncode, done.stderr), (0, b''))
        return [name + '.o' for name in sources]

    def link(self, image, *objects):
        self.write('percpu.lds', PER_CPU)
        self.must('gcc', '-no-pie', '-Wl,-T,percpu.lds', *objects, '-o', image)

    def kernel(self, with_btf, strip=False, image='vmlinux', more=()):
        """Compiles KERNEL, and links the objects into vmlinux.o, by ld -r, and into `image`."""
        objects = self.objects(KERNEL, with_btf, strip, more)
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        self.link(image, *objects)

    def module(self, with_btf, strip=False):
        objects = self.objects(MODULE, with_btf, strip)
        self.must('ld', '-r', '-o', 'card.ko', *objects)
        self.write('.card.ko.cmd', 'savedcmd_card.ko := ld -r -m elf_x86_64 -z noexecstack '
                   '--build-id=sha1 -T scripts/module.lds -o card.ko '
                   + ' '.join(objects) + ' ; :\n')
        return objects

    def subsets(self, names):
        return [set(some) for count in range(len(names) + 1)
                for some in itertools.combinations(names, count)]

    def final(self, name):
        """Checks that the file has final BTF, and no object BTF."""
        elf = Elf(self.path(name))
        self.assertEqual([(s.name, s.type) for s in elf.sections if 'BTF' in s.name], [('.BTF', 1)])
        self.assertFalse(self.has_object_btf(name))
