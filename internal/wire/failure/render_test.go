package failure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
)

const errorsFile = "testdata/errors.txtar"

// errorForm is one way in which an error can have to go out.
type errorForm struct {
	name  string
	call  *wire.Call
	event bool // inside a stream that has begun
}

func errorForms() []errorForm {
	id := []byte(`"7f"`)
	send, _ := wire.ByName(wire.V10, wire.SendMessage)
	stream, _ := wire.ByName(wire.V10, wire.SendStreamingMessage)
	rpc := func(v wire.Version, streams bool) *wire.Call {
		c := &wire.Call{Binding: wire.JSONRPC, Version: v, ID: id, Method: send, Accept: mediatype.JSON}
		if streams {
			c.Method, c.Streaming, c.Accept = stream, true, mediatype.Events
		}
		return c
	}
	rest := func(v wire.Version, accept string) *wire.Call {
		return &wire.Call{Binding: wire.HTTPJSON, Version: v, Accept: accept}
	}
	return []errorForm{
		{"JSON-RPC 1.0", rpc(wire.V10, false), false},
		{"JSON-RPC 0.3", rpc(wire.V03, false), false},
		{"JSON-RPC 0.1", rpc(wire.V01, false), false},
		{"JSON-RPC 1.0, streaming method", rpc(wire.V10, true), false},
		{"JSON-RPC 0.3, streaming method", rpc(wire.V03, true), false},
		{"JSON-RPC before decode", &wire.Call{Binding: wire.JSONRPC}, false},
		{"JSON-RPC before decode, client wants events", &wire.Call{Binding: wire.JSONRPC, Accept: mediatype.Events}, false},
		{"HTTP+JSON 1.0", rest(wire.V10, "application/json"), false},
		{"HTTP+JSON 1.0 for a2a+json", rest(wire.V10, "application/a2a+json, application/json"), false},
		{"HTTP+JSON 0.3", rest(wire.V03, "application/a2a+json"), false},
		{"nothing known", nil, false},
		{"binding not known", &wire.Call{Version: wire.V03}, false},
		{"JSON-RPC 1.0 stream event", rpc(wire.V10, true), true},
		{"JSON-RPC 0.1 stream event", rpc(wire.V01, true), true},
		{"HTTP+JSON 1.0 stream event", rest(wire.V10, mediatype.Events), true},
		{"HTTP+JSON 0.3 stream event", rest(wire.V03, mediatype.Events), true},
	}
}

// grpcForms are the forms without a document.
func grpcForms() []errorForm {
	return []errorForm{
		{"gRPC 1.0", &wire.Call{Binding: wire.GRPC, Version: wire.V10}, false},
		{"gRPC 0.3", &wire.Call{Binding: wire.GRPC, Version: wire.V03}, false},
	}
}

