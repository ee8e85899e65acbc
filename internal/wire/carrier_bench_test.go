package wire

import (
	"bytes"
	"testing"
)

func BenchmarkReadCarriers(b *testing.B) {
	send, _ := ByName(V10, SendMessage)
	const mark = `"https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1/timestamp":"2026-11-21T08:13:46.575Z"`
	marked := bytes.Replace(taskAnswer(100), []byte(`"artifactId":"a1"`), []byte(`"artifactId":"a1","metadata":{`+mark+
		`,"trace":{"id":7}},"extensions":["https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"]`), 1)
	for _, c := range []struct {
		name   string
		side   Side
		answer bool
		doc    []byte
	}{
		{"700B", Side{V03, JSONRPC}, false, sendOf(300)},
		{"1KB-3-marks", Side{V10, JSONRPC}, true, marked},
		{"1MB", Side{V10, JSONRPC}, true, taskAnswer(1 << 20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.doc)))
			for b.Loop() {
				if _, err := ReadCarriers(c.side, send, c.answer, c.doc, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	send, _ := ByName(V10, SendMessage)
	c, err := ReadCarriers(Side{V03, JSONRPC}, send, false, sendOf(300), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	c.Set(1, "https://a2a-gateway.dev/x", []byte(`{"a":1}`))
	c.Add(1, "https://a2a-gateway.dev/x")
	b.ReportAllocs()
	for b.Loop() {
		c.Apply()
	}
}
