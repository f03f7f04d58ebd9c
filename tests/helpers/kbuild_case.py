# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Base class of tests that run btf-cc, btf-pahole and other tools."""
import os
import signal

from helpers import cli_case
from helpers.btf_reader import Elf
from helpers.cli_case import PROGRAM  # noqa: F401
from helpers.compilers import clangs, has_lld, target_of  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ('btf_cc', 'btf_pahole', 'btf_emit', 'btf_dump', 'btf_compare')
# Prefixes of variables in the user's environment that must not affect the tests.
SETTINGS = ('BTF_CC_', 'BTF_PAHOLE_', 'PAHOLE', 'GCC_', 'CCACHE_', 'KBUILD_', 'objtree')


def heed_signals():
    """Gives signals their default action if they are ignored. nohup, and shells for background jobs, start programs
    with some signals ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1,
                   signal.SIGUSR2):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


class KbuildCase(cli_case.CliCase):
    btf_cc = btf_pahole = btf_dump = btf_compare = None  # set by run()

    @property
    def btf_merge(self):
        return os.path.join(os.path.dirname(self.btf_emit), '..', 'merge', 'btf-merge')

    def environment(self, settings=None):
        """The environment without the variables of SETTINGS, with LC_ALL=C and `settings`. The value None in
        `settings` removes a variable."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS)}
        clean['LC_ALL'] = 'C'
        clean.update(settings or {})
        return {k: v for k, v in clean.items() if v is not None}

    def run_tool(self, *command, settings=None, **options):
        options = {'text': False, 'env': self.environment(settings), **options}
        return self.call(*command, **options)

    def cc(self, *arguments, settings=None, **options):
        """Runs btf-cc; returns its exit status, and as bytes its standard output and standard error."""
        done = self.run_tool(self.btf_cc, *arguments, settings=settings, **options)
        return done.returncode, done.stdout, done.stderr

    def pahole(self, *arguments, settings=None, **options):
        """Runs btf-pahole; returns its exit status, standard output and standard error."""
        done = self.run_tool(self.btf_pahole, *arguments, settings=settings,
                             **{'text': True, **options})
        return done.returncode, done.stdout, done.stderr

    def encode(self, *arguments, said=''):
        """Encodes with btf-pahole. Checks that btf-pahole succeeds, makes no file except that of an option
        --btf_encode_detached, and prints only text that matches `said`, to standard error."""
        before = self.names()
        done = self.pahole('-J', *arguments)
        self.assertEqual(done[:2], (0, ''), done)
        self.assertRegex(done[2], f'^{said}$')
        made = [a.split('=')[1] for a in arguments if a.startswith('--btf_encode_detached=')]
        self.assertEqual(self.names(), before | set(made))

    def refuse(self, pattern, *arguments, status=1, same=(), **options):
        """Checks that a run of btf-pahole exits with `status` and one line, `btf-pahole: ERROR: PATTERN`, makes no
        files, and does not change the files in `same`."""
        before, contents = self.names(), [self.read(name) for name in same]
        done = self.pahole(*arguments, **options)
        self.assertEqual(done[:2], (status, ''), done)
        self.assertRegex(done[2], f'^btf-pahole: ERROR: {pattern}\n$')
        self.assertEqual(done[2].count('\n'), 1)
        self.assertEqual(self.names(), before, arguments)
        self.assertEqual([self.read(name) for name in same], contents, arguments)

    def script(self, name, text):
        """Writes a program into the test's folder; returns its path."""
        self.write(name, text)
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def section(self, name, section='.BTF'):
        return Elf(self.path(name)).get(section)

    def section_names(self, name):
        return {section.name for section in Elf(self.path(name)).sections}

    def has_object_btf(self, name):
        """True if the file's .BTF has the magic of a link trailer."""
        section = self.section(name)
        return section is not None and b'BTFL' in section.data

    def dump(self, name, base=None):
        """The lines that btf-dump prints for a file's BTF."""
        options = ['--base', base] if base else []
        return self.must(self.btf_dump, *options, 'raw', name).splitlines()

    def same_meaning(self, a, b, *options):
        done = self.call(self.btf_compare, '--deep', *options, a, b)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def run(module):
    """The main program. Arguments: the tools in the order of TOOLS, then names of tests."""
    cli_case.run(module, KbuildCase, TOOLS)
