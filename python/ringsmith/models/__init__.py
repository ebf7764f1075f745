# SPDX-License-Identifier: Apache-2.0
"""Trained models as kernels: read from scikit-learn and ONNX, calibrated on data."""
