package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// laneTo is a lane to an agent in this process.
func laneTo(t *testing.T, handler http.Handler, s subject) *lane {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return &lane{
		stage:   &stage{ctx: ctx, options: small(), agent: strings.TrimPrefix(server.URL, "http://")},
		subject: s, running: &running{url: server.URL},
	}
}

// TestCalls: what is sent and what comes back is JSON, and of the size that is said.
func TestCalls(t *testing.T) {
	t.Parallel()
	for _, s := range []subject{{}, {task: true}, {version: "0.3", path: "/0.3/"}} {
		l := laneTo(t, agentHandler("http://agent", "agent:1"), s)
		body := l.unaryCall()
		if !json.Valid(body) || len(body) < 600 || len(body) > 800 {
			t.Errorf("%+v: %d bytes: %s", s, len(body), body)
		}
		c := l.client(1, body)
		if err := c.call(l.ctx); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		resp, err := http.Post(l.target(), "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !json.Valid(answer) || len(answer) < 500 || len(answer) > 800 {
			t.Errorf("%+v: %d bytes: %s", s, len(answer), answer)
		}
		c.close()
	}
	l := laneTo(t, agentHandler("http://agent", "agent:1"), subject{path: "/"})
	resp, err := http.Post(l.target(), "application/json", bytes.NewReader(l.contextCall(17)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	const own = `"contextId":"c-17"`
	if answer, _ := io.ReadAll(resp.Body); !json.Valid(answer) || !bytes.Contains(answer, []byte(own)) || !bytes.Contains(l.contextCall(17), []byte(own)) {
		t.Errorf("answered in another context: %s", answer)
	}
	anew := `{"params": {"message": {"parts": [{"kind": "text", "text": "task x"}]}}, "id": 7}`
	if id, text, ok := asWritten([]byte(anew)); !ok || string(id) != "7" || text != "task x" {
		t.Errorf("%s, %s, %v of %s", id, text, ok, anew)
	}
	if body := fileCall(fileSize); !json.Valid(body) || len(body) < fileSize*4/3 {
		t.Errorf("a file of %d bytes", len(body))
	}
}

// TestRefusalEndsIt: a fast refusal must not pass for a fast proxy.
func TestRefusalEndsIt(t *testing.T) {
	t.Parallel()
	for _, answer := range []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"error":{}}`) },
		func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"id":"`+callID+`","result":{}}`)
		},
		func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"id":7,"result":"`+agentWord+`"}`)
		},
	} {
		l := laneTo(t, answer, subject{})
		c := l.client(2, l.unaryCall())
		if _, err := c.closed(l.ctx, 10*time.Second); err == nil || !strings.Contains(err.Error(), "answer") {
			t.Errorf("closed loop: %v", err)
		}
		if _, err := c.open(l.ctx, 1000, 10*time.Second); err == nil || !strings.Contains(err.Error(), "answer") {
			t.Errorf("open loop: %v", err)
		}
		if _, err := l.open(l.ctx, textIdle, 1024); err == nil {
			t.Error("a stream was opened")
		}
		c.close()
	}
}

// TestOpenLoop makes as many calls as it should, however slow the answers are.
func TestOpenLoop(t *testing.T) {
	t.Parallel()
	l := laneTo(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(20 * time.Millisecond)
		_, _ = io.WriteString(w, `{"id":"`+callID+`","result":"`+agentWord+`"}`)
	}), subject{})
	c := l.client(1, l.unaryCall())
	defer c.close()
	latencies, err := c.open(l.ctx, 100, 500*time.Millisecond)
	if err != nil || len(latencies) != 50 {
		t.Fatalf("%d calls, %v", len(latencies), err)
	}
	f := figures{}
	f.latencies(latencies)
	// One connection carries 50 a second, so that the last have waited for half a second.
	if f["p99"] < 200_000 {
		t.Errorf("the 99th percentile is %.0f µs: those who waited are forgotten", f["p99"])
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	l := laneTo(t, agentHandler("http://agent", "agent:1"), subject{})
	s, err := l.open(l.ctx, textEvents(time.Millisecond), 1024)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for range 3 {
		data, err := s.event()
		if err != nil || !json.Valid(bytes.TrimSpace(data)) {
			t.Fatalf("%s, %v", data, err)
		}
		if at, ok := sentAt(data); !ok || time.Since(at) < 0 || time.Since(at) > time.Minute {
			t.Errorf("sent at %v, %v", at, ok)
		}
	}
	if err := l.endStreams(); err != nil {
		t.Fatal(err)
	}
	if err := s.rest(nil); err != nil || s.n < 4 {
		t.Errorf("%d events, %v", s.n, err)
	}
}

// TestLost: a stream that breaks off, ends early or lacks an event is none that has passed.
func TestLost(t *testing.T) {
	t.Parallel()
	const first, piece = `data: {"jsonrpc":"2.0","id":1,"result":{"task":{}}}` + "\n\n", `data: {"artifactUpdate":{}}` + "\n\n"
	end := func(n int) string { return "data: " + fmt.Sprintf(lastEvent, "t-1", n) + "\n\n" }
	for _, test := range []struct{ body, want string }{
		{first + piece + ": heartbeat\n\n" + piece + end(2), ""},
		{first + end(0), ""},
		{first + piece + strings.Replace(end(1), `"pieces":1`, `"pieces": 1.0`, 1), ""},
		{first + piece + end(2), "1 pieces of 2"},
		{first + piece + piece + end(1), "2 pieces of 1"},
		{first + piece, "ends with"},
		{first + piece + `data: {"error":{"code":-32603}}` + "\n\n", "the stream says"},
		{first + piece + "break", "unexpected EOF"},
	} {
		l := laneTo(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			body, broken := strings.CutSuffix(test.body, "break")
			_, _ = io.WriteString(w, body)
			if broken {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}), subject{})
		s, err := l.open(l.ctx, textIdle, 1024)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.rest(nil); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.body, err, test.want)
		}
		s.close()
	}
}

// TestLosses: what other proxies lose is counted, and what the gateway loses ends the run.
func TestLosses(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for _, test := range []struct {
		wrong  []error
		strict bool
		n      float64
		fails  bool
	}{
		{[]error{nil, nil}, true, 0, false},
		{[]error{nil, gone, gone}, false, 2, false},
		{[]error{nil, gone}, true, 1, true},
		{[]error{gone, gone}, false, 2, true},
	} {
		l := &lane{stage: &stage{progress: io.Discard}, subject: subject{strict: test.strict}}
		if n, err := l.lost(test.wrong); n != test.n || (err != nil) != test.fails {
			t.Errorf("%+v: %v, %v", test, n, err)
		}
	}
	for _, s := range subjects {
		if s.strict != (s.name == direct.name || strings.HasPrefix(s.name, gateway.name)) {
			t.Errorf("%s: strict %t", s.name, s.strict)
		}
	}
}

func TestIdleCount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ asked, descriptors, want int }{
		{10_000, 1 << 20, 10_000}, {10_000, 20_000, 9_000}, {10, 1024, 10}, {10, 1, 1},
	} {
		if got := idleCount(test.asked, test.descriptors); got != test.want {
			t.Errorf("%d of %d descriptors: %d, want %d", test.asked, test.descriptors, got, test.want)
		}
	}
}
