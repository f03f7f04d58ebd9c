# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What tests in several folders share. `meson test` puts tests/ into PYTHONPATH; to run such a test by
hand: PYTHONPATH=tests tests/emit/cli-test.py ...
"""
