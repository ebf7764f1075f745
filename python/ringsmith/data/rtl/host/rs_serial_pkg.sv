// SPDX-License-Identifier: Apache-2.0
// Frames of the serial host: first byte and answers. Multi-byte values are little-endian.
//
//   WriteReg  address[2] data[4]        -> Ok | Bad
//   ReadReg   address[2]                -> Ok data[4] | Bad
//   WriteData length[4] bytes[length]   -> Ok | Bad      (LOAD: Bad if none waits or it takes fewer bytes)
//   ReadData  length[4]                 -> Ok bytes[length] | Bad      (STORE)
//
// Outside a frame the bytes Idle (0x00) and 0xFF are skipped; any other byte is answered Bad.
package rs_serial_pkg;
  localparam logic [7:0] Idle = 8'h00;
  localparam logic [7:0] WriteReg = 8'h10;
  localparam logic [7:0] ReadReg = 8'h11;
  localparam logic [7:0] WriteData = 8'h20;
  localparam logic [7:0] ReadData = 8'h21;
  localparam logic [7:0] Ok = 8'hA5;
  localparam logic [7:0] Bad = 8'h5A;
endpackage
