package gatewaytest

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
)

// HTTPClient gives a client that adds the headers, usually a credential, to
// every request, and whose connections end with the test. A nil transport is a
// plain one.
func HTTPClient(t testing.TB, header http.Header, transport *http.Transport) *http.Client {
	t.Helper()
	return &http.Client{Transport: newTape(t, header, transport)}
}

// tape is a transport that adds headers and keeps what the server answered.
type tape struct {
	next   http.RoundTripper
	tls    *tls.Config // nil for plaintext; for what does not go through next
	header http.Header

	mu      sync.Mutex // guards what follows
	answers []*answer
	last    http.Header // of the last answer, with its trailer where the binding is gRPC
}

// answer is one response as it was on the wire, its body complete once the
// client has read it.
type answer struct {
	status    int
	mediaType string
	body      bytes.Buffer
	mu        *sync.Mutex
}

func newTape(t testing.TB, header http.Header, transport *http.Transport) *tape {
	if transport == nil {
		transport = &http.Transport{}
	}
	t.Cleanup(transport.CloseIdleConnections)
	// Cloned before the transport is used, since it then makes one of its own.
	return &tape{next: ssetest.Watch(t, transport), tls: transport.TLSClientConfig.Clone(), header: header}
}

// RoundTrip implements http.RoundTripper.
func (t *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range t.header {
		r.Header[name] = values
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.hear(resp.Header)
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	a := t.begin(resp.StatusCode, media)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, a), resp.Body}
	return resp, nil
}

func (t *tape) hear(h http.Header) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = h.Clone()
}

// begin opens the memory of one answer.
func (t *tape) begin(status int, mediaType string) *answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &answer{status: status, mediaType: mediaType, mu: &t.mu}
	t.answers = append(t.answers, a)
	return a
}

// Write implements io.Writer: the body as the client reads it.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.body.Write(p)
}

// drop forgets the last n answers.
func (t *tape) drop(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = t.answers[:max(0, len(t.answers)-n)]
}

// take gives the lines of everything answered since the last take.
func (t *tape) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, a := range t.answers {
		lines = append(lines, a.lines()...)
	}
	t.answers = nil
	return lines
}

// lines writes an answer as one line per document: the body, or the data of
// every event. Comments, ids and retry hints of a stream are between the two
// ends of one connection and left out.
func (a *answer) lines() []string {
	if a.mediaType != "text/event-stream" {
		return []string{document(a.status, strings.TrimSpace(a.body.String()))}
	}
	var lines []string
	text := strings.ReplaceAll(a.body.String(), "\r\n", "\n")
	for frame := range strings.SplitSeq(text, "\n\n") {
		var data []string
		for line := range strings.SplitSeq(frame, "\n") {
			if rest, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(rest, " "))
			}
		}
		if data != nil {
			lines = append(lines, document(a.status, strings.Join(data, "\n")))
		}
	}
	return lines
}

// document writes one JSON document for comparison. Errors are reduced to their
// code, since whoever finds the error may choose the words and, for a stream,
// whether it comes before or inside it.
func document(status int, body string) string {
	var v struct {
		Error *struct {
			Code json.Number `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &v) == nil && v.Error != nil {
		return "wire: error " + v.Error.Code.String()
	}
	if status >= http.StatusBadRequest {
		return fmt.Sprintf("wire: error %d", status)
	}
	return fmt.Sprintf("wire: %d %s", status, body)
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
)

// names replaces what differs between two runs: ids by their order of first
// appearance, times by a word.
type names struct{ seen map[string]string }

func (n *names) rewrite(line string) string {
	if len(line) > 1<<20 {
		line = strings.ReplaceAll(line, megabyteText(), "<megabyte>")
	}
	line = times.ReplaceAllString(line, "<time>")
	line = uuids.ReplaceAllStringFunc(line, func(id string) string {
		name, ok := n.seen[id]
		if !ok {
			name = fmt.Sprintf("<id%d>", len(n.seen)+1)
			n.seen[id] = name
		}
		return name
	})
	return line
}
