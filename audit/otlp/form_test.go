//go:build !minimal

package otlp

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"

	common "go.opentelemetry.io/proto/otlp/common/v1"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
)

// values are attributes as text.
func values(list []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_IntValue:
			all[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		case *common.AnyValue_DoubleValue:
			all[a.GetKey()] = strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
		default:
			all[a.GetKey()] = a.GetValue().GetStringValue()
		}
	}
	return all
}

// whole is a call with everything that is outside the body as well.
const whole = `{"seq":7,"v":1,"gateway":"gw-1","type":"call","time":"2026-11-21T12:00:00.123456789Z","start":"2026-11-21T11:59:59Z",` +
	`"request_id":"r-1","trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","agent":"billing","skill":"refund",` +
	`"method":"SendMessage","binding":"JSONRPC","version":"1.0","principal":"alice","issuer":"https://id.example","client":"web","tenant":"acme",` +
	`"auth_method":"oidc","decision":"deny","rule":"team","limit":"calls","task_id":"t-1","task_state":"TASK_STATE_WORKING","context_id":"c-1",` +
	`"message_id":"m-1","client_ip":"192.0.2.1","user_agent":"curl","status":403,"reason":"PERMISSION_DENIED","duration_ms":1.500,"hash":"ab"}`

// TestRecord: what people look for is outside the body, under the names that spans have.
func TestRecord(t *testing.T) {
	t.Parallel()
	f := newForm(Options{Gateway: "gw-1", Log: "the-log"})
	r := f.record(reader.Entry{Seq: 7, Line: []byte(whole)})
	if r.GetBody().GetStringValue() != whole {
		t.Errorf("the body is %s", r.GetBody())
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC).UnixNano()
	if int64(r.GetTimeUnixNano()) != at || int64(r.GetObservedTimeUnixNano()) != at { // a test
		t.Errorf("times %d and %d, want %d", r.GetTimeUnixNano(), r.GetObservedTimeUnixNano(), at)
	}
	if hex.EncodeToString(r.GetTraceId()) != "0af7651916cd43dd8448eb211c80319c" || hex.EncodeToString(r.GetSpanId()) != "b7ad6b7169203331" {
		t.Errorf("trace %x, span %x", r.GetTraceId(), r.GetSpanId())
	}
	if r.GetEventName() != "a2a_gateway.audit.call" || r.GetSeverityText() != "WARN" || r.GetSeverityNumber() != logs.SeverityNumber_SEVERITY_NUMBER_WARN {
		t.Errorf("%s %s %v", r.GetEventName(), r.GetSeverityText(), r.GetSeverityNumber())
	}
	want := map[string]string{
		"a2a_gateway.audit.log": "the-log", "a2a_gateway.audit.seq": "7", "a2a_gateway.audit.type": "call", "a2a_gateway.audit.hash": "ab",
		"a2a_gateway.id": "gw-1", "a2a_gateway.request.id": "r-1", "a2a_gateway.agent": "billing", "a2a_gateway.skill": "refund",
		"a2a.method.name": "SendMessage", "a2a.protocol.version": "1.0", "rpc.system.name": "jsonrpc", "a2a_gateway.principal.id": "alice",
		"a2a_gateway.principal.issuer": "https://id.example", "a2a_gateway.principal.client": "web", "a2a_gateway.principal.type": "oidc",
		"a2a.tenant": "acme", "a2a_gateway.policy.decision": "deny", "a2a_gateway.policy.rule": "team", "a2a_gateway.limit": "calls",
		"a2a.task.id": "t-1", "a2a.task.state": "TASK_STATE_WORKING", "gen_ai.conversation.id": "c-1", "a2a.message.id": "m-1",
		"http.response.status_code": "403", "error.type": "PERMISSION_DENIED", "client.address": "192.0.2.1", "user_agent.original": "curl",
		"a2a_gateway.duration": "0.0015",
	}
	got := values(r.GetAttributes())
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %q, want %q", key, got[key], value)
		}
	}
	if len(got) != len(want) || len(got) != len(r.GetAttributes()) {
		t.Errorf("%d attributes, %d names, want %d", len(r.GetAttributes()), len(got), len(want))
	}
}

// TestNamesAreThoseOfSpans: what spans have too has the same name there, and all of them
// are in the documentation.
func TestNamesAreThoseOfSpans(t *testing.T) {
	t.Parallel()
	spans, err := os.ReadFile(filepath.Join("..", "..", "telemetry", "semconv.go"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "audit.md"))
	if err != nil {
		t.Fatal(err)
	}
	// What there is in no span, and in the audit log only.
	own := regexp.MustCompile(`^(a2a_gateway\.(audit\.\w+|id|duration|principal\.(id|issuer|client))|user_agent\.original)$`)
	for key := range values(newForm(Options{}).record(reader.Entry{Line: []byte(whole)}).GetAttributes()) {
		if !own.MatchString(key) && !bytes.Contains(spans, strconv.AppendQuote(nil, key)) {
			t.Errorf("no span has %s", key)
		}
		if !bytes.Contains(doc, []byte("`"+key+"`")) {
			t.Errorf("%s is not in docs/audit.md", key)
		}
	}
}