// rendered prints what a client would get, headers in a fixed order.
func rendered(f errorForm, e *wire.Error) string {
	if f.event {
		return string(Event(f.call, e))
	}
	rec := httptest.NewRecorder()
	Write(rec, f.call, e)
	var b strings.Builder
	fmt.Fprintln(&b, rec.Code)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range rec.Header() {
			if !yield(name) {
				return
			}
		}
	})
	for _, name := range names {
		for _, value := range rec.Header()[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintf(&b, "\n%s", rec.Body)
	return b.String()
}

// TestErrorBytes compares every kind in every form with the golden file.
func TestErrorBytes(t *testing.T) {
	t.Parallel()
	got := &txtar.Archive{Comment: []byte("Every kind of error in every form. Refresh with:\n" +
		"go test ./internal/wire -run TestErrorBytes -update\n")}
	for _, k := range wire.Kinds() {
		for _, f := range append(errorForms(), grpcForms()...) {
			text := strings.TrimRight(rendered(f, &wire.Error{Kind: k}), "\n") + "\n"
			got.Files = append(got.Files, txtar.File{Name: k.Reason + ": " + f.name, Data: []byte(text)})
		}
	}
	if *update {
		if err := os.WriteFile(errorsFile, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(errorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", errorsFile, diff)
	}
}

// TestErrorsAreWellFormed: whatever message and metadata say, every form is one
// JSON document that gives them back, and an event is one frame.
func TestErrorsAreWellFormed(t *testing.T) {
	t.Parallel()
	nasty := "q\"uote \\ \r\n\ndata: forged\n\nevent: end\x00\x7f </script> \u2028 語 \xff"
	clean := strings.ToValidUTF8(nasty, "\ufffd")
	for _, f := range errorForms() {
		e := wire.Errorf(wire.InvalidParams, "%s", nasty)
		e.Meta = map[string]string{"field": nasty, nasty: "name"}
		text := rendered(f, e)
		if strings.Contains(text, "\ndata: forged") {
			t.Fatalf("%s: forged a line in %q", f.name, text)
		}
		if f.event && (!strings.HasSuffix(text, "\n\n") || strings.Count(text, "\n\n") != 1) {
			t.Errorf("%s: not one frame: %q", f.name, text)
		}
		body := text[strings.Index(text, "{"):]
		var doc map[string]any
		if err := json.Unmarshal([]byte(body), &doc); err != nil {
			t.Fatalf("%s: %v in %q", f.name, err, body)
		}
		inner, _ := doc["error"].(map[string]any)
		if inner["message"] != clean {
			t.Errorf("%s: message %q, want %q", f.name, inner["message"], clean)
		}
		for _, member := range []string{"data", "details"} {
			if details, ok := inner[member].([]any); ok {
				info, _ := details[0].(map[string]any)
				meta, _ := info["metadata"].(map[string]any)
				if meta["field"] != clean || meta[clean] != "name" {
					t.Errorf("%s: metadata %v", f.name, meta)
				}
			}
		}
	}
}

// TestErrorID: the caller's id goes back as it came, and only if it is one.
func TestErrorID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		`"a\/\u00e9"`:             `"a\/\u00e9"`,
		`12345678901234567890123`: `12345678901234567890123`,
		``:                        `null`,
		`null`:                    `null`,
		`{"a":1}`:                 `null`,
		"1,\n\n\"x\":2":           `null`,
		`"unterminated`:           `null`,
	} {
		got := string(Event(&wire.Call{Binding: wire.JSONRPC, Version: wire.V03, ID: []byte(id)}, &wire.Error{Kind: wire.TaskNotFound}))
		line := `data: {"jsonrpc":"2.0","id":` + want + `,"error":{"code":-32001,"message":"Task not found"}}` + "\n\n"
		if got != line {
			t.Errorf("id %s:\n%swant\n%s", id, got, line)
		}
	}
}

// TestErrorEventRetry: what a response says in Retry-After an event says in retry, in one
// frame with its data.
func TestErrorEventRetry(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{
		"": "", "0": "retry: 0\n", "5": "retry: 5000\n", "4294967295": "retry: 4294967295000\n",
		"-1": "", "1.5": "", "99999999999999999999": "", "Thu, 26 Nov 2020 12:00:00 GMT": "retry: 0\n", "26 Nov 2026": "", "1\ndata: x": "",
	} {
		for _, c := range []*wire.Call{{Binding: wire.JSONRPC, Version: wire.V03}, {Binding: wire.HTTPJSON, Version: wire.V10}} {
			e := wire.Errorf(wire.Unavailable, "later")
			plain := string(Event(c, e))
			e.Header = http.Header{"Retry-After": {after}}
			got := string(Event(c, e))
			if got != strings.Replace(plain, "data: ", want+"data: ", 1) {
				t.Errorf("%q: %q", after, got)
			}
			if events := ssetest.Read(got); len(events) != 1 || !events[0].IsDocument() {
				t.Errorf("%q: a strict parser has %+v", after, events)
			}
		}
	}
}

// TestErrorEventRetryDate: a date, which is for HTTP alone, is the time until it in an event.
func TestErrorEventRetryDate(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := began.Add(time.Hour).Truncate(time.Second)
	e := wire.Errorf(wire.Unavailable, "later")
	e.Header = http.Header{"Retry-After": {at.UTC().Format(http.TimeFormat)}}
	event := string(Event(&wire.Call{Binding: wire.JSONRPC, Version: wire.V10}, e))
	line, _, _ := strings.Cut(event, "\n")
	got, err := strconv.ParseInt(strings.TrimPrefix(line, "retry: "), 10, 64)
	if most, least := at.Sub(began).Milliseconds(), at.Sub(time.Now()).Milliseconds(); err != nil || got < least || got > most {
		t.Errorf("%q, want between %d and %d", event, least, most)
	}
}

// TestErrorHeaders: the error's own headers are sent, the fixed ones cannot be
// changed by them.
func TestErrorHeaders(t *testing.T) {
	t.Parallel()
	e := wire.Errorf(wire.Unauthenticated, "")
	e.Header = http.Header{
		"www-authenticate": {`Bearer realm="a"`, `ApiKey realm="a"`},
		"Cache-Control":    {"public"},
		"Content-Length":   {"1"},
	}
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "text/html")
	Write(rec, &wire.Call{Binding: wire.JSONRPC}, e)
	want := http.Header{
		"Www-Authenticate":       {`Bearer realm="a"`, `ApiKey realm="a"`},
		"Cache-Control":          {"no-store"},
		"Content-Type":           {"application/json"},
		"Content-Length":         {fmt.Sprint(rec.Body.Len())},
		"X-Content-Type-Options": {"nosniff"},
	}
	if diff := cmp.Diff(want, rec.Header()); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if e.Header.Get("Cache-Control") != "public" {
		t.Error("the error's own header map was changed")
	}
}

