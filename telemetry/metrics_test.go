package telemetry

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// metric returns the value of the one series of a counter, a gauge or a
// histogram (its count) that has these labels, 0 when there is none.
func metric(t testing.TB, tel *Telemetry, name string, labels map[string]string) float64 {
	t.Helper()
	for _, family := range gather(t, tel) {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			got := map[string]string{}
			for _, pair := range m.GetLabel() {
				got[pair.GetName()] = pair.GetValue()
			}
			if len(labels) == len(got) && cmp.Equal(labels, got) || len(labels)+len(got) == 0 {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

func gather(t testing.TB, tel *Telemetry) []*dto.MetricFamily {
	t.Helper()
	families, err := tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

type labels = map[string]string

func labelled(t testing.TB) *Telemetry {
	t.Helper()
	tel := opened(t, io.Discard, nil)
	tel.Metrics.SetLabels(metrics.Labels{
		Agents: []string{"billing", "travel"}, Rules: []string{"team", "trial"},
		URIs: []string{"https://ext.example/a", "https://ext.example/b"}, Providers: []string{"https://id.example"},
		Methods: []string{"tasks/search", "tasks/annotate"},
	})
	return tel
}

func TestRecordCounts(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	stream := sample()
	stream.Method, stream.Streamed, stream.FirstEvent, stream.Decision = "SendStreamingMessage", true, 1, "deny"
	stream.Reason, stream.Rule, stream.UpstreamStatus = "AGENT_TIMEOUT", "", 0
	failed := &Exchange{
		Arrival:       Arrival{Start: start},
		Call:          Call{Agent: "nobody's", Method: "evil", Binding: "SOAP"},
		Answer:        Answer{Reason: "WHAT"},
		Authorization: Authorization{Decision: "maybe"},
	}
	limited := &Exchange{
		Arrival:       Arrival{Start: start},
		Answer:        Answer{Reason: "RATE_LIMITED"},
		Authorization: Authorization{Decision: "deny", Rule: "trial", Overruled: true},
	}
	for _, e := range []*Exchange{sample(), sample(), stream, failed, failed, limited, {Arrival: Arrival{Start: start}, Answer: Answer{Status: 404}}} {
		tel.Record(e)
	}
	const p = "a2a_gateway_"
	for _, c := range []struct {
		name   string
		labels labels
		want   float64
	}{
		{"requests_total", labels{"agent": "billing", "method": "SendMessage", "binding": "JSONRPC", "code": "OK"}, 2},
		{"requests_total", labels{"agent": "billing", "method": "SendStreamingMessage", "binding": "JSONRPC", "code": "AGENT_TIMEOUT"}, 1},
		{"requests_total", labels{"agent": "other", "method": "other", "binding": "other", "code": "other"}, 2},
		{"requests_total", labels{"agent": "none", "method": "none", "binding": "none", "code": "HTTP_4XX"}, 1},
		{"request_duration_seconds", labels{"agent": "billing", "method": "SendMessage"}, 2},
		{"request_duration_seconds", labels{"agent": "billing", "method": "SendStreamingMessage"}, 0},
		{"request_size_bytes", labels{"agent": "billing", "method": "SendMessage"}, 2},
		{"response_size_bytes", labels{"agent": "billing", "method": "SendMessage"}, 2},
		{"upstream_requests_total", labels{"agent": "billing", "method": "SendMessage", "code": "HTTP_2XX"}, 2},
		{"upstream_requests_total", labels{"agent": "billing", "method": "SendStreamingMessage", "code": "none"}, 1},
		{"upstream_request_duration_seconds", labels{"agent": "billing", "method": "SendMessage"}, 2},
		{"stream_duration_seconds", labels{"agent": "billing", "method": "SendStreamingMessage"}, 1},
		{"time_to_first_event_seconds", labels{"agent": "billing", "method": "SendStreamingMessage"}, 1},
		{"authz_decisions_total", labels{"decision": "allow", "rule": "team"}, 2},
		{"authz_decisions_total", labels{"decision": "deny", "rule": "none"}, 2},
		{"authz_decisions_total", labels{"decision": "deny", "rule": "trial"}, 0},
		{"authz_decisions_total", labels{"decision": "overruled", "rule": "trial"}, 1},
		{"authz_decisions_total", labels{"decision": "shadow", "rule": "trial"}, 3},
		{"authz_decisions_total", labels{"decision": "other", "rule": "none"}, 2},
		{"extensions_negotiated_total", labels{"uri": "https://ext.example/a", "result": "activated"}, 3},
		{"extensions_negotiated_total", labels{"uri": "https://ext.example/b", "result": "inactive"}, 3},
	} {
		if got := metric(t, tel, p+c.name, c.labels); got != c.want {
			t.Errorf("%s%v = %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}

func TestFeeding(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	m := tel.Metrics
	m.Calls.Enter()
	m.Calls.Enter()
	m.Calls.Leave()
	s := m.Streams.Open("billing")
	s.Event()
	s.Event()
	gone := m.Streams.Open("nobody's")
	gone.Close()
	m.Credentials.Presented("https://id.example", "ok")
	m.Credentials.Presented("https://evil.example", "whatever")
	m.Credentials.JWKSRefreshed(nil)
	m.Credentials.JWKSRefreshed(errors.New("x"))
	m.Cards.Fetched("travel", "unchanged")
	m.Push.Attempted("billing", "delivered", time.Second)
	m.Push.Attempted("billing", "refused", 0)
	m.Push.Attempted("nobody's", "lost", 0)
	m.Push.Queue(5, 2, time.Minute)
	m.Load.Malformed("line_end")
	m.Load.Malformed("nonsense")
	m.Load.Flooded("ping")
	m.Load.Flooded("nonsense")
	m.Audit.Wrote("written", 3)
	m.Audit.Wrote("nonsense", 3)
	sum := sha256.Sum256([]byte("config"))
	m.Gateway.Reloaded(sum, nil)
	m.Gateway.Reloaded([32]byte{}, errors.New("bad"))
	const p = "a2a_gateway_"
	for _, c := range []struct {
		name   string
		labels labels
		want   float64
	}{
		{"requests_in_flight", nil, 1},
		{"streams_active", labels{"agent": "billing"}, 1},
		{"streams_active", labels{"agent": "other"}, 0},
		{"stream_events_total", labels{"agent": "billing"}, 2},
		{"authn_total", labels{"provider": "https://id.example", "result": "ok"}, 1},
		{"authn_total", labels{"provider": "other", "result": "other"}, 1},
		{"jwks_refreshes_total", labels{"result": "ok"}, 1},
		{"jwks_refreshes_total", labels{"result": "error"}, 1},
		{"card_fetch_total", labels{"agent": "travel", "result": "unchanged"}, 1},
		{"push_deliveries_total", labels{"agent": "billing", "result": "delivered"}, 1},
		{"push_deliveries_total", labels{"agent": "billing", "result": "refused"}, 1},
		{"push_deliveries_total", labels{"agent": "other", "result": "other"}, 1},
		{"push_delivery_duration_seconds", labels{"agent": "billing"}, 1},
		{"push_queue_depth", nil, 5},
		{"malformed_requests_total", labels{"wrong": "line_end"}, 1},
		{"malformed_requests_total", labels{"wrong": "other"}, 1},
		{"floods_total", labels{"frame": "ping"}, 1},
		{"floods_total", labels{"frame": "other"}, 1},
		{"push_dead", nil, 2},
		{"push_queue_oldest_seconds", nil, 60},
		{"audit_records_total", labels{"result": "written"}, 3},
		{"audit_records_total", labels{"result": "failed"}, 0},
		{"config_reloads_total", labels{"result": "ok"}, 1},
		{"config_reloads_total", labels{"result": "error"}, 1},
		{"config_last_reload_successful", nil, 0},
		{"config_hash", nil, float64(uint64(sum[0])<<40 | uint64(sum[1])<<32 | uint64(sum[2])<<24 |
			uint64(sum[3])<<16 | uint64(sum[4])<<8 | uint64(sum[5]))},
	} {
		if got := metric(t, tel, p+c.name, c.labels); got != c.want {
			t.Errorf("%s%v = %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	if got := metric(t, tel, p+"config_last_reload_success_timestamp_seconds", nil); got < 1.7e9 {
		t.Errorf("timestamp is %v", got)
	}
}

// series counts what /metrics holds of ours.
func countSeries(t testing.TB, tel *Telemetry) int {
	t.Helper()
	n := 0
	for _, family := range gather(t, tel) {
		if strings.HasPrefix(family.GetName(), "a2a_gateway_") {
			n += len(family.GetMetric())
		}
	}
	return n
}

func TestSetLabelsForgets(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	e := sample()
	e.Violations = []Violation{{Extension: "https://ext.example/a", Fault: "schema"}}
	tel.Record(e)
	tel.Metrics.Streams.Open("billing").Event()
	tel.Metrics.Cards.Fetched("billing", "ok")
	before := countSeries(t, tel)
	tel.Metrics.SetLabels(metrics.Labels{Agents: []string{"billing"}, Rules: []string{"team", "trial"},
		URIs: []string{"https://ext.example/b", "https://ext.example/a"}})
	if got := countSeries(t, tel); got != before {
		t.Errorf("%d series where nothing that counts was taken away, had %d", got, before)
	}
	tel.Record(sample())
	if got := metric(t, tel, "a2a_gateway_requests_total",
		labels{"agent": "billing", "method": "SendMessage", "binding": "JSONRPC", "code": "OK"}); got != 2 {
		t.Errorf("requests_total = %v after a reload that kept the agent, want 2", got)
	}
	tel.Metrics.SetLabels(metrics.Labels{})
	for _, family := range gather(t, tel) {
		if text := family.String(); strings.Contains(text, "billing") || strings.Contains(text, "ext.example") ||
			strings.Contains(text, "team") {
			t.Errorf("still there: %.200s", text)
		}
	}
}

// TestA28_NoCanaryInMetrics fills every field with a text that must not come
// out in /metrics.
func TestA28_NoCanaryInMetrics(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	e := &Exchange{
		Arrival:      Arrival{Start: start},
		EventStream:  EventStream{Streamed: true, FirstEvent: 1},
		UpstreamCall: UpstreamCall{UpstreamStatus: 200},
	}
	fill(e, func(field string) string { return "canary-" + field })
	tel.Record(e)
	e.Streamed = false
	tel.Record(e)
	answer := httptest.NewRecorder()
	tel.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if i := strings.Index(answer.Body.String(), "canary"); i >= 0 {
		t.Errorf("a canary came out: %.200s", answer.Body.String()[i:])
	}
	if !strings.Contains(answer.Body.String(), `a2a_gateway_build_info{go_version="go`) {
		t.Errorf("no metrics: %d %.200s", answer.Code, answer.Body)
	}
}

func TestHandlerForms(t *testing.T) {
	t.Parallel()
	off := false
	for name, c := range map[string]struct {
		change func(*Config)
		accept string
		status int
		holds  string
	}{
		"text":    {nil, "", 200, "a2a_gateway_request_duration_seconds_bucket{"},
		"native":  {nil, "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", 200, "a2a_gateway_requests_total"},
		"open":    {nil, "application/openmetrics-text", 200, "# EOF"},
		"off":     {func(c *Config) { c.Metrics.Enabled = &off }, "", 404, ""},
		"example": {func(c *Config) { c.Metrics.Exemplars = true }, "application/openmetrics-text", 200, "# EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tel := opened(t, io.Discard, c.change)
			tel.Record(sample())
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Header.Set("Accept", c.accept)
			answer := httptest.NewRecorder()
			tel.Handler().ServeHTTP(answer, r)
			if answer.Code != c.status || !bytes.Contains(answer.Body.Bytes(), []byte(c.holds)) {
				t.Errorf("%d %.300s", answer.Code, answer.Body)
			}
		})
	}
}

// TestNativeHistograms checks that the histograms are native ones with classic
// buckets beside them.
func TestNativeHistograms(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	tel.Record(sample())
	for _, family := range gather(t, tel) {
		if family.GetType() != dto.MetricType_HISTOGRAM || !strings.HasPrefix(family.GetName(), "a2a_gateway_") {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		if h.Schema == nil || len(h.GetBucket()) == 0 {
			t.Errorf("%s: schema %v, %d classic buckets", family.GetName(), h.Schema, len(h.GetBucket()))
		}
	}
}
