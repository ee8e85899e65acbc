package fold

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// large is a task of 64 KiB, most of it an artifact.
func large(b *testing.B) *Task {
	task := &Task{}
	if err := task.Apply(largeEvent()); err != nil {
		b.Fatal(err)
	}
	return task
}

var largeEvent = sync.OnceValue(func() []byte {
	var parts []string
	for i := range 64 {
		parts = append(parts, fmt.Sprintf(`{"text":"%d %s"}`, i, strings.Repeat("x", 1000)))
	}
	artifact := `{"artifactId":"a","parts":[` + strings.Join(parts, ",") + `]}`
	return []byte(`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"},"artifacts":[` + artifact + `]}}`)
})

func BenchmarkApply(b *testing.B) {
	status := `{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-11-21T08:13:46.575Z",` +
		`"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"` + strings.Repeat("x", 400) + `"}]}}}}`
	word := chunk(`{"artifactId":"a","parts":[{"text":"word "}]}`, `,"append":true`)
	long := chunk(`{"artifactId":"a","parts":[{"raw":"`+strings.Repeat("QUJD", 16<<10)+`"}]}`, `,"append":true`)
	for _, bench := range []struct {
		name, event string
	}{{"status", status}, {"word", word}, {"64KiB", long}} {
		b.Run(bench.name, func(b *testing.B) {
			task, event := large(b), []byte(bench.event)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; n%1000 == 0 {
					task = large(b)
				}
				if err := task.Apply(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStream folds a whole stream: twice the words must cost twice the time.
func BenchmarkStream(b *testing.B) {
	word := []byte(chunk(`{"artifactId":"a","parts":[{"text":"word "}]}`, `,"append":true`))
	for _, words := range []int{10_000, 20_000} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				task := &Task{}
				for range words {
					if err := task.Apply(word); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkMissing(b *testing.B) {
	task := large(b)
	now, err := task.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(now)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := task.Missing(now); err != nil {
			b.Fatal(err)
		}
	}
}
