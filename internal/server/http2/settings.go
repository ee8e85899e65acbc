package http2

import "encoding/binary"

// Settings (RFC 9113 §6.5.2).
const (
	settingTableSize     = 0x1
	settingPush          = 0x2
	settingStreams       = 0x3
	settingInitialWindow = 0x4
	settingMaxFrame      = 0x5
	settingHeadList      = 0x6
)

const (
	defaultWindow = 65535     // of streams and of the connection, before anybody said otherwise
	mostWindow    = 1<<31 - 1 // (RFC 9113 §6.9.1)
	tableSize     = 4096      // of HPACK's dynamic tables, in both directions
)

// Windows of bodies that come in. A client sends as much of a body that nobody reads, and no
// more: 64 KiB times the streams of a connection would be 6.4 MiB, of which the window of the
// connection lets 1 MiB be there at once.
const (
	streamWindow = 64 << 10
	connWindow   = 1 << 20
)

// headOverhead is what a list of fields is larger by than its text, of ten fields (RFC 9113
// §6.5.2: 32 bytes each). It is what net/http allows beside its limit.
const headOverhead = 10 * 32

// appendPreface appends what the server begins with (RFC 9113 §3.4): its settings, and the
// connection's window, which no setting is for and which would be 65,535 bytes for all streams
// together. Server push is not named: it is the client's to forbid, and the server has none.
func (s *Server) appendPreface(b []byte) []byte {
	pairs := [][2]uint32{
		{settingStreams, s.Streams},
		{settingInitialWindow, streamWindow},
		{settingMaxFrame, maxFrame},
		{settingHeadList, uint32(s.Head + headOverhead)}, //nolint:gosec // a limit of the configuration
	}
	b = appendFrame(b, frameSettings, 0, 0, 6*len(pairs))
	for _, p := range pairs {
		b = binary.BigEndian.AppendUint16(b, uint16(p[0])) //nolint:gosec // a name of them
		b = binary.BigEndian.AppendUint32(b, p[1])
	}
	return appendWindowUpdate(b, 0, connWindow-defaultWindow)
}

// settings takes what the client wants over, and acknowledges it once all of it holds: from then
// on the client may rely on it. It takes it over in the order that it is written in: a setting
// may stand there more than once, and the last value holds (RFC 9113 §6.5.3).
func (c *conn) settings(f *frame) error {
	switch {
	case f.stream != 0:
		return &connError{codeProtocol, "settings_stream"}
	case f.has(flagAck) && len(f.payload) > 0:
		return &connError{codeFrameSize, "settings_ack_size"}
	case f.has(flagAck):
		return nil
	case len(f.payload)%6 != 0:
		return &connError{codeFrameSize, "settings_size"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := f.payload; len(p) > 0; p = p[6:] {
		if err := c.set(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])); err != nil {
			return err
		}
	}
	return c.reply(appendFrame(nil, frameSettings, flagAck, 0, 0))
}

// set takes one setting. A window at the beginning of streams counts for those that are open
// too, whose windows may become negative by it (RFC 9113 §6.9.2). The largest frame that the
// client takes is checked and not used, as none is sent that is larger than the smallest
// that it may name. It is called with the lock.
//
// The encoder's table may be smaller than the default and never larger: it is memory for each
// connection, and the client's to ask for only up to there. Settings of other numbers are passed
// over (RFC 9113 §6.5.2).
func (c *conn) set(id uint16, value uint32) error {
	switch id {
	case settingTableSize:
		c.encoder.SetMaxDynamicTableSize(min(value, tableSize))
	case settingPush:
		if value > 1 {
			return &connError{codeProtocol, "settings_push"}
		}
	case settingInitialWindow:
		if value > mostWindow {
			return &connError{codeFlowControl, "settings_window"}
		}
		delta := int64(value) - c.initial
		c.initial = int64(value)
		for _, st := range c.streams {
			if st.window += delta; st.window > mostWindow {
				return &connError{codeFlowControl, "settings_window_overflow"}
			}
			st.wakeWriter()
		}
	case settingMaxFrame:
		if value < maxFrame || value > 1<<24-1 {
			return &connError{codeProtocol, "settings_max_frame"}
		}
	}
	return nil
}
