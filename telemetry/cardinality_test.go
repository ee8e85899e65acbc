package telemetry

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile are texts that somebody might send in the hope to break a metric.
var hostile = []string{
	"", " ", "\x00", "\xff\xfe", "a\nb", `"} 1` + "\n" + `forged{x="`, "\u202egnillib", "billing ", "Billing", "none\x00",
	strings.Repeat("x", 100_000), "__name__", "OK", "other",
}

// TestA28_Cardinality sends calls with ever new texts in every field, and the same to
// whatever else counts: the number of series stays what the closed sets make it.
func TestA28_Cardinality(t *testing.T) {
	t.Parallel()
	calls := 100_000
	if testing.Short() {
		calls = 1_000
	}
	tel := opened(t, io.Discard, func(c *Config) { c.Logs.Level = "error" })
	sets := Labels{Agents: []string{"billing"}, Rules: []string{"team"}, URIs: []string{"urn:a"}, Methods: []string{"x/y"},
		Providers: []string{"https://id.example"}, Limits: []string{"daily"}, Authorizers: []string{"pdp"}, Domains: []string{"gateway.example"}}
	tel.Metrics.SetLabels(sets)
	for i := range 1000 { // every class of status and both kinds of call have been seen
		flood(tel, i, hostile[i%len(hostile)])
		flood(tel, i, fmt.Sprint("id-", i))
	}
	before := countSeries(t, tel)
	for i := range calls {
		id := fmt.Sprint("id-", 1000+i)
		if recordOf(tel, 1000+i, id); i%10 == 0 {
			flood(tel, 1000+i, id) // reflection takes its time
		}
	}
	if after := countSeries(t, tel); after != before {
		t.Errorf("%d series after %d calls, %d before", after, calls, before)
	}
	closedSeries(t, tel, sets)
}

// flood has a text in every field of a call and in whatever else is counted.
func flood(tel *Telemetry, i int, text string) {
	recordOf(tel, i, text)
	m := reflect.ValueOf(tel.Metrics)
	for n := range m.NumMethod() {
		switch m.Type().Method(n).Name {
		case "SetLabels", "Upstreams", "Condition", "AuditSinks": // the configuration's word, not a client's
			continue
		}
		method := m.Method(n)
		args := make([]reflect.Value, method.Type().NumIn())
		for k := range args {
			args[k] = argument(method.Type().In(k), i, text)
		}
		for _, out := range method.Call(args) {
			if s, ok := out.Interface().(Stream); ok {
				s.Event()
				s.Close()
			}
		}
	}
}

// recordOf records a call with a text in every field.
func recordOf(tel *Telemetry, i int, text string) {
	e := &Exchange{
		Arrival:      Arrival{Start: start, Duration: time.Duration(i), RequestBytes: int64(i)},
		Answer:       Answer{Status: i % 600},
		UpstreamCall: UpstreamCall{UpstreamStatus: i, Deduplicated: true},
		EventStream:  EventStream{Streamed: i%2 == 0, Resumed: i%3 == 0, Gap: i%5 == 0, Joined: true, Replayed: 1, FirstEvent: 1},
	}
	fill(e, func(string) string { return text })
	e.Violations = []Violation{{Extension: text, Fault: text, Enforced: i%2 == 0}}
	tel.Record(e)
}

// argument is a value of a type, made of a number and a text.
func argument(of reflect.Type, i int, text string) reflect.Value {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(i))
	case reflect.Float64:
		v.SetFloat(float64(i))
	case reflect.Bool:
		v.SetBool(i%2 == 0)
	case reflect.Interface:
		if i%2 == 0 && of.Implements(reflect.TypeFor[error]()) {
			v.Set(reflect.ValueOf(errors.New(text)))
		}
	default: // zero
	}
	return v
}

// closedSeries fails the test where a label has a value that is in no closed set.
func closedSeries(t *testing.T, tel *Telemetry, sets Labels) {
	t.Helper()
	brought := map[string][]string{
		"agent": sets.Agents, "rule": sets.Rules, "uri": sets.URIs, "method": sets.Methods, "provider": sets.Providers,
		"limit": sets.Limits, "domain": sets.Domains, "authorizer": sets.Authorizers, "version": {"test"}, "go_version": {runtime.Version()},
	}
	known := map[string][]label{}
	for _, i := range tel.Metrics.made {
		known[i.name] = i.labels
	}
	for _, family := range gather(t, tel) {
		if !strings.HasPrefix(family.GetName(), prefix) {
			continue
		}
		labels, ok := known[family.GetName()]
		if !ok {
			t.Errorf("%s is not one of those that are documented", family.GetName())
		}
		for _, m := range family.GetMetric() {
			for _, pair := range m.GetLabel() {
				i := slices.IndexFunc(labels, func(l label) bool { return l.name == pair.GetName() })
				if i < 0 || !slices.Contains(labels[i].values, pair.GetValue()) &&
					(labels[i].from == "" || !slices.Contains(brought[pair.GetName()], pair.GetValue())) {
					t.Errorf("%s has %s=%.100q", family.GetName(), pair.GetName(), pair.GetValue())
				}
			}
		}
	}
}

// TestScrapeWithHostileTexts: what was counted can still be read.
func TestScrapeWithHostileTexts(t *testing.T) {
	t.Parallel()
	tel := opened(t, io.Discard, func(c *Config) { c.Logs.Level = "error" })
	for i, text := range hostile {
		flood(tel, i, text)
	}
	for _, accept := range []string{"", "application/openmetrics-text"} {
		if got := scrape(t, tel, accept); strings.Contains(got, "forged") || !strings.Contains(got, prefix+"requests_total") {
			t.Errorf("%q: %.300s", accept, got)
		}
	}
}

// scrape reads /metrics in the format that is asked for.
func scrape(t testing.TB, tel *Telemetry, accept string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	w := &page{header: http.Header{}}
	tel.Handler().ServeHTTP(w, r)
	return w.text.String()
}

// page is a ResponseWriter that keeps the body.
type page struct {
	header http.Header
	text   strings.Builder
}

func (p *page) Header() http.Header         { return p.header }
func (p *page) WriteHeader(int)             {}
func (p *page) Write(b []byte) (int, error) { return p.text.Write(b) }
