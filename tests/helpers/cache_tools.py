# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compiler caches and servers for tests. Servers listen on loopback. All files are in the test's folder."""
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

# Prefixes of variables in the user's environment that must not affect the tests.
SETTINGS = ('BTF_CC_', 'BTF_PAHOLE_', 'PAHOLE_', 'CCACHE_', 'DISTCC_', 'ICECC_', 'SCCACHE_')
START_SECONDS = 30


def clean_environment(**settings):
    """The environment without the variables of SETTINGS, with LC_ALL=C and `settings`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS)}
    return {**kept, 'LC_ALL': 'C', **settings}


def missing(*programs):
    """Returns '' if all programs are installed, otherwise the reason to skip the check."""
    absent = [name for name in programs if not shutil.which(name)]
    return f'not installed: {" ".join(absent)} (tests/ci/install-packages test)' if absent else ''


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Ccache:
    """ccache with its cache in `folder`. The user's configuration is not read."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def environment(self, **settings):
        return clean_environment(**{'CCACHE_DIR': str(self.folder), 'CCACHE_CONFIGPATH': '/dev/null',
                                    **settings})

    def statistics(self):
        """Returns ccache's counters since the last call, and "hit", the sum of both kinds of hits."""
        def ask(*options):
            return subprocess.run(['ccache', *options], env=self.environment(), check=True,
                                  capture_output=True, text=True).stdout
        lines = ask('--print-stats').splitlines()
        ask('--zero-stats')
        counters = {name: int(value) for name, value in (line.split('\t') for line in lines)}
        counters['hit'] = counters['direct_cache_hit'] + counters['preprocessed_cache_hit']
        return counters

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A server process on a loopback port. It runs inside a `with` statement."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.port = free_port()

    def command(self):
        raise NotImplementedError

    def environment(self):
        return clean_environment()

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.output = open(self.folder / 'output', 'wb')
        self.process = subprocess.Popen([str(word) for word in self.command()], cwd=self.folder,
                                        env=self.environment(), stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=self.output)
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                said = (self.folder / 'output').read_text(errors='replace')
                raise RuntimeError(f'{self.command()}: does not listen\n{said}')
            time.sleep(0.05)
        time.sleep(0.05)
        if self.process.poll() is not None:
            self.__exit__()
            raise RuntimeError(f'{self.command()}: another program listens on port {self.port}')
        return self

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(('127.0.0.1', self.port)) == 0

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()


class Redis(Server):
    def command(self):
        return ['redis-server', '--bind', '127.0.0.1', '--port', self.port, '--dir', self.folder,
                '--save', '', '--appendonly', 'no', '--daemonize', 'no']

    def address(self):
        return f'redis://127.0.0.1:{self.port}'

    def ask(self, *words):
        return subprocess.run(['redis-cli', '-p', str(self.port), *words], check=True,
                              capture_output=True, text=True).stdout


class Sccache(Server):
    """sccache's server, with its cache in `folder`. The tests start it, because a server that a client starts keeps
    the settings of this client."""

    def settings(self):
        return {'SCCACHE_DIR': str(self.folder / 'cache'), 'SCCACHE_SERVER_PORT': str(self.port),
                'SCCACHE_CONF': '/dev/null', 'SCCACHE_IDLE_TIMEOUT': '300'}

    def environment(self):
        return clean_environment(SCCACHE_START_SERVER='1', SCCACHE_NO_DAEMON='1',
                                 **self.settings())

    def command(self):
        return ['sccache']

    def counts(self):
        """Returns the numbers of hits and misses since the server started."""
        said = subprocess.run(['sccache', '--show-stats', '--stats-format', 'json'], check=True,
                              env=clean_environment(**self.settings()), capture_output=True,
                              text=True).stdout
        stats = json.loads(said)['stats']
        return tuple(sum(stats[name]['counts'].values()) for name in ('cache_hits', 'cache_misses'))


class Distccd(Server):
    """distccd, a compile server. If the tests run as root, distccd runs as user nobody, and command() makes `folder`
    accessible to all users. For this, `folder` must be inside the folder for temporary files."""

    def __init__(self, folder, *options, **settings):
        super().__init__(folder)
        self.options, self.settings = options, settings

    def environment(self):
        return clean_environment(TMPDIR=str(self.folder), **self.settings)

    def command(self):
        user = 'nobody' if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if user == 'nobody':
            temporary = pathlib.Path(tempfile.gettempdir()).resolve()
            for folder in (self.folder.resolve(), *self.folder.resolve().parents):
                if temporary not in folder.parents:
                    break
                folder.chmod(folder.stat().st_mode | 0o011)
            self.folder.chmod(0o777)
        return ['distccd', '--daemon', '--no-detach', '--listen', '127.0.0.1', '--port', self.port,
                '--allow', '127.0.0.1', '--user', user, '--jobs', '2',
                '--log-file', self.folder / 'log', '--log-level', 'info', *self.options]

    def client(self, folder):
        """Settings with which distcc uses only this server, and does not compile locally if the server fails."""
        pathlib.Path(folder).mkdir(exist_ok=True)
        return {'DISTCC_HOSTS': f'127.0.0.1:{self.port}', 'DISTCC_DIR': str(folder),
                'DISTCC_FALLBACK': '0', 'DISTCC_SKIP_LOCAL_RETRY': '1',
                'DISTCC_BACKOFF_PERIOD': '1', 'DISTCC_IO_TIMEOUT': '30'}

    def log(self):
        return (self.folder / 'log').read_text(errors='replace')
