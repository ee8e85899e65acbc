package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// benchWorld has an agent that answers at once with 600 bytes.
func benchWorld(b *testing.B, edit ...func(*proxytest.Setup)) *proxytest.Gateway {
	w := proxytest.NewGateway(b, edit...)
	w.Logs = nil
	instant(w, "")
	return w
}

// instant has the agent answer at once with 600 bytes, in which the task has these
// further members, and with these headers.
func instant(w *proxytest.Gateway, members string, header ...string) {
	answer := `{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"text":"` + strings.Repeat("x", 450) + `"}]}]` + members + `}}}`
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		for _, h := range append(header, "Content-Type: application/json") {
			name, value, _ := strings.Cut(h, ": ")
			rw.Header().Set(name, value)
		}
		_, _ = io.WriteString(rw, answer)
		w.Agent.Take()
	})
}

// BenchmarkUnary is one call at a time over a kept-alive connection, straight to
// the agent and through the gateway; the allocations are those of all sides.
func BenchmarkUnary(b *testing.B) {
	w := benchWorld(b)
	for _, tt := range []struct{ name, url string }{{"direct", w.Agent.URL + "/rpc"}, {"gateway", w.Base}} {
		b.Run(tt.name, func(b *testing.B) {
			body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
			r := w.Request("alice", "POST", tt.url, body, "A2A-Version: 1.0")
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(strings.NewReader(body))
				resp, err := w.Client.Transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Fatal(resp.Status)
				}
			}
		})
	}
}

// BenchmarkServeHTTP is the gateway without a client in front, and the agent
// over a real connection.
func BenchmarkServeHTTP(b *testing.B) {
	body := []byte(proxytest.RPCBody("SendMessage", proxytest.Message("")))
	serve(benchWorld(b), b, func() []byte { return body })
}

// serve is one call after the other, without a client.
func serve(w *proxytest.Gateway, b *testing.B, body func() []byte, header ...string) {
	from := bytes.NewReader(nil)
	r := w.Request("alice", "POST", "", string(body()), append(header, "A2A-Version: 1.0")...)
	r.RequestURI, r.Host = "/agents/rec", strings.TrimPrefix(w.URL, "http://")
	r.URL.Host, r.URL.Scheme = "", ""
	r.RemoteAddr = "127.0.0.1:1"
	out := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(body())
		r.Body = io.NopCloser(from)
		clear(out.header)
		w.Proxy.ServeHTTP(out, r)
		if out.status != http.StatusOK {
			b.Fatal(out.status)
		}
	}
}

// BenchmarkExtensions is the same with extensions, step by step: none; a registry of a
// hundred, of which the agent declares ten; three that are asked for; a value of each in
// the message and in the task that is answered; a schema for one of them. An agent and
// the gateway's store are built anew for every step.
func BenchmarkExtensions(b *testing.B) {
	const plain = `"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]`
	value := func(n int) string {
		return fmt.Sprintf(`{%q:{"code":"ABC-%d","lines":[{"sku":"A-1","count":2},{"sku":"B-2","count":3}]},%q:"x",%q:[1,2]}`,
			benchURI(0), n, benchURI(1), benchURI(2))
	}
	asked := "A2A-Extensions: " + benchURI(0) + "," + benchURI(1) + "," + benchURI(2)
	for _, tt := range []struct {
		name               string
		size               int
		schema             string
		asks, marks, fresh bool
	}{
		{name: "none"},
		{name: "registry", size: 100},
		{name: "asked", size: 100, asks: true},
		{name: "marked", size: 100, asks: true, marks: true},
		{name: "schema/known", size: 100, asks: true, marks: true, schema: benchSchema},
		{name: "schema/new", size: 100, asks: true, marks: true, schema: benchSchema, fresh: true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := benchWorld(b, hundred(tt.size, tt.schema))
			var header []string
			if tt.asks {
				header = []string{asked}
				instant(w, "", header...)
			}
			n, body := 0, []byte(proxytest.RPCBody("SendMessage", `{"message":{`+plain+`}}`))
			if tt.marks {
				instant(w, `,"metadata":`+value(0), header...)
				body = []byte(proxytest.RPCBody("SendMessage", `{"message":{`+plain+`,"metadata":`+value(0)+`}}`))
			}
			serve(w, b, func() []byte {
				if n++; tt.fresh {
					body = []byte(proxytest.RPCBody("SendMessage", `{"message":{`+plain+`,"metadata":`+value(n)+`}}`))
				}
				return body
			}, header...)
		})
	}
}

