package message

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// sendOf is a message/send as SDKs write it, with a text part of n bytes.
func sendOf(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"message/send","params":{"configuration":{"blocking":true,`+
		`"acceptedOutputModes":["text/plain","application/json"]},"message":{"kind":"message",`+
		`"messageId":"01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a10","contextId":"01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a11",`+
		`"role":"user","parts":[{"kind":"text","text":"%s"}],"metadata":{"locale":"en"}}},`+
		`"id":"01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a12"}`, strings.Repeat("Lorem ipsum dolor. ", n/19+1)[:n])
}

// benchBodies are the sizes that performance figures are given for.
func benchBodies() map[string][]byte {
	file := strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo5", 1<<20/36)
	return map[string][]byte{
		"700B":      sendOf(300),
		"10KB":      sendOf(10 << 10),
		"1MB":       bytes.Replace(sendOf(300), []byte(`"kind":"text","text":"`), []byte(`"raw":"`+file+`","text":"`), 1),
		"10KB-utf8": bytes.ReplaceAll(sendOf(10<<10), []byte("Lorem ipsum"), []byte("語言模型代理")),
	}
}

// BenchmarkRead is what judging contents costs beside decoding.
func BenchmarkRead(b *testing.B) {
	bodies := benchBodies()
	bodies["1MB"] = bytes.Replace(bodies["700B"], []byte(`{"kind":"text",`),
		fmt.Appendf(nil, `{"kind":"file","file":{"bytes":"%s"}},{"kind":"text",`, strings.Repeat("QUJD", 1<<18)), 1)
	for name, body := range bodies {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var c wire.Call
			if e := c.DecodeJSONRPC(body, "", wire.Limits{}); e != nil {
				b.Fatal(e)
			}
			for b.Loop() {
				if _, e := Read(&c); e != nil {
					b.Fatal(e)
				}
			}
		})
	}
}
