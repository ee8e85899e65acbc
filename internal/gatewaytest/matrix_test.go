package gatewaytest_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// Without a gateway in between, nothing may differ: what the harness leaves in
// the comparison is the same in every run.
func TestMatrixAgainstItself(t *testing.T) {
	t.Parallel()
	gatewaytest.RunMatrix(t, func(_ *testing.T, agents []*gatewaytest.Agent) gatewaytest.Gateway {
		urls := map[string]string{}
		for _, a := range agents {
			urls[a.ID] = a.URL
		}
		return gatewaytest.Gateway{Base: func(id string) string { return urls[id] }, Push: true}
	})
}

// A proxy that changes anything a client could see is found out. Without this
// the test above would prove nothing.
func TestDifferencesAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		flavour   string
		change    func(*http.Response, string) string // body in, body out
		operation string                              // one that must differ
	}{
		{"number precision", "go10-jsonrpc", replace("9007199254740992", "9007199254740993"), "task reply"},
		{"key order", "go10-jsonrpc", replace(`"artifactId":`, `"zz":1,"artifactId":`), "task reply"},
		{"dropped event", "go10-jsonrpc", func(r *http.Response, body string) string {
			if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				return body
			}
			frames := strings.SplitAfter(body, "\n\n")
			return strings.Join(append(frames[:1:1], frames[min(2, len(frames)):]...), "")
		}, "stream to completion"},
		{"escaping", "go10-rest", replace(`\u003c`, `<`), "stream to completion"},
		{"other error code", "go10-jsonrpc", replace("-32001", "-32602"), "unknown task"},
		{"other status", "go10-rest", func(r *http.Response, body string) string {
			if r.StatusCode == http.StatusNotFound {
				r.StatusCode = http.StatusBadRequest
				return strings.ReplaceAll(body, `"code":404`, `"code":400`)
			}
			return body
		}, "unknown task"},
		{"lost member", "compat03-jsonrpc", replace(`"final":true`, `"final":false`), "stream to completion"},
		{"lost file name", "compat03-rest", replace(`a.bin`, ``), "file parts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(gatewaytest.Flavours(), func(f gatewaytest.Flavour) bool {
				return f.Name == tt.flavour
			})
			flavour := gatewaytest.Flavours()[i]
			behind := gatewaytest.Start(t, flavour)
			proxy := tamper(t, behind, tt.change)
			found := gatewaytest.Differences(t, gatewaytest.Go10, gatewaytest.Start(t, flavour), behind,
				gatewaytest.Gateway{Base: func(string) string { return proxy }, Push: true}, tt.operation)
			if len(found) == 0 {
				t.Errorf("%s: the change was not found", tt.operation)
			}
		})
	}
}

func replace(old, now string) func(*http.Response, string) string {
	return func(_ *http.Response, body string) string { return strings.ReplaceAll(body, old, now) }
}

// tamper is a reverse proxy that buffers every answer but endless ones, and
// changes it.
func tamper(t *testing.T, agent *gatewaytest.Agent, change func(*http.Response, string) string) string {
	t.Helper()
	origin, err := url.Parse(agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	var self string
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(origin) },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Content-Length")
			r.ContentLength = -1
			body := r.Body
			if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				all, err := io.ReadAll(body)
				_ = body.Close()
				r.Body = io.NopCloser(strings.NewReader(change(r, string(all))))
				return err
			}
			// Streams stay streams.
			out, in := io.Pipe()
			r.Body = out
			go relay(in, body, func(text string) string {
				return strings.ReplaceAll(change(r, text), agent.URL, self)
			})
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			answer, err := transport.RoundTrip(rebase(r, origin))
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			card, _ := io.ReadAll(answer.Body)
			_, _ = io.WriteString(w, strings.ReplaceAll(string(card), agent.URL, self))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	self = server.URL
	return self
}

func rebase(r *http.Request, origin *url.URL) *http.Request {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.RequestURI = origin.Scheme, origin.Host, ""
	return out
}

// relay passes a stream on; a stream that ends soon is changed as a whole.
func relay(in *io.PipeWriter, body io.ReadCloser, change func(string) string) {
	defer in.Close()
	defer body.Close()
	lines := bufio.NewReader(body)
	var held strings.Builder
	ticking := false
	for {
		line, err := lines.ReadString('\n')
		ticking = ticking || strings.Contains(line, `"tick"`)
		held.WriteString(line)
		if err != nil || ticking && line == "\n" {
			if _, werr := io.WriteString(in, change(held.String())); werr != nil || err != nil {
				return
			}
			held.Reset()
		}
	}
}
