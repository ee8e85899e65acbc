package upstream

import (
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/http1"
)

// How long a connection may be silent before HTTP/2 asks whether somebody is
// still there. Without that, calls would go on being put on a connection whose
// other end has vanished, and each would wait for its own timeout.
const (
	silence = 30 * time.Second
	// gRPC servers count pings and take more than one in five minutes for abuse
	// (gRFC A8); they then close the connection under its streams.
	silenceGRPC = 5*time.Minute + 10*time.Second
	pong        = 15 * time.Second
)

// window is how much of one HTTP/2 answer the agent may send ahead of its reader:
// enough for a far agent's large answer, and with thousands of slow readers still
// less than net/http's 4 MiB for each.
const window = 1 << 20

// lines makes the connections for JSON: HTTP/1.1, or HTTP/2 where TLS agrees on it.
func (d *dialer) lines(connections int) *http1.Pool {
	return http1.New(http1.Options{Dial: d.connect, DialTLS: d.handshake, Other: d.pool(connections)})
}

// pool makes connections in net/http, for what is not a plain request over HTTP/1.1.
func (d *dialer) pool(connections int) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		// No Proxy: an environment variable must not reroute governed traffic.
		DialContext:    d.dial,
		DialTLSContext: d.dialTLS,
		Protocols:      protocols,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: silence, PingTimeout: pong, MaxReceiveBufferPerStream: window,
			// Most of what a call's head has is this call's own: ids, traces, addresses. HPACK's table would be
			// filled and emptied with it, which takes more of the processor than writing it out.
			MaxEncoderHeaderTableSize: 1,
		},
		MaxIdleConnsPerHost: connections, // in use there are never more than calls
		MaxIdleConns:        0,
		IdleConnTimeout:     90 * time.Second,
		// Compressed answers would have to be unpacked to be read, and could be bombs.
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// poolGRPC makes the connections for gRPC, which is HTTP/2 only: agreed on by
// TLS, or in plaintext known beforehand. An agent that speaks JSON on the same
// port in plaintext does so in HTTP/1.1, which is why there are two pools.
func (d *dialer) poolGRPC(connections int) *http.Transport {
	t := d.pool(connections)
	t.DialContext, t.DialTLSContext = d.connect, d.dialHTTP2
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	t.HTTP2.SendPingTimeout = silenceGRPC
	return t
}

// isGRPC reports whether a request is one of gRPC's: "application/grpc", with a
// codec ("+proto") or parameters behind it. gRPC-Web is something else.
func isGRPC(h http.Header) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(h.Get("Content-Type")), "application/grpc")
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "+; "))
}
