// SPDX-License-Identifier: Apache-2.0
// Frames of the serial host. Values of several bytes are little-endian.
//
//   Command kind[1] sequence[1] length[2] address[2] crc[4] | data[length] crc[4]     host to device
//   Answer  code[1] sequence[1] length[2] 0[2]       crc[4] | data[length] crc[4]     device to host
//
//   Greet      length 0                      -> Ok version[1] log2_frame_bytes[1]
//   WriteReg   (address[2] data[4]) each     -> Ok           written in order, up to the first that is refused
//   ReadReg    length 4 k, no data           -> Ok data[4 k] registers at address, address + 4, ...
//   WriteData  data[length]                  -> Ok           for the LOAD that waits
//   ReadData   length, no data               -> Ok data[length]   of the STORE that waits
//
// A frame has data and a second CRC if its length is not 0 and it is WriteReg, WriteData or an Ok answer. CRC: CRC-32
// of ISO-HDLC (that of Ethernet and zip), over the six bytes after the marker and over the data. Outside a frame all
// bytes but Command are skipped.
//
// A host that hears nothing sends the frame again with its sequence number: a frame of the number answered last is not
// done again, its answer is sent again. Greet is always done, forgets that answer and begins a session; until it, after
// a reset, all else is answered Unknown. A command whose header is damaged has no answer, one whose data are is
// answered Damaged. After a silence of SilenceBytes bytes' time within a frame the device waits for a marker again.
package rs_serial_pkg;
  localparam logic [7:0] Version = 8'd1;
  localparam logic [7:0] Command = 8'hC9;
  localparam logic [7:0] Answer = 8'h6A;
  // Kinds: bit 0 says that no data follow.
  localparam logic [7:0] Greet = 8'h01;
  localparam logic [7:0] WriteReg = 8'h10;
  localparam logic [7:0] ReadReg = 8'h11;
  localparam logic [7:0] WriteData = 8'h20;
  localparam logic [7:0] ReadData = 8'h21;
  // Codes. Refused: no such register, no such transfer. Malformed: a kind or length that no frame has, or cut short.
  // Gone: the answer asked for once more is no longer held.
  localparam logic [7:0] Ok = 8'h80;
  localparam logic [7:0] Refused = 8'h81;
  localparam logic [7:0] Damaged = 8'h82;
  localparam logic [7:0] Malformed = 8'h83;
  localparam logic [7:0] Unknown = 8'h84;
  localparam logic [7:0] Gone = 8'h85;
  localparam int unsigned SilenceBytes = 1024;

  // A command whose CRCs are right, to be done.
  typedef struct packed {
    logic        valid;
    logic [7:0]  kind;
    logic [15:0] length;
    logic [15:0] address;
  } command_t;
endpackage