// TestErrorToHead: a HEAD request gets status and headers only.
func TestErrorToHead(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Write(w, nil, wire.Errorf(wire.VerbNotAllowed, ""))
	}))
	t.Cleanup(srv.Close)
	resp, err := srv.Client().Head(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || len(body) > 0 || resp.StatusCode != http.StatusMethodNotAllowed || resp.ContentLength <= 0 {
		t.Errorf("HEAD: %d, length %d, body %q, %v", resp.StatusCode, resp.ContentLength, body, err)
	}
}

func TestAcceptsA2A(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                                       false,
		"*/*":                                    false,
		"application/*":                          false,
		"application/json":                       false,
		"application/a2a+json":                   true,
		"Application/A2A+JSON; charset=utf-8":    true,
		"application/json, application/a2a+json": true,
		"application/a2a+json;q=0.1":             true,
		"application/a2a+json; q=0":              false,
		"application/a2a+json;Q=0.000":           false,
		"application/a2a+jsonx":                  false,
		"x;y=application/a2a+json":               false,
	} {
		if got := mediatype.Accepts(header, mediatype.A2A); got != want {
			t.Errorf("Accept: %s names a2a+json: %v, want %v", header, got, want)
		}
	}
}

// TestErrorVersions: codes that a version does not have are not sent in it.
func TestErrorVersions(t *testing.T) {
	t.Parallel()
	known := map[wire.Version]int{wire.V01: -32005, wire.V03: -32008} // the lowest code of A2A's own range
	for v, lowest := range known {
		for _, k := range wire.Kinds() {
			// -314xx is nobody's range; -326xx and -32700 are JSON-RPC's.
			if code := codeIn(v, k); code > -32100 && code < lowest && code <= -32000 {
				t.Errorf("%s in %s has code %d", k.Reason, v, code)
			}
		}
	}
	for _, k := range wire.Kinds() {
		if codeIn(wire.V10, k) != k.Code {
			t.Errorf("%s in 1.0 has code %d, want %d", k.Reason, codeIn(wire.V10, k), k.Code)
		}
	}
}

// TestErrorsAreRead: what this file writes the answer reader understands, so a
// gateway may stand behind a gateway.
func TestErrorsAreRead(t *testing.T) {
	t.Parallel()
	method, _ := wire.ByName(wire.V10, wire.SendStreamingMessage)
	for _, f := range errorForms() {
		if !f.event {
			continue
		}
		for _, k := range wire.Kinds() {
			data := Event(f.call, &wire.Error{Kind: k})
			data = bytes.TrimSpace(data[bytes.Index(data, []byte("data: "))+len("data: "):])
			a, err := wire.ReadAnswer(f.call.Binding, f.call.Version, method, data, wire.Limits{})
			if err != nil || a.Kind != "" {
				t.Fatalf("%s: %s: %+v, %v", f.name, k.Reason, a, err)
			}
			code, reason := codeIn(f.call.Version, k), ""
			if f.call.Binding == wire.HTTPJSON {
				code = k.HTTP
			}
			if f.call.Binding == wire.HTTPJSON || f.call.Version == wire.V10 {
				reason = k.Reason
			}
			if a.Error != code || a.Reason != reason {
				t.Errorf("%s: %s was read as %d %q, want %d %q", f.name, k.Reason, a.Error, a.Reason, code, reason)
			}
		}
	}
}

func BenchmarkWriteError(b *testing.B) {
	c := &wire.Call{Binding: wire.JSONRPC, Version: wire.V10, ID: []byte(`"0199d1f2-5f6e-7c1a-9a77-0c7b5f0e3a10"`)}
	e := wire.Errorf(wire.TaskNotFound, "")
	b.ReportAllocs()
	for b.Loop() {
		Write(discard{}, c, e)
	}
}

// discard is a ResponseWriter that costs nothing.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) WriteHeader(int)             {}
func (discard) Write(b []byte) (int, error) { return len(b), nil }
