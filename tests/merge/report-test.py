#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-merge's messages, --stats, --time-trace, --why-dup, output to "-", and results with a layout section.

usage: report-test.py BTF-MERGE BTF-EMIT [TEST...]
"""
import json
import os
import re
import subprocess

from helpers.cli_case import CliCase, option_names, run
from helpers.compilers import installed

HERE = os.path.dirname(os.path.abspath(__file__))
MANUAL = os.path.join(HERE, '..', '..', 'merge', 'btf-merge.1')
# C sources, in which Report.object() replaces NAME. In DEEP, the macro FLAG qualifies a member of struct inner, which
# the function reaches through outer and middle.
DEEP = '''struct inner { int first; FLAG int state; int last; };
struct middle { long n; struct inner in; };
struct outer { struct middle *m; struct outer *next; };
struct apart { int x; };
int NAME(struct outer *o, struct apart *a) { return o->m->in.state + a->x; }
'''
# In CONFIG, struct device depends on the macro CONFIG_PM.
CONFIG = '''struct device {
    int id;
#ifdef CONFIG_PM
    long power[2];
    enum { ON, OFF } state;
#endif
    void (*release)(struct device *dev, const char *why);
};
struct driver { struct device *dev; };
typedef struct { struct driver *d; } handle_t;
int NAME(handle_t *h) { return h->d->dev->id; }
'''


class Report(CliCase):
    btf_merge = None  # set by run()

    def object(self, name, text, *flags):
        self.write(name + '.c', text.replace('NAME', name))
        self.must('gcc', '-g', '-c', *flags, name + '.c')
        self.must(self.btf_emit, name + '.o')
        return name + '.o'

    def merge(self, *arguments, status=0):
        done = self.call(self.btf_merge, *arguments)
        self.assertEqual(done.returncode, status, f'{arguments}: {done.stdout}{done.stderr}')
        return done

    def stats(self, *arguments):
        said = self.merge('--stats', *arguments).stderr
        return dict(re.findall(r'^([^:\n]+): ([0-9.]+)$', said, re.M))

    def three_objects(self, flag='-DFLAG=volatile'):
        return [self.object('a', DEEP, '-DFLAG='), self.object('b', DEEP, flag),
                self.object('c', DEEP, '-DFLAG=')]


class CommandLine(Report):
    def test_help_and_manual_agree(self):
        said = self.merge('--help').stdout
        with open(MANUAL, encoding='utf-8') as file:
            manual = file.read().replace('Fl Fl ', '--')
        documented = option_names(line for line in manual.splitlines() if line.startswith('.It'))
        self.assertEqual(option_names(re.findall(r'^ +(-[^ ]+)', said, re.M)), documented)

    def test_nothing_to_write(self):
        self.assertIn('nothing to write', self.merge(*self.three_objects(), status=2).stderr)
        self.assertIn('--dedup=hash',
                      self.merge('--why-dup', '--dedup=libbpf', 'a.o', status=2).stderr)

    def test_options_that_do_not_go_together(self):
        """Wrong usage is reported before a file is opened: none of these files exists."""
        for option in ('--image=x', '--distilled-base', '--format=raw', '--dedup=hash',
                       '--features=var', '--stats', '--time-trace=x', '--why-dup', '--why-dup=s'):
            self.assertIn(f'cannot be combined with {option.partition("=")[0]}\n',
                          self.merge('--check=x', option, status=2).stderr)
        # These go together, so y is opened, which does not exist. Status 1: an error in a file.
        self.merge('--check=x', '--base=y', '--quiet', '--verbose', '--threads=1', status=1)
        self.assertIn('needs --check', self.merge('--kernel=6.12', 'x', '-oo', status=2).stderr)
        self.assertIn("'six' is not a kernel version",
                      self.merge('--check=x', '--kernel=six', status=2).stderr)
        distil = '--distilled-base', '--features=distilled_base'
        for option in distil:
            self.assertIn('needs --base', self.merge(option, '-oo', 'x', status=2).stderr)
            self.assertIn('--format=object', self.merge(option, '--base=y', '--format=object',
                                                        '-oo', 'x', status=2).stderr)

    def test_wrong_usage(self):
        for said, *arguments in (
                ("feature .*'nonsense'", '--features=nonsense', 'x'),
                ("--format: 'elf' is neither", '--format=elf', 'x'),
                ("--dedup: 'pahole' is neither", '--dedup=pahole', 'x'), ('--check takes no INPUT', '--check=x', 'y'),
                ('--check takes no INPUT', '--check=x', '-oy'), ('--check needs a value', '--check=', '-oo', 'x'),
                ('--report needs a value', '--report=', '-oo', 'x'), ('INPUT is required', '-oo'),
                ('--report needs a result in a file', '--report=r', '-o-', 'x'),
                ('--report needs -o or --update', '--report=r', '--why-dup', 'x')):
            self.assertRegex(self.merge(*arguments, status=2).stderr,
                             f"^btf-merge: ERROR: .*{said}.*\nTry 'btf-merge --help'\\.\n$")

    def test_verbose(self):
        """Only -v lists the inputs without BTF and the functions that are left out."""
        for name, kind in ('a', 'int'), ('b', 'long'):
            self.object(name, f'static {kind} same({kind} n) {{ return n; }} {kind} NAME(void) {{ return same(1); }}')
        self.must('gcc', '-c', 'a.c', '-o', 'none.o')
        self.must('ld', '-e', '0', '-o', 'image', 'a.o', 'b.o')
        arguments = '-oo', '--image=image', 'a.o', 'b.o', 'none.o'
        self.assertRegex(self.merge('-v', *arguments).stderr,
                         r'(?s)^btf-merge: none\.o: no BTF, skipped\n.*: function same left out: ')
        self.assertEqual(self.merge(*arguments).stderr, '')


class Image(Report):
    MAIN = '''int add(int), main(void); static int one(int n) { return n + 1; }
int main(void) { return add(3) + one(1) - 5; }
'''
    ADD = '''struct state { int x; }; static struct state state;
static __attribute__((noinline)) int get(struct state *s) { return s->x; }
int add(int n) { state.x = n; return get(&state); }
'''

    def linked(self, *compiler):
        """Makes objects with pools, a program, and the result of `ld -r`."""
        for name, text in (('main', self.MAIN), ('add', self.ADD)):
            self.write(name + '.c', text)
            self.must(*compiler, '-g', '-c', name + '.c')
            self.must(self.btf_emit, '--address-pool', '--features=+global_var', name + '.o')
        self.must(compiler[0], '-o', 'prog', 'main.o', 'add.o')
        self.must('ld', '-r', '-o', 'all.o', 'main.o', 'add.o')

    def said(self, *arguments):
        return self.merge('-o', 'out.btf', *arguments).stderr

    def test_objects_that_are_missing(self):
        for compiler in [(name, version) for name in installed('gcc', 'clang')
                         for version in ('-gdwarf-4', '-gdwarf-5')]:
            self.linked(*compiler)
            for image in '--image=prog', '--image=all.o':
                self.assertEqual(self.said(image, 'main.o', 'add.o'), '')
                said = self.said(image, 'main.o')
                self.assertRegex(said, r'^btf-merge: WARNING: \S+ has 1 object that is not among the '
                                 r'inputs, so its BTF is missing; it has .* \(add\.c\)\n$')
                names = re.search('it has (.*) [(]', said).group(1).split(', ')
                self.assertEqual(set(names), {'add', 'get', 'state'})
                self.assertIn('(main.c)', self.said(image, 'add.o'))
                self.assertEqual(self.said(image, '-q', 'add.o'), '')
        self.must(self.btf_emit, self.object('other', 'int NAME(void) { return 1; }\n'),
                  '--address-pool')
        self.assertRegex(self.said('--image=prog', 'main.o', 'other.o'),
                         '(?s)1 object is not in prog .* prog has 1 object that is not among')
        stats = self.stats('-o', 'out.btf', '--image=prog', 'main.o')
        self.assertEqual(stats['objects_missing'], '1')

    def test_several_are_missing(self):
        names = [self.object(f'part{i}', 'int NAME(void) { return 1; }\n') for i in range(4)]
        self.linked('gcc')
        self.must(self.btf_emit, '--address-pool', *names)
        self.must('gcc', '-o', 'prog', 'main.o', 'add.o', *names)
        self.assertIn('prog has 4 objects that are not among the inputs, so their BTF is '
                      'missing; one of them has part0\n', self.said('--image=prog', 'main.o', 'add.o'))

    def test_functions_from_elsewhere(self):
        """A function gets no FUNC if the program imports it from a shared library, so that its symbol is undefined."""
        mine = self.object('mine', 'int NAME(int n) { return n; }\n', '-fPIC')
        main = self.object('main', 'int mine(int); int NAME(void) { return mine(0); }\n')
        self.must('gcc', '-shared', '-o', 'libmine.so', mine)
        self.must('gcc', '-o', 'prog', main, './libmine.so')
        for dedup in 'hash', 'libbpf':
            self.said(f'--dedup={dedup}', '--image=prog', main, mine)
            names = self.read('out.btf').split(b'\0')
            self.assertIn(b'main', names)
            self.assertNotIn(b'mine', names)


class Names(Report):
    """Names of C++ that BTF does not allow. btf-emit replaces them, so the test puts them back into the objects."""

    def test_warning_names_the_origin(self):
        good = self.object('good', 'struct pair { int a; }; int NAME(struct pair *p) { return p->a; }\n')
        for name, kind, part in (('type.cc', 'struct', r"\(STRUCT 'pair<int>'\)"),
                                 ('union.cpp', 'union', r"\(UNION 'pair<int>'\)"),
                                 ('unit.rs', 'struct', r"\(STRUCT 'pair<int>'\)")):
            self.write(name, f'template <class T> {kind} pair {{ T a; }}; pair<int> p;\n')
            bad = name.split('.')[0] + '.o'
            self.must('g++', '-g', '-x', 'c++', '-c', name, '-o', bad)
            self.must(self.btf_emit, bad)
            legal = self.read(bad)
            self.assertIn(b'\0pair_int_\0', legal)
            self.write(bad, legal.replace(b'\0pair_int_\0', b'\0pair<int>\0'))
            for dedup in 'hash', 'libbpf':
                said = self.merge('-o', 'out.btf', f'--dedup={dedup}', good, bad).stderr
                self.assertRegex(said, rf'^btf-merge: WARNING: type \d+ {part}: name is not an identifier: '
                                 rf"it is renamed to 'pair_int_'; it comes from {bad}: \.BTF\+0x0 \({name}\)\n$")
                self.assertIn(b'\0pair_int_\0', self.read('out.btf'))
                self.must(self.btf_merge, '--check=out.btf')


class StandardOutput(Report):
    def test_dash(self):
        objects = self.three_objects()
        self.merge('-o', 'want.btf', *objects)
        self.merge('-o', 'want.o', '--format=object', *objects)
        for options, want in ((['-o-'], 'want.btf'), (['--output=-'], 'want.btf'),
                              (['-o', '-', '--format=object'], 'want.o')):
            done = self.call(self.btf_merge, *options, *objects, text=False)
            self.assertEqual((done.returncode, done.stderr), (0, b''))
            self.assertEqual(done.stdout, self.read(want))
        trace = self.merge('-o', 'out.btf', '--time-trace=-', *objects).stdout
        self.assertIn('traceEvents', json.loads(trace))
        self.assertNotIn('-', self.names())

    def test_dash_is_refused(self):
        for said, *arguments in (
                ('--update needs a file', '--update=-'),
                ('--why-dup prints to standard output', '--why-dup', '-o-'),
                ('--why-dup prints to standard output', '--why-dup', '--time-trace=-'),
                ('no place for the base', '--distilled-base', '--base=x', '-o', '-')):
            self.assertIn(said, self.merge(*arguments, 'a.o', status=2).stderr)


class Layout(Report):
    def test_engines_and_bases(self):
        objects = self.three_objects()
        for dedup in 'hash', 'libbpf':
            self.merge('--features=+layout', f'--dedup={dedup}', '-o', dedup, *objects)
            self.assertEqual(self.read(dedup)[4], 32)
            self.merge(f'--check={dedup}')
        self.merge('--features=all', '-o', 'all', *objects)
        self.merge('-o', 'plain', *objects)
        self.assertEqual(self.read('plain')[4], 24)
        # The header is longer by 8 bytes. The layout section has 4 bytes for each of 20 kinds.
        self.assertEqual(len(self.read('all')), len(self.read('plain')) + 8 + 80)
        # Whether the base has a layout section does not matter. Split BTF has the longer header, but no layout section.
        split = self.object('d', DEEP + 'struct mine { struct outer o; } mine;', '-DFLAG=')
        for base in 'all', 'plain':
            self.merge('--features=+layout', f'--base={base}', '-o', 'over-' + base, split)
            self.merge(f'--base={base}', '-o', 'plain-over-' + base, split)
        self.assertEqual(self.read('over-all'), self.read('over-plain'))
        self.assertEqual(self.read('over-all')[4:5] + self.read('over-all')[24:32], bytes([32]) + bytes(8))
        self.assertEqual(self.read('over-all')[32:], self.read('plain-over-all')[24:])


class Stats(Report):
    def test_what_is_counted(self):
        objects = self.three_objects()
        stats = self.stats('-o', 'out.btf', *objects)
        for name in ('inputs', 'objects', 'types_in', 'distinct_hashes', 'conflicting_names',
                     'functions_kept', 'bytes_read.types', 'bytes_read.hashes', 'bytes_read.trailers',
                     'bytes_read.base', 'bytes_written', 'time_ms.load', 'time_ms.write', 'time_ms.total'):
            self.assertIn(name, stats)
        self.assertEqual(stats['conflicting_names'], '1')
        self.assertEqual(int(stats['bytes_written']), len(self.read('out.btf')))
        self.assertEqual(int(stats['bytes_read.hashes']) % 16, 0)
        self.assertGreaterEqual(int(stats['bytes_read.hashes']), 16 * int(stats['types_in']))
        self.assertGreater(float(stats['time_ms.total']), 0)

    def test_bytes_are_those_of_the_objects(self):
        objects = self.three_objects()
        stats = self.stats('-o', 'out.btf', *objects)
        read = sum(int(stats['bytes_read.' + part]) for part in ('types', 'hashes', 'trailers'))
        sections = 0
        for name in objects:
            listed = self.must('readelf', '-SW', name)
            sections += int(re.search(r' \.BTF +\S+ +\S+ +\S+ +(\S+)', listed).group(1), 16)
        self.assertLessEqual(read, sections)
        self.assertGreater(read + 8 * len(objects), sections)  # the rest is padding after blobs
        self.must('ld', '-r', '-o', 'all.o', *objects)
        self.must('ar', 'rc', 'all.a', *objects)
        for form in ('all.o', 'all.a'):
            other = self.stats('-o', 'out.btf', form)
            for name, value in stats.items():
                if name.startswith('bytes_read'):
                    self.assertEqual(other[name], value, f'{form} {name}')

    def test_the_result_is_the_same(self):
        objects = self.three_objects()
        self.merge('-o', 'plain.btf', *objects)
        self.stats('-o', 'out.btf', '--time-trace=trace.json', *objects)
        self.assertEqual(self.read('plain.btf'), self.read('out.btf'))


class TimeTrace(Report):
    def events(self, *arguments):
        done = self.merge('-o', 'out.btf', '--time-trace=trace.json', *arguments)
        self.assertEqual((done.stdout, done.stderr), ('', ''))
        trace = json.loads(self.read('trace.json').decode('utf-8'))
        return [e for e in trace['traceEvents'] if e['ph'] == 'X']

    def check_nesting(self, events):
        """All phases are inside that of the whole run."""
        whole = [e for e in events if e['name'] == 'btf-merge']
        self.assertEqual(len(whole), 1)
        for e in events:
            self.assertGreaterEqual(e['ts'], whole[0]['ts'])
            self.assertLessEqual(e['ts'] + e['dur'], whole[0]['ts'] + whole[0]['dur'] + 0.002)  # inexact sums

    def test_trace_has_the_passes(self):
        objects = self.three_objects()
        for dedup, threads, passes in (
                ('hash', 1, {'group_by_hash', 'split_conflicts', 'write_types'}),
                ('hash', 2, {'group_by_hash', 'split_conflicts', 'write_types', 'worker'}),
                ('libbpf', 1, {'write_types', 'dedup'})):
            events = self.events(f'--dedup={dedup}', f'--threads={threads}', *objects)
            names = {e['name'] for e in events}
            self.assertLessEqual(passes | {'open', 'load', 'image', 'check', 'write'}, names)
            self.check_nesting(events)
            self.assertGreaterEqual(len({e['tid'] for e in events}), threads)
            load = [e for e in events if e['name'] == 'load']
            self.assertEqual(load[0]['args']['objects'], 3)

    def test_nothing_to_encode(self):
        """The pass that finds this out ends before the phase of the whole run."""
        self.write('none.c', 'int none;\n')
        self.must('gcc', '-c', 'none.c')
        events = self.events('-q', 'none.o')
        self.assertIn('load', {e['name'] for e in events})
        self.check_nesting(events)

    def test_unwritable(self):
        objects = self.three_objects()
        done = self.merge('-o', 'out.btf', '--time-trace=none/trace.json', *objects, status=1)
        self.assertRegex(done.stderr, r'^btf-merge: ERROR: none/trace\.json: .*No such file.*\n$')
        self.assertNotIn('out.btf', self.names())
        before = self.read('a.o')
        for bad in ('a.o', 'out.btf'):
            self.merge('-o', 'out.btf', f'--time-trace={bad}', *objects, status=1)
        self.assertEqual(self.read('a.o'), before)
        self.assertNotIn('out.btf', self.names())

    def test_no_trace_of_a_failure(self):
        self.write('bad.o', 'nonsense')
        self.merge('-o', 'out.btf', '--time-trace=trace.json', 'bad.o', status=1)
        self.assertNotIn('trace.json', self.names())


class WhyDup(Report):
    def why(self, *arguments):
        done = self.merge(*arguments)
        self.assertEqual(done.stderr, '')
        return done.stdout

    def test_volatile_three_structs_deep(self):
        objects = self.three_objects()
        said = self.why('--why-dup', *objects)
        self.assertNotIn('out.btf', self.names())
        self.assertRegex(said, r'(?m)\Astruct inner: 2 versions')
        self.assertIn('first difference, struct inner.state: version 1 has "int state;", '
                      'version 2 "volatile int state;"\n', said)
        self.assertRegex(said, r'version 1, in 2 objects: a\.o: \.BTF\S* \(a\.c\), c\.o: \S+ \(c\.c\)\n')
        self.assertRegex(said, r'version 2, in 1 object: b\.o: \.BTF\S* \(b\.c\)\n')
        self.assertIn('\tstruct inner {\n\t\tint first;\n\t\tvolatile int state;\n\t\tint last;\n'
                      '\t};\n', said)
        self.assertIn('struct outer: 2 definitions, because of struct inner: struct outer .m -> '
                      'struct middle .in -> struct inner\n', said)
        self.assertEqual(len(re.findall('versions that differ', said)), 1)
        self.assertEqual(self.why('--why-dup=inner', '-o', 'out.btf', *objects),
                         said[:said.index('struct middle: ')])
        self.assertIn('out.btf', self.names())

    def test_ifdef(self):
        objects = [self.object('a', CONFIG), self.object('b', CONFIG, '-DCONFIG_PM')]
        said = self.why('--why-dup', *objects)
        self.assertIn('first difference, struct device: version 1 has "void (*release)(struct '
                      'device *, const char *);", version 2 "long int power[2];"\n', said)
        self.assertIn('\t\tenum {\n\t\t\tON = 0,\n\t\t\tOFF = 1,\n\t\t} state;\n', said)
        self.assertIn('typedef handle_t: 2 definitions, because of struct device: typedef handle_t '
                      '.d -> struct driver .dev -> struct device\n', said)

    def test_unrelated_files(self):
        one = 'struct entry { int key; }; int NAME(struct entry *e) { return e->key; }\n'
        two = 'struct entry { char *text; }; char *NAME(struct entry *e) { return e->text; }\n'
        said = self.why('--why-dup', self.object('a', one), self.object('b', two))
        self.assertIn('struct entry: version 1 has "int key;", version 2 "char *text;"\n', said)
        self.assertRegex(said, r'version 2, in 1 object: b\.o: \S+ \(b\.c\)\n')

    def test_no_duplicates(self):
        objects = self.three_objects('-DFLAG=')
        self.assertEqual(self.why('--why-dup', *objects), 'No name has several definitions.\n')
        self.assertEqual(self.why('--why-dup=inner', *objects),
                         'inner does not have several definitions.\n')

    def test_full_disk(self):
        with open('/dev/full', 'w', encoding='ascii') as full:
            done = subprocess.run([self.btf_merge, '--why-dup', *self.three_objects()], cwd=self.folder,
                                  stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('standard output', done.stderr)


if __name__ == '__main__':
    run(__name__, Report, ('btf_merge', 'btf_emit'))
