# SPDX-License-Identifier: Apache-2.0
# The platform's reset may fall at any time; rs_reset_sync lets it rise in step with the clock.
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *u_reset/line_q_reg*/CLR}]
