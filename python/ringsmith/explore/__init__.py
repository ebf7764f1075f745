# SPDX-License-Identifier: Apache-2.0
"""Kernel, parameters and hardware explored together: every point a design that can be generated, simulated and run."""
