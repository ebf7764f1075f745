# SPDX-License-Identifier: Apache-2.0
# Timing constraints of $name, top $top: a start for synthesis and place and route.
# The budgets at the pins, 30 % of the period outside on either side, are to be replaced by those of the design around.
# Clocks and reset in words: docs/integration.md.

create_clock -name clk -period $period_ns [get_ports clk_i]

# rst_ni is released in step with the clock, so it is an input of its domain.
set_input_delay $io_delay_ns -clock clk [get_ports {rst_ni $inputs}]
set_output_delay $io_delay_ns -clock clk [get_ports {$outputs}]
$more_constraints
