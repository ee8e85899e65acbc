package record_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/redact"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// capturing has bodies captured, but for those that their callers say are secret.
func capturing(limit quantity.Size) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) {
		s.Content = audit.Content{Limit: limit, Rules: []audit.ContentRule{
			{Path: "$.message.metadata.class", Equals: "secret"},
			{Path: "$.message.metadata.class", Equals: "ask", Capture: "request", Label: "internal"},
			{Agents: []string{"other"}, Capture: "both", Label: "public"},
			{Agents: []string{"*"}, Capture: "both", Label: "restricted", Retention: quantity.Duration(24 * time.Hour),
				Redact: redact.Config{Paths: []redact.Place{{Path: "$..messageId", Action: "mask"}}}},
		}}
	}
}

// held is what was captured.
func held(w *proxytest.Gateway) vault.Reader {
	return audit.Config{Dir: filepath.Join(w.Dir, "audit")}.Source().Held(w.Ring)
}

func classed(class, text string) string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","metadata":{"class":"` + class + `"},"parts":[{"text":"` + text + `"}]}}`
}

// TestA28_CapturedContent: bodies are kept where a rule says so, without secrets, readable with
// the gateway's keys only, and can be erased while the records go on to verify.
func TestA28_CapturedContent(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, capturing(0))
	w.Call("alice", wire.SendMessage, classed("open", "mail bob@example.com, card 4111 1111 1111 1111"))
	w.Call("alice", wire.SendMessage, classed("ask", "question"))
	w.Call("alice", wire.SendMessage, classed("secret", "hidden"))

	record, _ := w.RecordOf(1)["content"].(map[string]any)
	if record["label"] != "restricted" || record["redactions"] != 3.0 {
		t.Fatalf("the record has %v", record)
	}
	id, _ := record["id"].(string)
	item, err := held(w).Item(id)
	if err != nil || item.Subject != "alice" || item.Digest != record["digest"] || item.RequestID != w.RecordOf(1)["request_id"] {
		t.Fatalf("%+v, %v", item, err)
	}
	if want := `{"message":{"messageId":"[masked]","role":"ROLE_USER","metadata":{"class":"open"},"parts":[{"text":"mail [email], card [card]"}]}}`; item.Request.Text != want {
		t.Errorf("the request is %s", item.Request.Text)
	}
	if item.Response == nil || !strings.Contains(item.Response.Text, `"result"`) {
		t.Errorf("the answer is %+v", item.Response)
	}
	asked, _ := w.RecordOf(2)["content"].(map[string]any)
	id, _ = asked["id"].(string)
	if item, err := held(w).Item(id); err != nil || item.Response != nil || !strings.Contains(item.Request.Text, "question") {
		t.Errorf("%+v, %v", item, err)
	}
	if w.RecordOf(3)["content"] != nil {
		t.Error("what is secret was captured")
	}
	// No hash, which has hexadecimal digits, has a card's number with its spaces in it by chance.
	nothingReads(w, "bob@example", "question", "4111 1111", "hidden")

	done, err := held(w).Erase(vault.Subject{Name: "alice"}, "", time.Now)
	if err != nil || done.Items != 2 {
		t.Errorf("erased %+v, %v", done, err)
	}
	for item := range held(w).Items() {
		t.Errorf("there is %+v", item)
	}
	proxytest.Must(t, w.Audit.Close())
	report, err := audit.Verify(context.Background(), audit.Config{Dir: filepath.Join(w.Dir, "audit")}.Source(), audit.Check{})
	if err != nil || slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return f.Kind != audit.Unsigned }) {
		t.Errorf("%+v, %v", report.Findings, err)
	}
}

// nothingReads makes sure that the files of the log hold none of some words.
func nothingReads(w *proxytest.Gateway, words ...string) {
	w.Helper()
	files, _ := filepath.Glob(filepath.Join(w.Dir, "audit", "*"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		proxytest.Must(w, err)
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				w.Errorf("%s can be read in %s", word, filepath.Base(name))
			}
		}
	}
}

// TestCaptureStream: of a stream its events are kept, as many as the limit lets.
func TestCaptureStream(t *testing.T) {
	t.Parallel()
	all := streamed(t, 0)
	first, _, ok := strings.Cut(all.Text, "\n")
	if !ok || all.Cut || all.Bytes == 0 {
		t.Fatalf("of two events there is %+v", all)
	}
	for limit, want := range map[int]string{
		len(all.Text): all.Text, len(all.Text) - 9: all.Text[:len(all.Text)-9], len(first) + 1: first, 10: first[:10],
	} {
		got := streamed(t, quantity.Size(limit))
		if got.Text != want || got.Cut != (want != all.Text) || got.Bytes != all.Bytes {
			t.Errorf("limit %d: %+v, want %s", limit, got, want)
		}
	}
}

// streamed is what is captured of a stream of two events.
func streamed(t *testing.T, limit quantity.Size) *vault.Body {
	t.Helper()
	w := proxytest.NewGateway(t, capturing(limit))
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, proxytest.EventOf(r, proxytest.WorkingTask(0))+proxytest.EventOf(r, proxytest.WorkingTask(1)))
	})
	w.Call("alice", wire.SendStreamingMessage, proxytest.Message(""))
	record, _ := w.RecordOf(1)["content"].(map[string]any)
	id, _ := record["id"].(string)
	item, err := held(w).Item(id)
	proxytest.Must(t, err)
	if item.Response == nil {
		t.Fatalf("of the stream there is nothing: %v", w.RecordOf(1))
	}
	return item.Response
}

// TestCaptureNothing: without rules there is nothing in the records, and no file.
func TestCaptureNothing(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Call("alice", wire.SendMessage, proxytest.Message(""))
	if w.RecordOf(1)["content"] != nil {
		t.Error("something was captured")
	}
	if files, _ := filepath.Glob(filepath.Join(w.Dir, "audit", "content*")); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
}
