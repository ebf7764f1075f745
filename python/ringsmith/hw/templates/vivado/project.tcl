# SPDX-License-Identifier: Apache-2.0
# Makes the project of this folder in build/, with its block design; `-tclargs bitstream` implements it too:
#   vivado -mode batch -source project.tcl [-tclargs bitstream]
set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]
set package [file dirname [file dirname $here]]

# The newest version of a part of the vendor's library.
proc newest {name} {
  set found [lsort -dictionary [get_ipdefs -quiet -all xilinx.com:ip:$name:*]]
  if {[llength $found] == 0} { error "this Vivado has no $name" }
  return [lindex $found end]
}

# A cell of it with settings, which are given without their prefix CONFIG.
proc cell {type name args} {
  create_bd_cell -type ip -vlnv [newest $type] $name
  configure $name {*}$args
}
proc configure {name args} {
  if {[llength $args] == 0} { return }
  set settings {}
  foreach {key value} $args { lappend settings CONFIG.$key $value }
  set_property -dict $settings [get_bd_cells $name]
}

# Wires between pins, and buses between their ends.
proc wire {from args} {
  foreach to $args { connect_bd_net [get_bd_pins $from] [get_bd_pins $to] }
}
proc bus {from to} {
  connect_bd_intf_net [get_bd_intf_pins $from] [get_bd_intf_pins $to]
}

# Places a slave's segment in the address space of a master.
proc place {segment space offset range} {
  assign_bd_address -offset $offset -range $range -target_address_space [get_bd_addr_spaces $space] \
    [get_bd_addr_segs $segment]
}

set boards [get_board_parts -quiet -latest_file_version *:$board:part0:*]
if {[llength $boards] == 0} {
  error "the board files of $board are missing: install them from Vivado's store (Tools > Vivado Store > Boards)"
}
create_project $name [file join $here build] -part $part
set_property board_part [lindex $boards 0] [current_project]
set_property target_language Verilog [current_project]
set sources {}
foreach file $files { lappend sources [file join $package $file] }
add_files -norecurse $sources
set_property verilog_define $defines [get_filesets sources_1]
add_files -fileset constrs_1 -norecurse [file join $here constraints.xdc]
update_compile_order -fileset sources_1

create_bd_design system
create_bd_cell -type module -reference $module core
source [file join $here design.tcl]
assign_bd_address -quiet
validate_bd_design
save_bd_design
make_wrapper -files [get_files system.bd] -top -import
set_property top system_wrapper [get_filesets sources_1]

if {[lindex $argv 0] eq "bitstream"} {
  launch_runs impl_1 -to_step write_bitstream -jobs 4
  wait_on_run impl_1
  if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "implementation failed: see build/" }
  set slack [get_property STATS.WNS [get_runs impl_1]]
  if {$slack < 0} { error "the clock of $clock_mhz MHz is missed by [expr {-$slack}] ns: set clock_mhz in settings.tcl" }
  write_hw_platform -fixed -include_bit -force -file [file join $here $name.xsa]
}
