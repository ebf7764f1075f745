// SPDX-License-Identifier: Apache-2.0
// Frames of the serial host (rs_serial_pkg): finds them among bytes, checks them, has them done once, answers them.
//
//   rx_* bytes -> marker, header, CRC -> data into the buffer, CRC -> command_o, in_* (its data)
//   tx_* bytes <- header, CRC, data from the buffer, CRC <---------- done_i, out_* (data of its answer)
//
// The buffer holds a frame's data until its CRC is known to be right; then those of the answer, until data of another
// frame come, so that an answer that was lost can be sent again. The serial lines have no back-pressure: a byte that
// comes while rx_ready_o is low is lost, which the CRCs show. A byte a cycle in each direction; between the two a frame
// takes a cycle for each of its data bytes.
module rs_serial_frames
  import rs_serial_pkg::*;
#(
  // Data bytes of a frame at most: a power of two from 64 to 32768.
  parameter int unsigned FrameBytes = 2048,
  // Cycles without a byte after which a frame is given up: 64 or more.
  parameter int unsigned SilenceCycles = 655360
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Forget the frame that is being received or answered. One that is being done is done; its answer is not sent.
  input  logic           abort_i,
  // The next byte may start a frame.
  output logic           between_o,
  input  logic           rx_valid_i,
  output logic           rx_ready_o,
  input  logic     [7:0] rx_data_i,
  output logic           tx_valid_o,
  input  logic           tx_ready_i,
  output logic     [7:0] tx_data_o,
  // To be done: valid until done_i, then low for a cycle at least. Data in order, each taken once.
  output command_t       command_o,
  output logic           in_valid_o,
  input  logic           in_ready_i,
  output logic     [7:0] in_data_o,
  // Data of the answer, FrameBytes at most.
  input  logic           out_valid_i,
  input  logic     [7:0] out_data_i,
  // Done, or refused: then the answer has no data.
  input  logic           done_i,
  input  logic           refused_i
);
  if (FrameBytes < 64 || FrameBytes > 32768 || (FrameBytes & (FrameBytes - 1)) != 0) begin : gen_check_bytes
    $fatal(1, "%m: FrameBytes = %0d must be a power of two from 64 to 32768", FrameBytes);
  end
  if (SilenceCycles < 64) begin : gen_check_silence
    $fatal(1, "%m: SilenceCycles = %0d must be 64 or more", SilenceCycles);
  end

  localparam int unsigned AddrBits = $clog2(FrameBytes);
  localparam int unsigned SilenceBits = $clog2(SilenceCycles + 1);
  // Bytes of a header's fields, of a CRC.
  localparam logic [15:0] FieldBytes = 16'd6;
  localparam logic [15:0] CrcBytes = 16'd4;

  typedef enum logic [3:0] {
    Hunt,         // skip bytes until a marker
    Header,       // fields and CRC
    CheckHeader,
    Data,         // data into the buffer, and CRC
    CheckData,
    Decide,       // do, or answer at once
    Run,          // being done
    SendMarker,
    SendHeader,
    SendData
  } state_e;
  state_e state_q, state_d;

  // Fields of the command, the first one lowest.
  logic [47:0] fields_q;
  // Bytes of the header or of data and CRC that are over.
  logic [15:0] place_q;
  logic [SilenceBits-1:0] silence_q;
  logic [7:0] code_q, code_d;
  logic [15:0] length_q, length_d;
  // The answer that can be sent again.
  logic held_q, greeted_q;
  logic [7:0] held_sequence_q, held_code_q;
  logic [15:0] held_length_q, out_q;
  logic aborted_q;
  logic [7:0] kind, sequence_number;
  logic [15:0] length;
  logic receiving, take, give, silent, possible, again, right, last_field, in_crc, part_over;
  logic [31:0] crc;

  assign kind            = fields_q[7:0];
  assign sequence_number = fields_q[15:8];
  assign length          = fields_q[31:16];
  assign receiving       = state_q inside {Hunt, Header, Data};
  assign between_o       = state_q == Hunt;
  assign rx_ready_o      = receiving;
  assign take            = rx_valid_i && receiving;
  assign give            = tx_valid_o && tx_ready_i;
  assign silent          = state_q inside {Header, Data} && silence_q == SilenceBits'(SilenceCycles);
  assign again           = held_q && sequence_number == held_sequence_q && kind != Greet;

  // Data follow a header whose bit 0 is 0; their number is one that the buffer holds.
  always_comb begin
    unique case (kind)
      Greet: possible = length == '0;
      WriteReg, WriteData, ReadReg, ReadData: possible = length != '0 && length <= 16'(FrameBytes);
      default: possible = 1'b0;
    endcase
  end

  // ------------------------------------------------------------------------------------------------------------ frames
  always_comb begin
    part_over = 1'b0;
    unique case (state_q)
      Header, SendHeader: part_over = place_q == FieldBytes + CrcBytes - 16'd1;
      Data: part_over = place_q == length + CrcBytes - 16'd1;
      SendData: part_over = place_q == length_q + CrcBytes - 16'd1;
      default: part_over = 1'b0;
    endcase
  end
  assign last_field = state_q == SendHeader && place_q == FieldBytes - 16'd1;
  assign in_crc = (state_q == SendHeader && place_q >= FieldBytes) || (state_q == SendData && place_q >= length_q);

  always_comb begin
    state_d  = state_q;
    code_d   = code_q;
    length_d = length_q;
    unique case (state_q)
      Hunt: if (take && rx_data_i == Command) state_d = Header;
      Header: if (take && part_over) state_d = CheckHeader;
      CheckHeader: begin
        {code_d, length_d} = {Malformed, 16'd0};
        if (!right) state_d = Hunt;
        else if (!possible) state_d = SendMarker;
        else state_d = kind[0] ? Decide : Data;
      end
      Data: if (take && part_over) state_d = CheckData;
      CheckData: begin
        {code_d, length_d} = {Damaged, 16'd0};
        state_d = right ? Decide : SendMarker;
      end
      Decide: begin
        state_d = SendMarker;
        if (kind == Greet || (greeted_q && !again)) state_d = Run;
        else if (!greeted_q) {code_d, length_d} = {Unknown, 16'd0};
        else {code_d, length_d} = {held_code_q, held_length_q};
      end
      Run:
      if (done_i) begin
        {code_d, length_d} = refused_i ? {Refused, 16'd0} : {Ok, out_q};
        state_d = aborted_q ? Hunt : SendMarker;
      end
      SendMarker: if (give) state_d = SendHeader;
      SendHeader: if (give && part_over) state_d = (length_q == '0) ? Hunt : SendData;
      SendData: if (give && part_over) state_d = Hunt;
      default: state_d = Hunt;
    endcase
    // Of a header that is cut short no number is known; data that are can be asked for again.
    if (silent && !take) begin
      state_d = (state_q == Data) ? SendMarker : Hunt;
      {code_d, length_d} = {Malformed, 16'd0};
    end
    if (abort_i && state_q != Run) state_d = Hunt;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Hunt;
      aborted_q <= 1'b0;
      code_q    <= '0;
      length_q  <= '0;
      fields_q  <= '0;
      place_q   <= '0;
      silence_q <= '0;
    end else begin
      state_q   <= state_d;
      aborted_q <= state_q == Run && (aborted_q || abort_i);
      code_q    <= code_d;
      length_q  <= length_d;
      if (state_q == Header && take && place_q < FieldBytes) fields_q <= {rx_data_i, fields_q[47:8]};
      if (state_d != state_q) place_q <= '0;
      else if (take || give) place_q <= place_q + 16'd1;
      silence_q <= (take || state_d != state_q) ? '0 : silence_q + SilenceBits'(!silent);
    end
  end

  // ------------------------------------------------------------------------------------------------- what was answered
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      greeted_q       <= 1'b0;
      held_q          <= 1'b0;
      held_sequence_q <= '0;
      held_code_q     <= '0;
      held_length_q   <= '0;
      out_q           <= '0;
    end else begin
      if (state_q == Decide) out_q <= '0;
      else if (out_valid_i) out_q <= out_q + 16'd1;
      if (state_q == Run && done_i) begin
        greeted_q                                     <= greeted_q || kind == Greet;
        held_q                                        <= kind != Greet;
        {held_sequence_q, held_code_q, held_length_q} <= {sequence_number, code_d, length_d};
      end else if (state_q == Data && take && held_length_q != '0) begin
        // The buffer is written over.
        {held_code_q, held_length_q} <= {Gone, 16'd0};
      end
    end
  end

  // ------------------------------------------------------------------------------------------------------- CRC, buffer
  logic buffer_read, read_valid_q, read_next, write, reading_in;
  logic [AddrBits-1:0] read_address, read_address_q, write_address;
  logic [7:0] read_data, write_data, field;

  rs_crc32 u_crc (
    .clk_i,
    .rst_ni,
    .clear_i(state_d != state_q && state_d inside {Header, Data, SendHeader, SendData}),
    .valid_i((take && state_q inside {Header, Data}) || (give && !in_crc)),
    .data_i (take ? rx_data_i : tx_data_o),
    .crc_o  (crc),
    .right_o(right)
  );

  // The byte at read_address_q stands at read_data when read_valid_q says so.
  assign reading_in    = state_q == Run && !kind[0];
  assign buffer_read   = reading_in || state_q inside {SendHeader, SendData};
  assign read_next     = reading_in ? in_valid_o && in_ready_i : state_q == SendData && give;
  assign read_address  = read_address_q + AddrBits'(read_next);
  assign write         = (state_q == Data && take && place_q < length) || out_valid_i;
  assign write_address = (state_q == Data) ? place_q[AddrBits-1:0] : out_q[AddrBits-1:0];
  assign write_data    = (state_q == Data) ? rx_data_i : out_data_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_q   <= 1'b0;
      read_address_q <= '0;
    end else begin
      read_valid_q   <= buffer_read;
      read_address_q <= (buffer_read && read_valid_q) ? read_address : '0;
    end
  end

  rs_ram_1r1w #(
    .Width(8),
    .DepthWords(FrameBytes)
  ) u_buffer (
    .clk_i,
    .rd_en_i  (buffer_read),
    .rd_addr_i(read_address),
    .rd_data_o(read_data),
    .wr_en_i  (write),
    .wr_addr_i(write_address),
    .wr_data_i(write_data)
  );

  assign command_o  = '{valid: state_q == Run, kind: kind, length: length, address: fields_q[47:32]};
  assign in_valid_o = reading_in && read_valid_q;
  assign in_data_o  = read_data;

  always_comb begin
    unique case (place_q[2:0])
      3'd0: field = code_q;
      3'd1: field = sequence_number;
      3'd2: field = length_q[7:0];
      3'd3: field = length_q[15:8];
      default: field = '0;
    endcase
  end

  // The CRC stands still while its bytes are sent.
  logic [1:0] crc_place;
  assign crc_place  = 2'(place_q - ((state_q == SendData) ? length_q : FieldBytes));
  assign tx_valid_o = state_q inside {SendMarker, SendHeader, SendData};
  always_comb begin
    if (state_q == SendMarker) tx_data_o = Answer;
    else if (in_crc) tx_data_o = crc[8*crc_place+:8];
    else tx_data_o = (state_q == SendData) ? read_data : field;
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed || abort_i) tx_valid_o && !tx_ready_i |=> tx_valid_o && $stable(
    tx_data_o
  ));
  // Answers have data of commands that have none.
  assert property (@(posedge clk_i) disable iff (!armed) out_valid_i |-> command_o.valid && kind[0]);
  assert property (@(posedge clk_i) disable iff (!armed) out_valid_i |-> out_q < 16'(FrameBytes));
  assert property (@(posedge clk_i) disable iff (!armed) done_i |-> state_q == Run);
  // The first data byte is there when the header is over.
  assert property (@(posedge clk_i) disable iff (!armed) state_q == SendData |-> read_valid_q);
  assert property (@(posedge clk_i) disable iff (!armed) last_field && give && !abort_i |=> in_crc);
`endif
endmodule