// TestKinds: names and severities, and whom an event is about.
func TestKinds(t *testing.T) {
	t.Parallel()
	f := newForm(Options{})
	for line, want := range map[string]string{
		`{"type":"intent","decision":"allow"}`:                                     "a2a_gateway.audit.intent INFO",
		`{"type":"call","decision":"allow","status":200}`:                          "a2a_gateway.audit.call INFO",
		`{"type":"call","decision":"allow","status":404}`:                          "a2a_gateway.audit.call INFO",
		`{"type":"call","decision":"error","status":400}`:                          "a2a_gateway.audit.call WARN",
		`{"type":"call","decision":"allow","status":502}`:                          "a2a_gateway.audit.call ERROR",
		`{"type":"checkpoint"}`:                                                    "a2a_gateway.audit.checkpoint INFO",
		`{"type":"event","event":"config.reloaded"}`:                               "a2a_gateway.config.reloaded INFO",
		`{"type":"event","event":"audit.gone"}`:                                    "a2a_gateway.audit.gone ERROR",
		`{"type":"event","event":"audit.distrusted"}`:                              "a2a_gateway.audit.distrusted ERROR",
		`{"type":"event","event":"card.quarantined","attrs":{"agent":"a"}}`:        "a2a_gateway.card.quarantined WARN a",
		`{"type":"event","event":"card.changed","attrs":{"state":"alerted"}}`:      "a2a_gateway.card.changed WARN",
		`{"type":"event","event":"card.changed","attrs":{"state":"accepted"}}`:     "a2a_gateway.card.changed INFO",
		`{"type":"event","event":"push.delivery","attrs":{"outcome":"delivered"}}`: "a2a_gateway.push.delivery INFO",
		`{"type":"event","event":"push.delivery","attrs":{"outcome":"dead"}}`:      "a2a_gateway.push.delivery WARN",
		`{"type":"event","event":"agent.added","attrs":{"who":"admin"}}`:           "a2a_gateway.agent.added INFO admin",
		`{"type":"event","event":"x","attrs":{"who":"admin","principal":"bob"}}`:   "a2a_gateway.x INFO bob",
		`{"type":"call","attrs":{"principal":"bob"}}`:                              "a2a_gateway.audit.call INFO",
		`no JSON`:                    "a2a_gateway.audit INFO",
		`{"type":"call","time":"x"}`: "a2a_gateway.audit INFO",
	} {
		r := f.record(reader.Entry{Seq: 1, Line: []byte(line)})
		a := values(r.GetAttributes())
		got := strings.TrimSpace(r.GetEventName() + " " + r.GetSeverityText() + " " + a["a2a_gateway.principal.id"] + a["a2a_gateway.agent"])
		if got != want || r.GetBody().GetStringValue() != line {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestResource: a name of the instance that the environment gives is the one that counts.
func TestResource(t *testing.T) {
	t.Parallel()
	f := newForm(Options{Gateway: "gw-1", Resource: []attribute.KeyValue{attribute.String("service.name", "front")}})
	if got := values(f.about.GetAttributes()); len(got) != 2 || got["service.name"] != "front" || got["service.instance.id"] != "gw-1" {
		t.Error(got)
	}
	f = newForm(Options{Gateway: "gw-1", Resource: []attribute.KeyValue{attribute.String("service.instance.id", "pod-7")}})
	if got := values(f.about.GetAttributes()); len(got) != 1 || got["service.instance.id"] != "pod-7" {
		t.Error(got)
	}
}

// FuzzRecord: whatever a line is, it can be sent, is the body byte for byte, and is as long
// as was thought.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{whole, "", "{}", `{"type":"event","event":"x","attrs":{"who":1}}`, "\xff\xfe", `{"time":"0001-01-01T00:00:00Z","trace_id":"zz"}`} {
		f.Add([]byte(seed))
	}
	form := newForm(Options{Gateway: "gw", Log: "l"})
	f.Fuzz(func(t *testing.T, line []byte) {
		r := form.record(reader.Entry{Seq: 1, Line: line})
		in := form.request([]*logs.LogRecord{r, r})
		text, err := proto.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if n := form.size + 2*sizeOf(r); len(text) > n || len(text) < n-64 {
			t.Errorf("%d bytes, %d were thought", len(text), n)
		}
		body := []byte(r.GetBody().GetStringValue())
		if b := r.GetBody().GetBytesValue(); b != nil {
			body = b
		}
		if !bytes.Equal(body, line) {
			t.Errorf("%q became %q", line, body)
		}
	})
}
