// SPDX-License-Identifier: Apache-2.0
// Frames of the serial host (see rs_serial_pkg) to AXI4-Lite register accesses and the data of LOAD and STORE.
//
//   rx_* bytes -> frame parser -> AXI4-Lite master (registers)
//                             \-> din_* bytes (LOAD), dout_* bytes (STORE)
//   tx_* bytes <- answer
//
// The serial lines have no back-pressure: a byte that comes while rx_ready_o is low is lost. That is so only while an
// answer is on its way, when the other side sends fill bytes; LOAD data is taken at one byte per cycle, and a byte the
// core has no room for makes the answer Bad.
module rs_serial_bridge
  import rs_axil_pkg::*;
  import rs_serial_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  // Forget the frame that is being received or answered.
  input  logic             abort_i,
  // The next byte starts a frame.
  output logic             between_o,
  input  logic             rx_valid_i,
  output logic             rx_ready_o,
  input  logic      [ 7:0] rx_data_i,
  output logic             tx_valid_o,
  input  logic             tx_ready_i,
  output logic      [ 7:0] tx_data_o,
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
  typedef enum logic [3:0] {
    Between,   // skip fill, wait for the first byte
    Header,    // gather address, data, length
    Write,     // register write on the bus
    Read,      // register read on the bus
    TakeData,  // bytes of WriteData
    Ready,     // ReadData: wait for the first byte, so that Ok and data go out without a gap
    Status,    // send Ok or Bad
    SendWord,  // send the register read
    SendData   // bytes of ReadData
  } state_e;
  state_e state_q, state_d;

  logic [ 7:0] command_q;
  logic [47:0] header_q;
  logic [ 2:0] header_left_q;
  logic [23:0] left_q;
  logic bad_q, bad_d, aborted_q;
  logic aw_pending_q, w_pending_q, ar_pending_q;
  logic [31:0] word_q;
  logic [ 1:0] word_left_q;
  logic [47:0] header_next;
  logic take, header_over, accessing;
  logic [31:0] length;

  assign accessing   = state_q inside {Write, Read};
  assign between_o   = state_q == Between;
  assign rx_ready_o  = state_q inside {Between, Header, TakeData};
  assign take        = rx_valid_i && rx_ready_o;
  assign header_next = {rx_data_i, header_q[47:8]};
  assign header_over = take && state_q == Header && header_left_q == 3'd1;
  // The length is the last four bytes gathered.
  assign length      = header_next[47:16];

  function automatic logic [2:0] header_bytes(logic [7:0] command);
    unique case (command)
      WriteReg: return 3'd6;
      ReadReg: return 3'd2;
      WriteData, ReadData: return 3'd4;
      default: return 3'd0;
    endcase
  endfunction

  // ------------------------------------------------------------------------------------------------------------ parser
  always_comb begin
    state_d = state_q;
    bad_d   = bad_q;
    unique case (state_q)
      Between:
      if (take && !(rx_data_i inside {Idle, 8'hFF})) begin
        bad_d   = header_bytes(rx_data_i) == '0;
        state_d = bad_d ? Status : Header;
      end
      Header:
      if (header_over) begin
        unique case (command_q)
          WriteReg: state_d = Write;
          ReadReg:  state_d = Read;
          WriteData: begin
            bad_d   = length > 32'(din_left_i);
            state_d = (length == '0) ? Status : TakeData;
          end
          default: begin
            bad_d   = length > 32'(dout_left_i) || length == '0;
            state_d = bad_d ? Status : Ready;
          end
        endcase
      end
      Write:
      if (axil_i.bvalid && !aw_pending_q && !w_pending_q) begin
        bad_d   = axil_i.bresp != '0;
        state_d = Status;
      end
      Read:
      if (axil_i.rvalid && !ar_pending_q) begin
        bad_d   = axil_i.rresp != '0;
        state_d = Status;
      end
      TakeData:
      if (take) begin
        bad_d = bad_q || !din_ready_i;
        if (left_q == 24'd1) state_d = Status;
      end
      Ready: if (dout_valid_i) state_d = Status;
      Status:
      if (tx_ready_i) begin
        if (!bad_q && command_q == ReadReg) state_d = SendWord;
        else if (!bad_q && command_q == ReadData) state_d = SendData;
        else state_d = Between;
      end
      SendWord: if (tx_ready_i && word_left_q == '0) state_d = Between;
      SendData: if (dout_valid_i && tx_ready_i && left_q == 24'd1) state_d = Between;
      default: state_d = Between;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Between;
      aborted_q <= 1'b0;
      bad_q     <= 1'b0;
    end else begin
      // A bus access is finished even when its frame is aborted: AXI4-Lite has no way to take it back. Its answer is
      // not sent: the other side would take it for that of its next frame.
      if (!accessing || state_d != state_q) state_q <= (abort_i || aborted_q) ? Between : state_d;
      aborted_q <= accessing && state_d == state_q && (abort_i || aborted_q);
      bad_q     <= bad_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      command_q     <= '0;
      header_q      <= '0;
      header_left_q <= '0;
      left_q        <= '0;
      word_q        <= '0;
      word_left_q   <= '0;
    end else begin
      if (state_q == Between && take) begin
        command_q     <= rx_data_i;
        header_left_q <= header_bytes(rx_data_i);
      end
      if (state_q == Header && take) begin
        header_q      <= header_next;
        header_left_q <= header_left_q - 3'd1;
        left_q        <= length[23:0];
      end
      if ((state_q == TakeData && take) || (state_q == SendData && dout_valid_i && tx_ready_i))
        left_q <= left_q - 24'd1;
      if (state_q == Read && axil_i.rvalid) word_q <= axil_i.rdata;
      if (state_q == Status) word_left_q <= 2'd3;
      if (state_q == SendWord && tx_ready_i) begin
        word_q      <= word_q >> 8;
        word_left_q <= word_left_q - 2'd1;
      end
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_pending_q <= 1'b0;
      w_pending_q  <= 1'b0;
      ar_pending_q <= 1'b0;
    end else begin
      if (header_over) begin
        aw_pending_q <= command_q == WriteReg && !abort_i;
        w_pending_q  <= command_q == WriteReg && !abort_i;
        ar_pending_q <= command_q == ReadReg && !abort_i;
      end
      if (axil_i.awready && aw_pending_q) aw_pending_q <= 1'b0;
      if (axil_i.wready && w_pending_q) w_pending_q <= 1'b0;
      if (axil_i.arready && ar_pending_q) ar_pending_q <= 1'b0;
    end
  end

  logic [11:0] addr;
  assign addr   = (command_q == WriteReg) ? header_q[11:0] : header_q[43:32];
  assign axil_o = '{
          awvalid: aw_pending_q,
          awaddr: addr,
          wvalid: w_pending_q,
          wdata: header_q[47:16],
          wstrb: '1,
          bready: state_q == Write,
          arvalid: ar_pending_q,
          araddr: addr,
          rready: state_q == Read
      };

  // -------------------------------------------------------------------------------------------------------------- data
  assign din_valid_o    = state_q == TakeData && take && !bad_q;
  assign din_data_o     = rx_data_i;
  assign dout_ready_o   = state_q == SendData && tx_ready_i;

  assign tx_valid_o     = state_q inside {Status, SendWord} || (state_q == SendData && dout_valid_i);
  always_comb begin
    unique case (state_q)
      SendWord: tx_data_o = word_q[7:0];
      SendData: tx_data_o = dout_data_i;
      default:  tx_data_o = bad_q ? Bad : Ok;
    endcase
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed || abort_i) tx_valid_o && !tx_ready_i |=> tx_valid_o);
  assert property (@(posedge clk_i) disable iff (!armed) axil_o.awvalid && !axil_i.awready |=> axil_o.awvalid && $stable(
    axil_o.awaddr
  ));
`endif
endmodule
