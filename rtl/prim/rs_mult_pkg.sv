// SPDX-License-Identifier: Apache-2.0
// A way to cut products beside rs_build_pkg::multiplier_e, for modules inside rs_ntt8_row only.
package rs_mult_pkg;
  // No register: tiles and adders are wires.
  localparam int unsigned MultiplierWires = 3;
endpackage
