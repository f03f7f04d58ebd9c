# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Modules that tests in several folders share. `meson test` sets PYTHONPATH to tests/. To run a test by
hand: PYTHONPATH=tests tests/emit/cli-test.py ...
"""
