package operator

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// composeGRPC makes the message and names the agent: by its host, or as the tenant of 1.0
// where agents share one, as paths of gRPC name none. The body is one frame of gRPC: a byte
// that says whether it is compressed, the length of the message in four bytes, and the
// message in protobuf. The message is kept in JSON as well, for the page.
func (c *trial) composeGRPC() error {
	to := translate.To{Side: c.side, ID: []byte(trialID)}
	switch {
	case c.Skill != "" && c.host != "":
		return amiss("skill", "over gRPC none can be named at a host of the agent's own")
	case c.host == "" && c.side.Version == wire.V03:
		return amiss("binding", "A2A 0.3 over gRPC names no agent: it takes a host of the agent's own (agents[].hosts)")
	case c.host == "":
		if to.Tenant = c.Agent; c.Skill != "" {
			to.Tenant += "/skills/" + c.Skill
		}
	}
	out, wrong := translate.Request(&c.call, nil, to)
	if wrong != nil {
		return amiss("params", "they make no request: %s", wrong.Message)
	}
	c.verb, c.path, c.body, c.message = http.MethodPost, out.Path, out.Body, out.Call.Params
	return nil
}

// roundTripper makes one request at the public listener. For gRPC it speaks HTTP/2 from the
// first byte, as gRPC's clients do. tap is where the bytes of the connection are kept.
// Those of HTTP/2 would tell nobody anything: header fields are compressed (RFC 7541) and
// frames are interleaved. describe and describeSent make readable text in their place. end closes the
// connection; none is used a second time.
func (t Trials) roundTripper(c *trial, tap *tap) (rt http.RoundTripper, end func()) {
	// ALPN (RFC 7301) names the protocol in the handshake of TLS
	protocols, protocol := new(http.Protocols), "http/1.1"
	protocols.SetHTTP1(true)
	if c.side.Binding == wire.GRPC { // of which the bytes are not shown
		protocols, protocol, tap = new(http.Protocols), "h2", nil
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
	}
	transport := &http.Transport{
		Protocols: protocols, DialContext: t.dial(tap, protocol, false), DialTLSContext: t.dial(tap, protocol, true),
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: trialHeads,
	}
	return transport, transport.CloseIdleConnections
}

// describeSent has what HTTP/2 says in a form that can be read, in the place of its bytes:
// header fields, of which those on the wire are compressed, and the frames of gRPC's
// messages. The body is a dump in hexadecimal, with the frames of gRPC in it.
func (c *trial) describeSent(r *http.Request) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, ":method: %s\n:scheme: %s\n:authority: %s\n:path: %s\n", r.Method, r.URL.Scheme, r.Host, r.URL.RequestURI())
	fields(&text, r.Header)
	text.WriteString("\n" + c.dump(c.body))
	return []byte(text.String())
}

// describe has what was received in that form. Without a status there was no answer, and
// nothing was received.
func (c *trial) describe(s *sight) []byte {
	if s.status == 0 {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, ":status: %d\n", s.status)
	fields(&text, s.header)
	text.WriteString("\n" + c.dump(s.body))
	if len(s.trailer) > 0 {
		text.WriteString("\n")
		fields(&text, s.trailer)
	}
	return []byte(text.String())
}

// dump is a body in hexadecimal. The credential is taken out before: behind, it is in pieces.
func (c *trial) dump(body []byte) string {
	if secret := cmp.Or(c.APIKey, c.Bearer); secret != "" {
		body = bytes.ReplaceAll(body, []byte(secret), []byte("[redacted]"))
	}
	return hex.Dump(body)
}

// fields writes header fields one a line and by name, so that two trials can be compared.
// Names are in lower case, as HTTP/2 has them on the wire (RFC 9113, section 8.2).
func fields(to *strings.Builder, h http.Header) {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range h[name] {
			fmt.Fprintf(to, "%s: %s\n", strings.ToLower(name), v)
		}
	}
}

// failed is the status of a gRPC call that did not go well. gRPC has the status in
// trailers, or in the header where there is no body ("trailers-only"). It is a number and a
// text, such as "5 task not found"; empty for a call that went well or had no answer.
func (s *sight) failed() string {
	if s.ended != endedWhole || s.status == 0 {
		return ""
	}
	if e := failure.ReadStatus(s.header, s.trailer); e != nil {
		from := s.trailer
		if from.Get("Grpc-Status") == "" {
			from = s.header
		}
		return strings.TrimSpace(from.Get("Grpc-Status") + " " + e.Message)
	}
	return ""
}

// hostOf is the host of an agent's own, with the public port. It is agents[].hosts[0].
// Without a port of its own it gets that of the public URL, which clients see; a URL with
// the default port of its scheme has none.
func (c *trial) hostOf(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	if _, _, err := net.SplitHostPort(hosts[0]); err == nil {
		return hosts[0]
	}
	if port := c.public.Port(); port != "" {
		return net.JoinHostPort(hosts[0], port)
	}
	return hosts[0]
}
