package main

import (
	"bytes"
	"context"
	"encoding/json"
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
		l := laneTo(t, agentHandler("http://agent"), s)
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
	l := laneTo(t, agentHandler("http://agent"), subject{path: "/"})
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
		_, _ = io.WriteString(w, `{"result":1}`)
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
	l := laneTo(t, agentHandler("http://agent"), subject{})
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
	var last []byte
	for err == nil {
		var data []byte
		if data, err = s.event(); err == nil {
			last = bytes.Clone(data)
		}
	}
	if err != io.EOF || !bytes.Contains(last, []byte("TASK_STATE_COMPLETED")) {
		t.Errorf("%s, %v", last, err)
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
