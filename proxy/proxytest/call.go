package proxytest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// KeyTransport shows a caller's key with every request.
type KeyTransport struct {
	Key string
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (k KeyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", k.Key)
	return k.RoundTripper.RoundTrip(r)
}

// JSONText is a string in JSON.
func JSONText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// RawJSON is a JSON value as it came, byte for byte.
type RawJSON []byte

// UnmarshalJSON keeps the bytes.
func (r *RawJSON) UnmarshalJSON(b []byte) error {
	*r = bytes.Clone(b)
	return nil
}

// Response is a response, read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Request makes a request as a caller; who may be "".
func (w *Gateway) Request(who, verb, target, body string, header ...string) *http.Request {
	w.Helper()
	if !strings.HasPrefix(target, "http") {
		target = w.Base + target
	}
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.Background(), verb, target, reader)
	Must(w, err)
	r.Header.Set("User-Agent", "test")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		r.Header.Set("X-API-Key", w.Keys[who])
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	return r
}

// Do makes a request and reads the answer.
func (w *Gateway) Do(who, verb, target, body string, header ...string) Response {
	w.Helper()
	resp, err := w.Client.Do(w.Request(who, verb, target, body, header...))
	Must(w, err)
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		got = append(got, "\n"+err.Error()...)
	}
	_ = resp.Body.Close()
	return Response{resp.StatusCode, resp.Header, string(got)}
}

// Call makes a JSON-RPC call of version 1.0, with id 7.
func (w *Gateway) Call(who, method, params string, header ...string) Response {
	w.Helper()
	return w.Do(who, "POST", "", RPCBody(method, params), append([]string{"A2A-Version: 1.0"}, header...)...)
}

func decoderAt(b []byte) *jsontext.Decoder { return jsontext.NewDecoder(bytes.NewReader(b)) }

// RPCBody is a JSON-RPC request with the id 7.
func RPCBody(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
}

// Message is the params of a send; more are members of the message.
func Message(more string) string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]` + more + `}}`
}

// Raw writes bytes to the gateway and reads one response.
func (w *Gateway) Raw(text string) Response {
	w.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	Must(w, err)
	defer func() { _ = c.Close() }()
	Must(w, c.SetDeadline(time.Now().Add(Patience)))
	// The gateway may refuse and close before it has been told everything.
	_, _ = io.WriteString(c, text)
	verb, _, _ := strings.Cut(text, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: verb})
	if err != nil {
		return Response{Body: err.Error()}
	}
	body, _ := io.ReadAll(resp.Body)
	return Response{resp.StatusCode, resp.Header, string(body)}
}

// Head is a request head for raw, as alice, its lines ended as HTTP wants them.
func (w *Gateway) Head(start string, lines ...string) string {
	all := append([]string{start, "Host: " + strings.TrimPrefix(w.URL, "http://")}, lines...)
	return strings.Join(append(all, "X-API-Key: "+w.Keys["alice"], "", ""), "\r\n")
}

// WantStatus fails the test unless a response has one of these statuses.
func WantStatus(t testing.TB, what string, got Response, want ...int) {
	t.Helper()
	for _, status := range want {
		if got.Status == status {
			return
		}
	}
	t.Errorf("%s: status %d, want %v: %s", what, got.Status, want, got.Body)
}

// SameJSON compares by meaning.
func SameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var x, y any
	Must(t, json.Unmarshal([]byte(a), &x))
	Must(t, json.Unmarshal([]byte(b), &y))
	return reflect.DeepEqual(x, y)
}

// SameHeader is a header without what differs from answer to answer.
func SameHeader(a Response) http.Header {
	h := a.Header.Clone()
	h.Del("X-Request-Id")
	h.Del("Date")
	return h
}

// ResponseBuffer is a ResponseWriter that keeps the body.
type ResponseBuffer struct {
	Head http.Header
	Text strings.Builder
}

// Header implements http.ResponseWriter.
func (b *ResponseBuffer) Header() http.Header { return b.Head }

// WriteHeader implements http.ResponseWriter; the status is of no interest.
func (b *ResponseBuffer) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (b *ResponseBuffer) Write(p []byte) (int, error) { return b.Text.Write(p) }

// HeaderSpellings are the ways to write a header name that some server reads alike.
func HeaderSpellings(name string) []string {
	mixed := []byte(strings.ToLower(name))
	for i := 0; i < len(mixed); i += 2 {
		mixed[i] = strings.ToUpper(string(mixed[i]))[0]
	}
	return []string{
		name, strings.ToLower(name), strings.ToUpper(name), string(mixed),
		strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(name, "-", "."), name + " ",
	}
}
