# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Checks of rebuilds: only touched sources are compiled again, and interrupted builds recover."""
import os
import random
import re
import signal
import time

import build_group
import kernel_tree
from btf_checks import BtfChecks
from checks import Failed

GOALS = ['vmlinux', 'modules'] # without the boot image, because compressing it takes long
HEADER = 'kernel/sched/sched.h'
SEED = 20
TOUCHED = 60 # number of objects that each interrupted build has to compile
# Objects that a link of vmlinux may compile, whatever was touched.
BY_THE_LINK = set(kernel_tree.LATE_OBJECTS)


def emitted(output):
    """Returns the objects to which btf-cc added BTF, from its output with BTF_CC_VERBOSE."""
    return set(re.findall(r'^btf-cc: (\S+): object BTF written$', output, re.M))


class RebuildChecks:
    def __init__(self, checks, tree):
        self.checks = checks
        self.tree = tree
        self.btf = BtfChecks(checks, tree, f'{tree.name}: rebuild')

    def touch(self, *names):
        """Sets old times on files of the build folder, so that Kbuild makes these files again."""
        for name in names:
            os.utime(self.tree.build / name, (1, 1))

    def rebuild(self):
        return self.tree.make(*GOALS, BTF_CC_VERBOSE='1')

    def users_of(self, header):
        """Returns the objects that include a header. Kbuild's .cmd files name the included headers of each object."""
        users = set()
        for record in self.tree.build.rglob('.*.o.cmd'):
            if header in record.read_text(errors='replace'):
                users.add(str(record.parent.relative_to(self.tree.build) / record.name[1:-4]))
        return users

    def run(self):
        before = self.btf.contents_of(self.tree.build / 'vmlinux')
        self.tree.make('all') # so that nothing of the first build is left to do
        output = self.tree.make('all', BTF_CC_VERBOSE='1')
        self.btf.ok('an untouched tree rebuilds nothing', not output.strip(), output)

        self.touch('kernel/fork.o')
        done = emitted(self.rebuild())
        self.btf.ok('one object compiled again: only its BTF is made again',
                    'kernel/fork.o' in done and done - BY_THE_LINK == {'kernel/fork.o'}, str(done))
        self.btf.ok('the BTF of vmlinux is what it was',
                    self.btf.contents_of(self.tree.build / 'vmlinux') == before)
        self.modules_follow()
        self.header()
        self.mixed_settings()
        self.interruptions(before)

    def modules_follow(self):
        """Kbuild has made the modules' BTF again, because vmlinux is new. 6.12 and older do not link the modules again;
        the BTF must be the same as after a new link."""
        vmlinux = (self.tree.build / 'vmlinux').stat().st_mtime_ns
        old = [path for path in self.tree.modules()
               if (self.tree.build / path).stat().st_mtime_ns < vmlinux]
        self.btf.ok('no module is older than vmlinux: each build would make the BTF of such a module again',
                    not old, str(old))
        for path in self.tree.modules():
            module = self.tree.build / path
            content = self.btf.contents_of(module)
            self.touch(path) # so that this module is linked again
            self.tree.make('modules')
            self.btf.ok(f'{path}: the same BTF, whether it was linked again or not',
                        self.btf.contents_of(module) == content)
        self.btf.sections()

    def header(self):
        """Touches a header that several objects include. A header that all objects include would only take
        longer."""
        (self.tree.source / HEADER).touch()
        done, users = emitted(self.rebuild()), self.users_of(HEADER)
        self.btf.ok(f'{HEADER} touched: the BTF of its {len(users)} users is made again',
                    len(users) > 3 and done - BY_THE_LINK == users,
                    f'{sorted(done - BY_THE_LINK - users)}, {sorted(users - done)}')

    def mixed_settings(self):
        """btf-pahole prints a warning that names the source of an object with other features than the rest."""
        self.touch('kernel/pid.o')
        output = self.tree.make('vmlinux', BTF_CC_FEATURES='var,float')
        self.btf.ok('an object with other features is named',
                    re.search(r'^btf-pahole: WARNING: .*kernel/pid\.c', output, re.M), output)
        self.touch('kernel/pid.o')
        output = self.tree.make('vmlinux')
        self.btf.ok('once it is emitted again, there is no warning', 'WARNING' not in output,
                    output)

    def wait_for_first(self, build, touched):
        """Waits until the build writes or removes the first of the objects `touched`, or ends. Before that, compilers
        run only to test their options."""
        paths = [self.tree.build / name for name in touched]
        while build.poll() is None and all(path.exists() and path.stat().st_mtime == 1
                                           for path in paths):
            time.sleep(0.1)

    def interruptions(self, before):
        """A build that was killed while it compiled can be finished, and has BTF of the same meaning."""
        expected = self.btf.results / 'uninterrupted.btf'
        expected.write_bytes(before)
        generator = random.Random(SEED)
        objects = [name for name in self.tree.objects() if name.startswith(('kernel/', 'mm/'))]
        for kind in (signal.SIGKILL, signal.SIGINT):
            touched = generator.sample(objects, TOUCHED)
            self.touch(*touched)
            # With more jobs or a cache the build could end before it is killed.
            build = self.tree.start(*GOALS, '-j2', CCACHE_DISABLE='1')
            self.wait_for_first(build, touched)
            time.sleep(generator.uniform(0, 3))
            if not build_group.kill_compiling(build, kind):
                raise Failed(f'a build of {TOUCHED} objects was over before its {kind.name}')
            try:
                self.tree.make(*GOALS)
            except Failed as reason:
                self.btf.ok(f'{kind.name} during a build: the next one ends well', False,
                            str(reason))
                return
            # An object that was compiled but got no BTF is encoded from the image's DWARF, after the others,
            # so the bytes may differ.
            self.btf.compare(f'{kind.name} during a build: the next one has the same BTF by meaning',
                             self.tree.build / 'vmlinux', expected)