func benchURI(n int) string { return fmt.Sprintf("https://extensions.example.com/%02d/v1", n) }

const benchSchema = `{"type":"object","required":["code","lines"],"properties":{
	"code":{"type":"string","pattern":"^[A-Z]{3}-[0-9]+$"},
	"lines":{"type":"array","minItems":1,"items":{"type":"object","required":["sku","count"],"additionalProperties":false,
		"properties":{"sku":{"type":"string","maxLength":20},"count":{"type":"integer","minimum":1}}}}}}`

// hundred gives a world a registry of so many, with a schema for the first one's values,
// and an agent that declares ten of them; of none, the usual ones.
func hundred(size int, values string) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) {
		var declared []string
		for i := range size {
			e := ext.Entry{URI: benchURI(i)}
			if i < 10 {
				declared = append(declared, fmt.Sprintf(`{"uri":%q}`, e.URI))
			}
			if i == 0 && values != "" {
				e.Schemas.Metadata = map[string]schema.Source{e.URI: proxytest.Inline(values)}
			}
			s.Extensions = append(s.Extensions, e)
		}
		if declared == nil {
			return
		}
		s.Agent.Card.URL += "?many"
		s.Docs = map[string]func(string) string{"many": func(base string) string {
			return strings.Replace(proxytest.Card(base), `{"uri":"urn:declared"}`, strings.Join(declared, ","), 1)
		}}
	}
}

// sink is a client that takes everything and keeps the status.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// SetWriteDeadline is there because net/http's have it, and an error for its absence is made.
func (s *sink) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkStreamEvent is one event of a stream that never ends.
func BenchmarkStreamEvent(b *testing.B) {
	w := proxytest.NewGateway(b)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		frame := []byte(strings.Replace(proxytest.EventOf(r, proxytest.WorkingTask(1)), `{"n":1}`, `{"x":"`+strings.Repeat("x", 450)+`"}`, 1))
		frame = bytes.Repeat(frame, 32)
		for r.Context().Err() == nil {
			_, _ = rw.Write(frame)
			proxytest.Flush(rw)
		}
	})
	for _, tt := range []struct{ name, url string }{{"direct", w.Agent.URL + "/rpc"}, {"gateway", w.Base}} {
		b.Run(tt.name, func(b *testing.B) {
			resp, err := w.Client.Transport.RoundTrip(
				w.Request("alice", "POST", tt.url, proxytest.RPCBody("SendStreamingMessage", proxytest.Message("")), "A2A-Version: 1.0"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			in := bufio.NewReaderSize(resp.Body, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				for {
					line, err := in.ReadSlice('\n')
					if err != nil {
						b.Fatal(err)
					}
					if len(line) == 1 {
						break
					}
				}
			}
		})
	}
}

// BenchmarkFiles is a call with a file that may pass, and the same in its answer: none,
// one by URL, one of 64 KiB inline.
func BenchmarkFiles(b *testing.B) {
	for name, part := range map[string]string{
		"none": `{"text":"hi"}`, "url": `{"url":"https://files.example.com/q3.pdf","mediaType":"application/pdf","filename":"q3.pdf"}`,
		"inline": `{"raw":"` + strings.Repeat("QUJD", 16<<10) + `","mediaType":"image/png"}`,
	} {
		b.Run(name, func(b *testing.B) {
			w := benchWorld(b)
			instant(w, `,"history":[{"messageId":"a","role":"ROLE_AGENT","parts":[`+part+`]}]`)
			body := []byte(proxytest.RPCBody("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[`+part+`]}}`))
			serve(w, b, func() []byte { return body })
		})
	}
}
