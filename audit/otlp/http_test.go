//go:build !minimal

package otlp

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// web is a receiver by HTTP, which answers as it is told for a while and then as it should.
type web struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc // one for each of the next requests
	got     []uint64
	times   []time.Time // of requests
	last    *http.Request
}

func listen(t testing.TB, answers ...http.HandlerFunc) *web {
	t.Helper()
	w := &web{answers: answers}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *web) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.times, w.last = append(w.times, time.Now()), r
	var answer http.HandlerFunc
	if len(w.answers) > 0 {
		answer, w.answers = w.answers[0], w.answers[1:]
	}
	w.mu.Unlock()
	if answer != nil {
		answer(to, r)
		return
	}
	in, err := decode(r)
	if err != nil {
		http.Error(to, err.Error(), http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.got = append(w.got, numbers(in)...)
	w.mu.Unlock()
	reply(to, http.StatusOK, &collector.ExportLogsServiceResponse{})
}

func decode(r *http.Request) (*collector.ExportLogsServiceRequest, error) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		body = z
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	var in collector.ExportLogsServiceRequest
	return &in, proto.Unmarshal(text, &in)
}

func reply(to http.ResponseWriter, status int, m proto.Message) {
	text, err := proto.Marshal(m)
	if err != nil {
		http.Error(to, err.Error(), http.StatusInternalServerError)
		return
	}
	to.Header().Set("Content-Type", typeProtobuf)
	to.WriteHeader(status)
	_, _ = to.Write(text)
}

func (w *web) has() []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got)
}

// say is an answer with a status, a header and a text.
func say(status int, text string, header ...string) http.HandlerFunc {
	return func(to http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			to.Header().Set(header[i], header[i+1])
		}
		to.WriteHeader(status)
		_, _ = io.WriteString(to, text)
	}
}

func open(t testing.TB, c Config) *Sink {
	t.Helper()
	model := sinkTo(t, nil, 0)
	s, err := New(c, Options{Gateway: "gw", Log: "the-log", Logger: model.logger, Lost: model.lost})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestAnswers: only an answer that takes the records is one; any other is an error that
// says what it was, and after it the receiver gets all of them.
func TestAnswers(t *testing.T) {
	t.Parallel()
	partial := func(n int64, text string) http.HandlerFunc {
		return func(to http.ResponseWriter, _ *http.Request) {
			reply(to, http.StatusOK, &collector.ExportLogsServiceResponse{
				PartialSuccess: &collector.ExportLogsPartialSuccess{RejectedLogRecords: n, ErrorMessage: text},
			})
		}
	}
	status := func(code int, text string) http.HandlerFunc {
		return func(to http.ResponseWriter, _ *http.Request) { reply(to, code, &rpc.Status{Message: text}) }
	}
	for want, answer := range map[string]http.HandlerFunc{
		"record 1 in audit-2026-11-21.jsonl: the receiver rejects records: 1 of 1: too old": partial(1, "too old"),
		"the receiver rejects records: -5 of 1":                                             partial(-5, ""),
		"the receiver refuses: 401 Unauthorized: who are you":                               say(401, "who are you"),
		"the receiver refuses: 403 Forbidden: not here":                                     status(403, "not here"),
		"the receiver refuses: 404 Not Found":                                               say(404, ""),
		"the receiver refuses: 301 Moved Permanently":                                       say(301, "", "Location", "/v1/logs"),
		"the receiver refuses: 500 Internal Server Error: a  b":                             say(500, "a\x1b\nb"),
		"the receiver rejects records: 413 Request Entity Too Large":                        say(413, ""),
		`the receiver rejects records: 400 Bad Request: no {"x`:                             say(400, `{"message":"no {\"x"}`, "Content-Type", typeJSON),
		"the receiver takes no records now: 429 Too Many Requests":                          say(429, ""),
		"the receiver takes no records now: 503 Service Unavailable":                        say(503, "", "Retry-After", "soon"),
		"200 OK: the answer is not OTLP: it is text/html":                                   say(200, "<html>log in", "Content-Type", "text/html; charset=utf-8"),
		"200 OK: the answer is not OTLP: ":                                                  say(200, "\xff\xff", "Content-Type", typeProtobuf),
		"200 OK: the answer is longer than 1048576 bytes":                                   say(200, strings.Repeat("x", maxAnswer+1)),
		"200 OK: read the answer: unexpected EOF":                                           say(200, "half", "Content-Length", "100"),
		"EOF": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := listen(t, answer)
			s := open(t, Config{Endpoint: secret.URL(w.URL)})
			err := s.Put(t.Context(), entries(1, 1, 10))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if err := s.Put(t.Context(), entries(1, 10, 10)); err != nil || !slices.Equal(w.has(), upTo(10)) {
				t.Errorf("%v, it has %v", err, w.has())
			}
		})
	}
	for name, answer := range map[string]http.HandlerFunc{
		"empty":            say(200, ""),
		"no content":       say(204, ""),
		"JSON":             say(200, `{"partialSuccess":{},"new":1}`, "Content-Type", typeJSON),
		"with a warning":   partial(0, "use another endpoint"),
		"empty and untold": say(202, "", "Content-Type", "text/plain"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := open(t, Config{Endpoint: secret.URL(listen(t, answer).URL)}).Put(t.Context(), entries(1, 10, 10)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRetryAfter: a receiver that says when to come back is asked then, in the same Put.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel() // a second is the least that the header can say
			w := listen(t, say(status, "", "Retry-After", "1"))
			if err := open(t, Config{Endpoint: secret.URL(w.URL)}).Put(t.Context(), entries(1, 10, 10)); err != nil {
				t.Fatal(err)
			}
			got := w.has()
			w.mu.Lock()
			defer w.mu.Unlock()
			if !slices.Equal(got, upTo(10)) || len(w.times) != 2 {
				t.Fatalf("%d requests, it has %v", len(w.times), got)
			}
			if d := w.times[1].Sub(w.times[0]); d < time.Second {
				t.Errorf("it was asked again after %v", d)
			}
		})
	}
}

