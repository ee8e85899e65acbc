package translate

import (
	"runtime"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// kilobyte is a message of about a kilobyte, most of it text.
var kilobyte = `{"message":{"messageId":"0198c6f2-7c1e-7d0a-b7f5-0c2e8f3b1a55","contextId":"ctx-1","role":"ROLE_USER",
	"parts":[{"text":"` + strings.Repeat("Plan a trip to Lisbon. ", 30) + `"},{"data":{"nights":[1,2,3],"who":"me"},"metadata":{"a":"b"}}],
	"metadata":{"https://example.com/ext/v1":{"x":[1,2,{"y":null}]}}},"configuration":{"historyLength":5,"acceptedOutputModes":["text/plain"]}}`

const event = `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"0198c6f2-7c1e-7d0a-b7f5-0c2e8f3b1a55",
	"contextId":"ctx-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-11-21T08:13:46.575Z","message":{"messageId":"m",
	"role":"ROLE_AGENT","parts":[{"text":"Looking for flights"}]}}}}}`

func decodedSend(tb testing.TB, doc string) *wire.Call {
	tb.Helper()
	c := new(wire.Call)
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + doc + `}`
	if e := c.DecodeJSONRPC([]byte(body), "", wire.Limits{Body: 64 << 20}); e != nil {
		tb.Fatal(e)
	}
	return c
}

func BenchmarkRequest(b *testing.B) {
	for _, to := range []wire.Side{rpc01, rpc03, http03, grpc03, http10, grpc10} {
		b.Run(to.String(), func(b *testing.B) {
			c := decodedSend(b, kilobyte)
			c.TaskID = "T"
			b.ReportAllocs()
			b.SetBytes(int64(len(kilobyte)))
			for b.Loop() {
				if _, e := Request(c, nil, To{Side: to, ID: []byte("1")}); e != nil {
					b.Fatal(e)
				}
			}
		})
	}
}

func BenchmarkEvent(b *testing.B) {
	for _, to := range []wire.Side{rpc01, rpc03, http03, grpc03, http10, grpc10} {
		b.Run(to.String(), func(b *testing.B) {
			r := Retelling{From: rpc10, Call: callOf(to, wire.SendStreamingMessage, wire.Call{TaskID: "T"})}
			doc := []byte(event)
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Event(doc, func([]byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAnswer(b *testing.B) {
	r := Retelling{From: rpc10, Call: callOf(rpc03, wire.SendMessage, wire.Call{})}
	doc := []byte(`{"jsonrpc":"2.0","id":1,"result":` + golden10 + `}`)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = r.Answer(dst[:0], doc); err != nil {
			b.Fatal(err)
		}
	}
}

const tenMegabytes = 10 << 20

func fileSend() string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"` + strings.Repeat("QUJD", tenMegabytes/4) + `","filename":"f"}]}}`
}

func BenchmarkFile(b *testing.B) {
	c := decodedSend(b, fileSend())
	b.ReportAllocs()
	b.SetBytes(tenMegabytes)
	for b.Loop() {
		if _, e := Request(c, nil, To{Side: rpc03}); e != nil {
			b.Fatal(e)
		}
	}
}

// TestFileIsCopiedOnce: a large file is written into the outgoing body and nowhere
// else.
func TestFileIsCopiedOnce(t *testing.T) {
	c := decodedSend(t, fileSend())
	task := []byte(`{"result":{"kind":"task","id":"T","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[{"kind":"file","file":{"bytes":"` +
		strings.Repeat("QUJD", tenMegabytes/4) + `"}}]}]}}`)
	r := Retelling{From: rpc03, Call: callOf(rpc10, wire.SendMessage, wire.Call{})}
	for name, do := range map[string]func(){
		"request": func() {
			if _, e := Request(c, nil, To{Side: rpc03}); e != nil {
				t.Fatal(e)
			}
		},
		"answer": func() {
			if _, err := r.Answer(nil, task); err != nil {
				t.Fatal(err)
			}
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > tenMegabytes*5/4 {
			t.Errorf("%s: %d bytes were allocated for a file of %d", name, got, tenMegabytes)
		}
	}
}
