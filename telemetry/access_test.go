package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// opened opens telemetry that logs to out and closes it with the test.
func opened(t testing.TB, out io.Writer, change func(*Config)) *Telemetry {
	t.Helper()
	config := Config{Logs: Logs{Output: out}}
	if change != nil {
		change(&config)
	}
	tel, err := Open(context.Background(), config, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	return tel
}

// closed closes telemetry now, so that everything it has is written.
func closed(t testing.TB, tel *Telemetry) {
	t.Helper()
	if err := tel.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// lines parses every line of a log; one that is no JSON object fails the test.
func lines(t testing.TB, log []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range bytes.Lines(log) {
		if line[len(line)-1] != '\n' {
			t.Fatalf("last line has no end: %q", line)
		}
		var parsed map[string]any
		if err := json.Unmarshal(line, &parsed); err != nil {
			t.Fatalf("line %d: %v: %.300q", len(all)+1, err, line)
		}
		all = append(all, parsed)
	}
	return all
}

var start = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

// sample is an exchange with every field set.
func sample() *Exchange {
	return &Exchange{
		Arrival:       Arrival{Start: start, Duration: 12345678 * time.Nanosecond, RequestID: "req-1", TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", ClientIP: "192.0.2.7", Host: "gw.example", Path: "/agents/billing", UserAgent: "sdk/1.0", RequestBytes: 700, Digest: Digest{0xab}},
		Call:          Call{Agent: "billing", Method: "SendMessage", Binding: "JSONRPC", Version: "1.0", TaskID: "task-1", ContextID: "ctx-1", MessageID: "msg-1"},
		Caller:        Caller{Principal: "alice", Issuer: "https://id.example", Client: "web", Tenant: "acme", AuthMethod: "oidc", KeyID: "k1", Groups: []string{"analysts"}},
		Authorization: Authorization{Skill: "invoices", Decision: "allow", Rule: "team", Shadow: []string{"deny trial"}},
		Answer:        Answer{Reason: "", Status: 200, ResponseBytes: 600, ResponseDigest: Digest{0xcd}, TaskState: "TASK_STATE_COMPLETED"},
		Negotiation:   Negotiation{ExtensionsRequested: []string{"https://ext.example/a", "https://ext.example/b"}, ExtensionsActivated: []string{"https://ext.example/a"}, ExtensionsInjected: []string{"https://ext.example/c"}},
		UpstreamCall:  UpstreamCall{Endpoint: "http://10.0.0.1:9001", UpstreamStatus: 200, UpstreamDuration: 9 * time.Millisecond},
	}
}

// delegated sets what a call has that came by way of others.
func delegated(e *Exchange) {
	e.Proof, e.ACR, e.Workload, e.KeyOwner = "dpop", "mfa", "batch@mtls", "team-a"
	e.Actors, e.Hops = []string{"planner@https://id.example", "ui@https://id.example"}, []string{"1.1 gw-a"}
	e.Consent, e.Credentials = []string{"scope pay"}, []string{"exchange Authorization"}
	e.Authorized, e.Demanded = true, []string{"login.example"}
}

func TestAccessLine(t *testing.T) {
	t.Parallel()
	identity := &Exchange{
		Arrival:       Arrival{Start: start, Duration: time.Millisecond},
		Answer:        Answer{Status: 200},
		Caller:        Caller{Principal: "alice"},
		Authorization: Authorization{Rule: "team"},
	}
	delegated(identity)
	stream := sample()
	stream.Streamed, stream.Events, stream.FirstEvent, stream.End = true, 3, 5*time.Millisecond, "final"
	refused := &Exchange{
		Arrival:       Arrival{Start: start, Duration: time.Millisecond, RequestID: "r"},
		Answer:        Answer{Status: 503, Reason: "UNAVAILABLE", Cause: "dial: refused"},
		Authorization: Authorization{Decision: "error"},
	}
	broken := &Exchange{
		Arrival: Arrival{Start: start, Duration: time.Millisecond},
		Answer:  Answer{Status: 200},
		Negotiation: Negotiation{ExtensionsProvided: []string{"https://ext.example/p"}, ExtensionsRefused: []string{"https://ext.example/r"}, Violations: []Violation{
			{Extension: "https://ext.example/a", Fault: "schema", Pointer: "/message/metadata", Text: "maximum: not <= 3", Enforced: true},
			{Fault: "conformance"},
		}},
	}
	common := `{"time":"2026-11-21T12:00:00.135802467Z","level":"INFO","msg":"call","request_id":"req-1",` +
		`"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","agent":"billing",` +
		`"skill":"invoices","method":"SendMessage","binding":"JSONRPC","version":"1.0","principal":"alice",` +
		`"issuer":"https://id.example","client":"web","tenant":"acme","auth_method":"oidc","key_id":"k1",` +
		`"decision":"allow","rule":"team","shadow":["deny trial"],"task_id":"task-1","context_id":"ctx-1",` +
		`"message_id":"msg-1","extensions_requested":["https://ext.example/a","https://ext.example/b"],` +
		`"extensions_injected":["https://ext.example/c"],"request_bytes":700,"client_ip":"192.0.2.7","host":"gw.example","path":"/agents/billing",` +
		`"user_agent":"sdk/1.0","status":200,"task_state":"TASK_STATE_COMPLETED",` +
		`"extensions_activated":["https://ext.example/a"],"response_bytes":600,` +
		`"endpoint":"http://10.0.0.1:9001","upstream_status":200,"upstream_duration_ms":9.000,`
	for name, c := range map[string]struct {
		in   *Exchange
		want string
	}{
		"unary":  {sample(), common + `"duration_ms":12.345}`},
		"stream": {stream, common + `"streamed":true,"events":3,"first_event_ms":5.000,"end":"final","duration_ms":12.345}`},
		"identity": {identity, `{"time":"2026-11-21T12:00:00.124456789Z","level":"INFO","msg":"call","principal":"alice",` +
			`"key_owner":"team-a","proof":"dpop","acr":"mfa","actors":["planner@https://id.example","ui@https://id.example"],` +
			`"workload":"batch@mtls","hops":["1.1 gw-a"],"rule":"team","consent":["scope pay"],"status":200,` +
			`"demanded_hosts":["login.example"],"authorized":true,"credentials":["exchange Authorization"],"duration_ms":1.000}`},
		"refused": {refused, `{"time":"2026-11-21T12:00:00.124456789Z","level":"WARN","msg":"call",` +
			`"request_id":"r","decision":"error","status":503,"reason":"UNAVAILABLE","cause":"dial: refused",` +
			`"duration_ms":1.000}`},
		"violations": {broken, `{"time":"2026-11-21T12:00:00.124456789Z","level":"INFO","msg":"call",` +
			`"extensions_provided":["https://ext.example/p"],"extensions_refused":["https://ext.example/r"],"status":200,` +
			`"violation_count":2,"violations":[{"extension":"https://ext.example/a","fault":"schema",` +
			`"pointer":"/message/metadata","text":"maximum: not <= 3","enforced":true},` +
			`{"fault":"conformance","enforced":false}],"duration_ms":1.000}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tel := opened(t, &out, nil)
			tel.Record(c.in)
			closed(t, tel)
			if diff := cmp.Diff(c.want+"\n", out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAccessLineOnTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tel := opened(t, &out, func(c *Config) { c.Logs.Format = "text" })
	tel.Record(&Exchange{
		Arrival:       Arrival{Start: start, Duration: time.Millisecond, Path: "/a b\n"},
		Call:          Call{Agent: "x"},
		Answer:        Answer{Status: 200},
		Authorization: Authorization{Shadow: []string{"one", "two words"}},
		Negotiation:   Negotiation{Violations: []Violation{{Extension: "https://a", Fault: "schema", Pointer: "/x", Text: "no\n"}}},
	})
	closed(t, tel)
	want := `time=2026-11-21T12:00:00.124456789Z level=INFO msg=call agent=x shadow=[one,"two words"] ` +
		`path="/a b\\x0a" status=200 violation_count=1 violations=["schema https://a at /x: no\\x0a"] duration_ms=1.000` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestViolationsAreBounded: what an agent can make thousands of is counted, and
// only the first are shown.
func TestViolationsAreBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tel := opened(t, &out, nil)
	tel.Record(&Exchange{
		Arrival:     Arrival{Start: start},
		Answer:      Answer{Status: 200},
		Negotiation: Negotiation{Violations: append(make([]Violation, 4990), Violation{More: 9})},
	})
	closed(t, tel)
	line := lines(t, out.Bytes())[0]
	if shown, _ := line["violations"].([]any); line["violation_count"] != 5000.0 || len(shown) != maxViolations {
		t.Errorf("%v counted, %d shown", line["violation_count"], len(shown))
	}
}

// TestChainsAreBounded: actors and hops come from whoever is before the gateway. The
// first are shown, cleaned, and the others counted.
func TestChainsAreBounded(t *testing.T) {
	t.Parallel()
	var many, want []string
	for i := range maxFew + 3 {
		many = append(many, fmt.Sprintf("a%d\n", i))
		want = append(want, fmt.Sprintf(`a%d\x0a`, i))
	}
	want = append(want[:maxFew:maxFew], `\…+3`)
	var out bytes.Buffer
	tel := opened(t, &out, nil)
	tel.Record(&Exchange{
		Arrival:      Arrival{Start: start, Hops: many},
		Answer:       Answer{Status: 200},
		Caller:       Caller{Actors: many},
		UpstreamCall: UpstreamCall{Credentials: many},
	})
	tel.Record(&Exchange{Arrival: Arrival{Start: start}, Answer: Answer{Status: 200}, Caller: Caller{Actors: many[:maxFew]}})
	closed(t, tel)
	got := lines(t, out.Bytes())
	for _, key := range []string{"actors", "hops", "credentials"} {
		if diff := cmp.Diff(want, texts(got[0][key])); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if n := len(texts(got[1]["actors"])); n != maxFew {
		t.Errorf("%d of %d actors", n, maxFew)
	}
}

func texts(list any) []string {
	values, _ := list.([]any)
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// fill sets every string, list of strings and violation that an Exchange has.
func fill(e *Exchange, text func(field string) string) {
	v := reflect.ValueOf(e).Elem()
	for _, of := range reflect.VisibleFields(v.Type()) {
		field := v.FieldByIndex(of.Index)
		switch name := of.Name; {
		case !field.CanSet():
		case field.Kind() == reflect.String:
			field.SetString(text(name))
		case field.Type() == reflect.TypeFor[[]string]():
			field.Set(reflect.ValueOf([]string{text(name), text(name)}))
		case field.Type() == reflect.TypeFor[[]Violation]():
			v := Violation{Extension: text(name), Fault: text(name), Pointer: text(name), Text: text(name)}
			field.Set(reflect.ValueOf([]Violation{v, v}))
		}
	}
}

// TestL10_LogInjection puts naughty texts into every field of an exchange and
// into messages, in both formats: one event is one line, and nothing of a text
// can be taken for a member.
func TestL10_LogInjection(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tel := opened(t, &out, func(c *Config) { c.Logs.Format = format })
			events := 0
			for _, bad := range naughty {
				e := &Exchange{Arrival: Arrival{Start: start, Duration: 1}}
				fill(e, func(string) string { return bad })
				tel.Record(e)
				tel.Log.Info(bad, "text", bad, "error", errors.New(bad), bad, 1, "list", []string{bad},
					"any", struct{ A string }{bad}, slog.Group("group", "inner", bad))
				events += 2
			}
			closed(t, tel)
			if got := bytes.Count(out.Bytes(), []byte{'\n'}); got != events {
				t.Fatalf("%d lines for %d events", got, events)
			}
			for _, forbidden := range []string{"\x1b", "\r", "\t", "\u202e", "\u2066", "\u2028", "\u009b", "\ufeff", "\xff"} {
				if bytes.Contains(out.Bytes(), []byte(forbidden)) {
					t.Errorf("log holds %q", forbidden)
				}
			}
			if format == "json" {
				checkNaughty(t, lines(t, out.Bytes()))
			}
		})
	}
}

func checkNaughty(t *testing.T, parsed []map[string]any) {
	t.Helper()
	for i, line := range parsed {
		want := Clean(naughty[i/2])
		if i%2 == 1 { // a message
			if got := line["list"].([]any)[0]; got != want {
				t.Errorf("message: list is %q, want %q", got, want)
			}
			continue
		}
		for key, value := range line {
			switch key {
			case "time", "level", "msg", "cause", "status", "duration_ms", "violation_count":
				continue
			}
			if list, ok := value.([]any); ok {
				value = list[0]
			}
			if v, ok := value.(map[string]any); ok { // a violation
				delete(v, "enforced")
				checkTexts(t, v, want)
				continue
			}
			if value != want {
				t.Errorf("%s is %.80q, want %.80q", key, value, want)
			}
		}
		if msg := line["msg"]; msg != accessMessage {
			t.Errorf("msg is %q", msg)
		}
	}
}

func checkTexts(t *testing.T, members map[string]any, want string) {
	t.Helper()
	for key, value := range members {
		if value != want {
			t.Errorf("%s is %.80q, want %.80q", key, value, want)
		}
	}
}

func TestMessagesAreCleaned(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tel := opened(t, &out, nil)
	tel.Log.With("k", "v\n").WithGroup("g").Warn("m", "d", 1500*time.Millisecond, "at", start.In(time.FixedZone("x", 3600)),
		"level", slog.LevelWarn, "nil", nil)
	got := lines(t, out.Bytes())[0] // written already: messages are not held back
	delete(got, "time")
	want := map[string]any{"level": "WARN", "msg": "m", "k": `v\x0a`, "g": map[string]any{
		"d": "1.5s", "at": "2026-11-21T12:00:00.123456789Z", "level": "WARN", "nil": "<nil>"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLevelHoldsBackCalls(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tel := opened(t, &out, func(c *Config) { c.Logs.Level = "warn" })
	tel.Record(&Exchange{Arrival: Arrival{Start: start}, Answer: Answer{Status: 200}})
	tel.Record(&Exchange{Arrival: Arrival{Start: start}, Answer: Answer{Status: 502}})
	if err := tel.Reload(Config{Logs: Logs{Level: "debug"}}); err != nil {
		t.Fatal(err)
	}
	tel.Record(&Exchange{Arrival: Arrival{Start: start}, Answer: Answer{Status: 201}})
	closed(t, tel)
	var status []any
	for _, line := range lines(t, out.Bytes()) {
		status = append(status, line["status"])
	}
	if diff := cmp.Diff([]any{502.0, 201.0}, status); diff != "" {
		t.Error(diff)
	}
}

// TestManyWriters has calls and messages logged from many goroutines, some of
// them after Close: no line is lost or broken, and those of one writer keep
// their order.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tel := opened(t, &out, nil)
	const writers, each = 8, 200
	write := func(w, from, to int) {
		for i := from; i < to; i++ {
			if i%10 == 0 {
				tel.Log.Info("note", "request_id", fmt.Sprint(w), "n", i)
				continue
			}
			tel.Record(&Exchange{
				Arrival:     Arrival{Start: start, RequestID: fmt.Sprint(w)},
				EventStream: EventStream{Events: int64(i), Streamed: true},
				Answer:      Answer{Status: 200},
			})
		}
	}
	var early, late sync.WaitGroup
	for w := range writers {
		early.Go(func() { write(w, 0, each) })
	}
	early.Wait()
	for w := range writers {
		late.Go(func() { write(w, each, 2*each) })
	}
	closed(t, tel)
	late.Wait()
	next := map[any]float64{}
	for _, line := range lines(t, out.Bytes()) {
		n, ok := line["n"].(float64)
		if !ok {
			n, _ = line["events"].(float64)
		}
		if w := line["request_id"]; next[w] != n {
			t.Fatalf("writer %v: line %v where %v was due", w, n, next[w])
		}
		next[line["request_id"]]++
	}
	for w := range writers {
		if got := next[fmt.Sprint(w)]; got != 2*each {
			t.Errorf("writer %d: %v lines, want %d", w, got, 2*each)
		}
	}
}

// stuck is a log collector that does not read until it is let.
type stuck struct {
	entered chan struct{} // gets a token when a write begins
	release chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	select {
	case s.entered <- struct{}{}:
	default:
	}
	<-s.release
	return len(p), nil
}

func TestStuckLogStopsNobody(t *testing.T) {
	t.Parallel()
	out := stuck{make(chan struct{}, 1), make(chan struct{})}
	tel := opened(t, out, nil)
	e := &Exchange{Arrival: Arrival{Start: start, Path: strings.Repeat("p", MaxText)}, Answer: Answer{Status: 200}}
	tel.Record(e)
	<-out.entered
	for range maxPending / 256 { // each line is longer than 256 B
		tel.Record(e)
	}
	if got := metric(t, tel, "a2a_gateway_log_lines_dropped_total", nil); got == 0 {
		t.Error("no line was counted as dropped")
	}
	close(out.release)
}

func BenchmarkClean(b *testing.B) {
	for _, s := range []string{"0af7651916cd43dd8448eb211c80319c", "日本語 ✓ é", strings.Repeat("\u202e", 80)} {
		b.Run(Clean(s[:3]), func(b *testing.B) {
			b.ReportAllocs()
			report := reportCPU(b)
			for b.Loop() {
				Clean(s)
			}
			report()
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, format := range []string{"json", "text"} {
		b.Run(format, func(b *testing.B) {
			tel := opened(b, io.Discard, func(c *Config) { c.Logs.Format = format })
			tel.Metrics.SetLabels(metrics.Labels{
				Agents: []string{"billing"}, Rules: []string{"team"},
				URIs: []string{"https://ext.example/a", "https://ext.example/b"},
			})
			e := sample()
			b.ReportAllocs()
			report := reportCPU(b)
			for b.Loop() {
				tel.Record(e)
			}
			report()
		})
	}
}
