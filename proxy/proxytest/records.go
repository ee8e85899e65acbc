package proxytest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// RecordWith waits for the record of a call that has something.
func (w *Gateway) RecordWith(member string) (found map[string]any) {
	w.Helper()
	Eventually(w, "record with "+member, func() bool {
		for _, r := range w.Audited("call") {
			if r[member] != nil {
				found = r
			}
		}
		return found != nil
	})
	return found
}

// RecordOf waits for the record of the nth call, from 1, and gives its members.
func (w *Gateway) RecordOf(n int) map[string]any {
	w.Helper()
	Eventually(w, "record", func() bool { return len(w.Audited("call")) >= n })
	return w.Audited("call")[n-1]
}

// Metric is the value of the first series of a metric; "" for none.
func (w *Gateway) Metric(name string) string {
	w.Helper()
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(w.Telemetry.Registry, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if rest, ok := strings.CutPrefix(line, "a2a_gateway_"+name+"{"); ok {
			_, value, _ := strings.Cut(rest, "} ")
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// JoinedText is a list of a record's.
func JoinedText(v any) string {
	list, _ := v.([]any)
	var all []string
	for _, one := range list {
		all = append(all, fmt.Sprint(one))
	}
	return strings.Join(all, ",")
}

// Measured is the metrics of a name as they are served, by their labels.
func (w *Gateway) Measured(name string) map[string]string {
	w.Helper()
	rw := &ResponseBuffer{Head: http.Header{}}
	r, err := http.NewRequestWithContext(w.As("alice"), http.MethodGet, "/metrics", nil)
	Must(w, err)
	promhttp.HandlerFor(w.Telemetry.Registry, promhttp.HandlerOpts{}).ServeHTTP(rw, r)
	all := map[string]string{}
	for line := range strings.Lines(rw.Text.String()) {
		if rest, ok := strings.CutPrefix(line, "a2a_gateway_"+name+"{"); ok {
			labels, value, _ := strings.Cut(strings.TrimSpace(rest), "} ")
			all[labels] = value
		}
	}
	return all
}

// Audited gives the audit records of calls so far, by their type.
func (w *Gateway) Audited(kind string) []map[string]any {
	w.Helper()
	var all []map[string]any
	files, _ := filepath.Glob(filepath.Join(w.Dir, "audit", "*.jsonl"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		Must(w, err)
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(line, "\n") {
				break // it is being written
			}
			var r map[string]any
			Must(w, json.Unmarshal([]byte(line), &r))
			if r["type"] == kind {
				all = append(all, r)
			}
		}
	}
	return all
}

// WantHeader holds a header to a pattern; "" is for none.
func WantHeader(t *testing.T, what string, got Reply, name, pattern string) {
	t.Helper()
	value := got.Header.Get(name)
	if pattern == "" && value != "" || !regexp.MustCompile(pattern).MatchString(value) {
		t.Errorf("%s: %s is %q, want %q", what, name, value, pattern)
	}
}

// TextOf is a member that may be absent.
func TextOf(v any) string {
	s, _ := v.(string)
	return s
}
