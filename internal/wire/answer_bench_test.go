package wire

import (
	"fmt"
	"strings"
	"testing"
)

// taskAnswer is a completed task as the Go SDK answers it, with n bytes of text.
func taskAnswer(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"0199d1f2-5f6e-7c1a-9a77-0c7b5f0e3a10","result":{"task":{`+
		`"id":"0199d1f2-6a01-7b44-8e2d-3f1a9c55b7e2","contextId":"0199d1f2-6a01-7b44-8e2d-3f1a9c55b7e3",`+
		`"status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-21T08:13:46.575Z"},`+
		`"artifacts":[{"artifactId":"a1","parts":[{"text":%q}]}],`+
		`"history":[{"messageId":"0199d1f2-6a01-7b44-8e2d-3f1a9c55b7e4","role":"ROLE_USER","parts":[{"text":"go"}]}]}}}`,
		strings.Repeat("lorem ipsum ", n/12))
}

func BenchmarkReadAnswer(b *testing.B) {
	send, _ := ByName(V10, SendMessage)
	stream, _ := ByName(V10, SendStreamingMessage)
	event := `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"T","contextId":"C",` +
		`"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-11-21T08:13:46.575Z"}}}}`
	for _, c := range []struct {
		name   string
		method *Method
		body   []byte
	}{
		{"600B", send, taskAnswer(120)},
		{"10KB", send, taskAnswer(9600)},
		{"1MB", send, taskAnswer(1 << 20)},
		{"event", stream, []byte(event)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				if _, err := ReadAnswer(JSONRPC, V10, c.method, c.body, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFilterTasks(b *testing.B) {
	list, _ := ByName(V10, ListTasks)
	var tasks []string
	for i := range 50 {
		tasks = append(tasks, fmt.Sprintf(`{"id":"task-%d","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`, i))
	}
	body := []byte(`{"tasks":[` + strings.Join(tasks, ",") + `],"nextPageToken":"","pageSize":50,"totalSize":50}`)
	a, err := ReadAnswer(HTTPJSON, V10, list, body, Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, err := FilterTasks(HTTPJSON, V10, body, a, func(TaskRef) bool { n++; return n%5 != 0 }); err != nil {
			b.Fatal(err)
		}
	}
}
