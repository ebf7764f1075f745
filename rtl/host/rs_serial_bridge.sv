// SPDX-License-Identifier: Apache-2.0
// Does the commands of the serial host: AXI4-Lite register accesses, the data of LOAD and STORE.
//
//   command_i, in_* (its data) -> Gather -> AXI4-Lite master (registers)
//                             \-> din_* bytes (LOAD)
//   out_* <- register words, dout_* bytes (STORE), the greeting
//
// Registers are written in order; the first one that does not exist ends the command, refused. LOAD and STORE move a
// byte a cycle as the core takes and gives them. Meaning of the commands: rs_serial_pkg.
module rs_serial_bridge
  import rs_axil_pkg::*;
  import rs_serial_pkg::*;
#(
  // Data bytes of a frame at most, which the greeting tells: a power of two from 64 to 32768.
  parameter int unsigned FrameBytes = 2048
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // See rs_serial_frames.
  input  command_t         command_i,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic      [ 7:0] in_data_i,
  output logic             out_valid_o,
  output logic      [ 7:0] out_data_o,
  output logic             done_o,
  output logic             refused_o,
  // Data of the transfer that waits; left_i: its bytes still to move, 0 if none waits in that direction.
  input  logic      [23:0] din_left_i,
  output logic             din_valid_o,
  input  logic             din_ready_i,
  output logic      [ 7:0] din_data_o,
  input  logic      [23:0] dout_left_i,
  input  logic             dout_valid_i,
  output logic             dout_ready_o,
  input  logic      [ 7:0] dout_data_i,
  // AXI4-Lite master.
  output axil_req_t        axil_o,
  input  axil_rsp_t        axil_i
);
  if (FrameBytes < 64 || FrameBytes > 32768 || (FrameBytes & (FrameBytes - 1)) != 0) begin : gen_check_bytes
    $fatal(1, "%m: FrameBytes = %0d must be a power of two from 64 to 32768", FrameBytes);
  end

  typedef enum logic [3:0] {
    Idle,
    Gather,   // address and data of a register
    Write,    // register write on the bus
    Read,     // register read on the bus
    PutWord,  // its bytes to the answer
    Load,     // data to the core
    Store,    // data from the core
    Hello,    // version and size of a frame
    Over,
    Refusal
  } state_e;
  state_e state_q, state_d;

  // Bytes of the command still to move; of a register's address and data, or of its word, those that are over.
  logic [15:0] left_q;
  logic [ 2:0] place_q;
  logic [47:0] entry_q;
  logic [31:0] word_q;
  logic [15:0] address_q;
  logic aw_pending_q, w_pending_q, ar_pending_q;
  logic take, move, entry_over, word_over;

  assign take       = in_valid_i && in_ready_o;
  assign move       = take || out_valid_o;
  assign entry_over = state_q == Gather && take && place_q == 3'd5;
  assign word_over  = state_q == PutWord && place_q == 3'd3;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:
      if (command_i.valid) begin
        unique case (command_i.kind)
          Greet: state_d = Hello;
          WriteReg: state_d = Gather;
          ReadReg: state_d = (command_i.length[1:0] == '0) ? Read : Refusal;
          WriteData: state_d = (24'(command_i.length) <= din_left_i) ? Load : Refusal;
          default: state_d = (24'(command_i.length) <= dout_left_i) ? Store : Refusal;
        endcase
      end
      Gather:
      if (entry_over) state_d = Write;
      else if (take && left_q == 16'd1) state_d = Refusal;
      Write:
      if (axil_i.bvalid && !aw_pending_q && !w_pending_q) begin
        if (axil_i.bresp != '0) state_d = Refusal;
        else state_d = (left_q == '0) ? Over : Gather;
      end
      Read: if (axil_i.rvalid && !ar_pending_q) state_d = (axil_i.rresp != '0) ? Refusal : PutWord;
      PutWord: if (word_over) state_d = (left_q == 16'd1) ? Over : Read;
      Load:
      if (din_left_i == '0) state_d = Refusal;  // a reset has taken the transfer back
      else if (take && left_q == 16'd1) state_d = Over;
      Store:
      if (dout_left_i == '0) state_d = Refusal;
      else if (out_valid_o && left_q == 16'd1) state_d = Over;
      Hello: if (place_q == 3'd1) state_d = Over;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      left_q    <= '0;
      place_q   <= '0;
      entry_q   <= '0;
      word_q    <= '0;
      address_q <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == Idle) begin
        left_q    <= command_i.length;
        address_q <= command_i.address;
      end else if (move && state_q != Hello) begin
        left_q <= left_q - 16'd1;
      end
      if (state_d != state_q) place_q <= '0;
      else if (move) place_q <= place_q + 3'd1;
      if (state_q == Gather && take) entry_q <= {in_data_i, entry_q[47:8]};
      if (state_q == Read && axil_i.rvalid) word_q <= axil_i.rdata;
      else if (state_q == PutWord) word_q <= word_q >> 8;
      if (word_over) address_q <= address_q + 16'd4;
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_pending_q <= 1'b0;
      w_pending_q  <= 1'b0;
      ar_pending_q <= 1'b0;
    end else begin
      if (entry_over) {aw_pending_q, w_pending_q} <= 2'b11;
      else begin
        if (axil_i.awready) aw_pending_q <= 1'b0;
        if (axil_i.wready) w_pending_q <= 1'b0;
      end
      if (state_q != Read && state_d == Read) ar_pending_q <= 1'b1;
      else if (axil_i.arready) ar_pending_q <= 1'b0;
    end
  end

  assign axil_o = '{
          awvalid: aw_pending_q,
          awaddr: entry_q[11:0],
          wvalid: w_pending_q,
          wdata: entry_q[47:16],
          wstrb: '1,
          bready: state_q == Write,
          arvalid: ar_pending_q,
          araddr: address_q[11:0],
          rready: state_q == Read
      };

  // -------------------------------------------------------------------------------------------------------------- data
  assign din_valid_o  = state_q == Load && in_valid_i && din_left_i != '0;
  assign din_data_o   = in_data_i;
  assign dout_ready_o = state_q == Store;
  assign in_ready_o   = state_q == Gather || (state_q == Load && din_ready_i && din_left_i != '0);

  assign out_valid_o  = state_q inside {PutWord, Hello} || (state_q == Store && dout_valid_i);
  always_comb begin
    unique case (state_q)
      PutWord: out_data_o = word_q[7:0];
      Store:   out_data_o = dout_data_i;
      default: out_data_o = (place_q == '0) ? Version : 8'($clog2(FrameBytes));
    endcase
  end

  assign done_o    = state_q inside {Over, Refusal};
  assign refused_o = state_q == Refusal;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) done_o |-> command_i.valid);
  assert property (@(posedge clk_i) disable iff (!armed) axil_o.awvalid && !axil_i.awready |=> axil_o.awvalid && $stable(
    axil_o.awaddr
  ));
  assert property (@(posedge clk_i) disable iff (!armed) axil_o.arvalid && !axil_i.arready |=> axil_o.arvalid && $stable(
    axil_o.araddr
  ));
`endif
endmodule
