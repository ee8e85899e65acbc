package telemetry

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
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
	sets := metrics.Labels{Agents: []string{"billing"}, Rules: []string{"team"}, URIs: []string{"urn:a"}, Methods: []string{"x/y"},
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
}

// flood has a text in every field of a call and in whatever else is counted: all methods of all
// topics of metrics.
func flood(tel *Telemetry, i int, text string) {
	recordOf(tel, i, text)
	topics := reflect.ValueOf(tel.Metrics).Elem()
	for n := range topics.NumField() {
		if !topics.Type().Field(n).IsExported() {
			continue
		}
		topic := topics.Field(n).Addr()
		for k := range topic.NumMethod() {
			if topic.Type().Method(k).Name != "Watch" { // the gateway's word, not a client's
				count(topic.Method(k), i, text)
			}
		}
	}
}

// count calls a method that counts.
func count(method reflect.Value, i int, text string) {
	args := make([]reflect.Value, method.Type().NumIn())
	for k := range args {
		args[k] = argument(method.Type().In(k), i, text)
	}
	for _, out := range method.Call(args) {
		if s, ok := out.Interface().(metrics.Stream); ok {
			s.Event()
			s.Close()
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
	case reflect.Pointer:
		v.Set(argument(of.Elem(), i, text).Addr())
	case reflect.Struct:
		for n := range of.NumField() {
			v.Field(n).Set(argument(of.Field(n).Type, i, text))
		}
	case reflect.Slice:
		v.Set(reflect.Append(v, argument(of.Elem(), i, text)))
	default: // zero
	}
	return v
}

// TestScrapeWithHostileTexts: what was counted can still be read.
func TestScrapeWithHostileTexts(t *testing.T) {
	t.Parallel()
	tel := opened(t, io.Discard, func(c *Config) { c.Logs.Level = "error" })
	for i, text := range hostile {
		flood(tel, i, text)
	}
	for _, accept := range []string{"", "application/openmetrics-text"} {
		if got := scrape(t, tel, accept); strings.Contains(got, "forged") || !strings.Contains(got, "a2a_gateway_requests_total") {
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

// TestMetricsPassPromtool: names and help are as Prometheus wants them.
func TestMetricsPassPromtool(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	for i, text := range hostile {
		flood(tel, i, text)
	}
	file := filepath.Join(t.TempDir(), "metrics")
	if err := os.WriteFile(file, []byte(scrape(t, tel, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("promtool"); err != nil {
		testenv.Missing(t, "promtool is not installed (it comes with prometheus)")
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	c := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	c.Stdin = in
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
