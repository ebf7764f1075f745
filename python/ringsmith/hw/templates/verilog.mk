
# The plain Verilog: the same testbench on it, and other readers of it.
VERILOG := $verilog

test-verilog: obj_dir_verilog/testbench
	obj_dir_verilog/testbench seed=$$(SEED)

obj_dir_verilog/testbench: $$(VERILOG) $$(wildcard tb/*) | verilator
	$$(call build,obj_dir_verilog,$$(VERILOG))

check-verilog:
	@if command -v iverilog >/dev/null; then iverilog -g2005 -Wall -s $top -t null $$(VERILOG) && echo "Icarus Verilog: right"; \
	  else echo "Icarus Verilog: not checked, there is no iverilog"; fi
	@if command -v yosys >/dev/null; then \
	  yosys -q -p "read_verilog $$(VERILOG); hierarchy -check -top $top; proc; check -assert" && echo "Yosys: right"; \
	  else echo "Yosys: not checked, there is no yosys"; fi
