package strict

import (
	"net"
	"strings"
	"testing"
)

// typical is a call as SDKs send it, with a few fields of proxies; some 700 bytes.
var typical = strings.ReplaceAll(`POST /agents/billing/v1/message:send HTTP/1.1
Host: gateway.example.com:8443
User-Agent: a2a-go/2.4.0
Content-Length: 700
Content-Type: application/json
Accept: application/json, text/event-stream
Accept-Encoding: gzip
A2A-Version: 1.0
A2A-Extensions: https://example.com/ext/a/v1
Authorization: Bearer `+strings.Repeat("a", 250)+`
Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
X-Forwarded-For: 192.0.2.1
Connection: keep-alive

`, "\n", "\r\n")

// calls is a connection on which the same request comes again and again.
type calls struct {
	net.Conn
	request, rest string
}

func (c *calls) Read(p []byte) (int, error) {
	if c.rest == "" {
		c.rest = c.request
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// TestNothingIsAllocated: not for a request, and not for a piece of one.
func TestNothingIsAllocated(t *testing.T) {
	rules := Rules{Head: head}
	for _, size := range []int{1, 100, 4096} {
		c, p := rules.Conn(&calls{request: typical + strings.Repeat("x", 700)}), make([]byte, size)
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := c.Read(p); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations for reads of %d", n, size)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, bench := range []struct{ name, request string }{
		{"head", strings.Replace(typical, "Content-Length: 700", "Content-Length: 0", 1)},
		{"body700", typical + strings.Repeat("x", 700)},
		{"chunks", strings.Replace(typical, "Content-Length: 700", "Transfer-Encoding: chunked", 1) +
			"2bc\r\n" + strings.Repeat("x", 700) + "\r\n0\r\n\r\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			rules := Rules{Head: head}
			c, p := rules.Conn(&calls{request: bench.request}), make([]byte, 4096)
			b.SetBytes(int64(len(bench.request)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Read(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
