package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/a2apb"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
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

func BenchmarkDecodeJSONRPC(b *testing.B) {
	for name, body := range benchBodies() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var c Call
			for b.Loop() {
				if e := c.DecodeJSONRPC(body, "", Limits{}); e != nil {
					b.Fatal(e)
				}
			}
		})
	}
}

// BenchmarkJSONText is the same bodies read by the library that scanner is
// measured against: tokens checked, nothing kept.
func BenchmarkJSONText(b *testing.B) {
	for name, body := range benchBodies() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !jsontext.Value(body).IsValid() {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkByRoute(b *testing.B) {
	for _, path := range []string{"/message:send", "/acme/tasks/7:subscribe", "/v1/tasks/7/pushNotificationConfigs/c"} {
		b.Run(path[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ByRoute("POST", path); !ok {
					b.Fatal("no route")
				}
			}
		})
	}
}

// BenchmarkDecodeGRPC is a message of 700 bytes in both versions.
func BenchmarkDecodeGRPC(b *testing.B) {
	text := strings.Repeat("Lorem ipsum dolor. ", 30)
	for path, message := range map[string]proto.Message{
		service10 + SendMessage: &a2apbv1.SendMessageRequest{Metadata: selecting("s"), Message: &a2apbv1.Message{
			MessageId: "01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a10", ContextId: "01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a11",
			Role: a2apbv1.Role_ROLE_USER, Parts: []*a2apbv1.Part{{Content: &a2apbv1.Part_Text{Text: text}}},
		}},
		service03 + SendMessage: &a2apb.SendMessageRequest{Metadata: selecting("s"), Request: &a2apb.Message{
			MessageId: "01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a10", ContextId: "01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a11",
			Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Part: &a2apb.Part_Text{Text: text}}},
		}},
	} {
		m, v, _ := ByRPC(path)
		body := pb(b, message)
		b.Run(string(v), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var c Call
			for b.Loop() {
				if e := c.DecodeGRPC(m, v, body, "", Limits{}); e != nil {
					b.Fatal(e)
				}
			}
		})
	}
}
