package http1

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCall compares a small call and its answer with the same over net/http, both
// under a context that can end. The agent, in the same process, answers with as little
// work as it can. "cpu" is user and system time of both; what a connection alone costs, on
// which the same bytes are written and read, is in all three.
func BenchmarkCall(b *testing.B) {
	said, answer := strings.Repeat("x", 700), answerOf(strings.Repeat("y", 600))
	url := bareAgent(b, len(said), answer)
	b.Run("connection", func(b *testing.B) {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		must(b, err)
		defer c.Close()
		m, err := compose(request(b.Context(), "POST", url, said))
		must(b, err)
		before, n, room := cpu(), 0, make([]byte, len(answer))
		for b.Loop() {
			n++
			_, err := c.Write(m.b)
			must(b, err)
			_, err = io.ReadFull(c, room)
			must(b, err)
		}
		b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(n), "cpu-ns/op")
	})
	var dials atomic.Int64
	for _, by := range []struct {
		name string
		rt   http.RoundTripper
	}{
		{"net-http", &http.Transport{
			MaxIdleConnsPerHost: 100, DisableCompression: true, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
		}},
		{"http1", newTestPool(b, &dials)},
	} {
		b.Run(by.name, func(b *testing.B) {
			b.ReportAllocs()
			before, n := cpu(), 0
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			template := request(ctx, "POST", url, "")
			template.Header["User-Agent"] = []string{""}
			room := make([]byte, 4096)
			for b.Loop() {
				n++
				r := *template
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(said)), int64(len(said))
				resp, err := by.rt.RoundTrip(&r)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = resp.Body.Read(room)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				_ = resp.Body.Close()
			}
			b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(n), "cpu-ns/op")
		})
		if c, ok := by.rt.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	}
}

// bareAgent knows how long a body is and looks for the head's end alone.
func bareAgent(b *testing.B, body int, answer string) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := make([]byte, 8192)
				for n := 0; ; {
					m, err := c.Read(in[n:])
					if err != nil {
						return
					}
					n += m
					if i := bytes.Index(in[:n], []byte("\r\n\r\n")); i < 0 || n < i+4+body {
						continue
					}
					n = 0
					if _, err := io.WriteString(c, answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// cpu is the time this process has had.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkParse reads the head of an ordinary answer.
func BenchmarkParse(b *testing.B) {
	text, _, _ := strings.Cut(answerOf("x"), "\r\n\r\n")
	text += "\r\ndate: Sat, 21 Nov 2026 13:00:00 GMT\r\nserver: uvicorn\r\n\r\n"
	b.ReportAllocs()
	var h head
	for b.Loop() {
		if err := h.parse(text, nil); err != nil {
			b.Fatal(err)
		}
	}
}