// TestRetryAfterForms: seconds or a time; what is neither, or over, asks for nothing.
func TestRetryAfterForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-1": 0, "1.5": 0, "99999999999999999999": 0, "soon": 0,
		"Sat, 21 Nov 2026 12:01:00 GMT": time.Minute, "Sat, 21 Nov 2026 11:01:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestHang: a receiver that says nothing holds up a Put as long as it may last.
func TestHang(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := listen(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees that the client has gone only then
		cancel()                           // the next one is for the second Put
		<-r.Context().Done()
	})
	s := open(t, Config{Endpoint: secret.URL(w.URL)})
	if err := s.Put(ctx, entries(1, 10, 10)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Put(t.Context(), entries(1, 10, 10)); err != nil || !slices.Equal(w.has(), upTo(10)) {
		t.Errorf("%v, it has %v", err, w.has())
	}
}

// TestCut: what was accepted before a connection is cut does not come again, the rest does.
func TestCut(t *testing.T) {
	t.Parallel()
	w := listen(t, nil, nil, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s := open(t, Config{Endpoint: secret.URL(w.URL), MaxRequest: leastMaxRequest})
	all := entries(1, 100, 5000)
	if err := s.Put(t.Context(), all); err == nil {
		t.Fatal("the connection was cut, and it is no error")
	}
	before := len(w.has())
	if before == 0 || before == 100 {
		t.Fatalf("it had %d records", before)
	}
	if err := s.Put(t.Context(), all); err != nil || !slices.Equal(w.has(), upTo(100)) {
		t.Errorf("%v, it has %v", err, w.has())
	}
}

// TestNobody: where nobody listens it is an error at once.
func TestNobody(t *testing.T) {
	t.Parallel()
	address := gatewaytest.FreeAddress()
	for _, protocol := range []string{protocolHTTP, protocolGRPC} {
		s := open(t, Config{Endpoint: secret.URL("http://" + address), Protocol: protocol})
		if err := s.Put(t.Context(), entries(1, 1, 10)); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// TestRequest: what goes with the records.
func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, posted, compression, encoding string }{
		{"", "/v1/logs", "", "gzip"},
		{"/", "/v1/logs", "gzip", "gzip"},
		{"/otlp/v1/logs", "/otlp/v1/logs", "none", ""},
	} {
		w := listen(t)
		s := open(t, Config{Endpoint: secret.URL(w.URL + c.path), Compression: c.compression, Headers: []Header{{"Authorization", secret.New("Bearer x")}}})
		if err := s.Put(t.Context(), entries(1, 10, 10)); err != nil || !slices.Equal(w.has(), upTo(10)) {
			t.Fatalf("%v, it has %v", err, w.has())
		}
		w.mu.Lock()
		r := w.last
		w.mu.Unlock()
		if r.URL.Path != c.posted || r.Header.Get("Content-Encoding") != c.encoding || r.Header.Get("Authorization") != "Bearer x" ||
			r.Header.Get("Content-Type") != typeProtobuf || r.Header.Get("User-Agent") != "a2a-gateway" {
			t.Errorf("%s with %v", r.URL.Path, r.Header)
		}
	}
}
