package gatewaytest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Recorded is one request as it arrived.
type Recorded struct {
	Raw    []byte // every byte: request line, fields, blank line, body with its framing
	Head   []byte // the part of Raw up to and including the blank line
	Body   []byte // the body without chunk framing
	Method string
	Target string // as in the request line
	Host   string
	Header http.Header
}

// ID is the JSON-RPC id of the request, verbatim; "null" when there is none.
func (r *Recorded) ID() string {
	_, rest, found := bytes.Cut(r.Body, []byte(`"id":`))
	if !found {
		return "null"
	}
	end := bytes.IndexAny(rest, ",}")
	if end < 0 {
		return "null"
	}
	return string(bytes.TrimSpace(rest[:end]))
}

// Reply answers one request on the raw connection. It returns false when the
// connection must not be used again.
type Reply func(ctx context.Context, conn net.Conn, r *Recorded) (keep bool)

// Recorder is a backend below HTTP: it keeps the exact bytes of every request
// and answers with the next reply of its script, the last one for ever. It
// serves a card by itself, and does not record that.
type Recorder struct {
	URL     string // origin, and the JSON-RPC endpoint that the card names
	CardURL string

	mu       sync.Mutex // guards what follows
	card     []byte
	script   []Reply
	requests []*Recorded
	arrived  chan struct{} // closed and renewed at every request
	conns    map[net.Conn]struct{}
	dials    int
}

// NewRecorder starts a recorder that ends with the test. Its card describes an
// agent of the version, "1.0" or "0.3", with JSON-RPC at / and HTTP+JSON at
// /rest. Without a script every call is answered with an empty result.
func NewRecorder(t testing.TB, version string, script ...Reply) *Recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if len(script) == 0 {
		script = []Reply{Result(`{}`)}
	}
	origin := "http://" + l.Addr().String()
	r := &Recorder{
		URL: origin, CardURL: origin + "/.well-known/agent-card.json",
		card: recorderCard(origin, version), script: script,
		arrived: make(chan struct{}), conns: map[net.Conn]struct{}{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { r.accept(ctx, l, &serving) })
	t.Cleanup(func() {
		cancel()
		_ = l.Close()
		r.closeConns()
		serving.Wait()
	})
	return r
}

func recorderCard(origin, version string) []byte {
	const common = `"name":"Recorder","description":"Keeps what it is sent.","version":"1",` +
		`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
		`"capabilities":{"streaming":true,"pushNotifications":true%s},` +
		`"skills":[{"id":"work","name":"Work","description":"Works.","tags":["test"]},` +
		`{"id":"rest","name":"Rest","description":"Rests.","tags":["test"]}]`
	if strings.HasPrefix(version, "0.") {
		return fmt.Appendf(nil, `{"protocolVersion":"0.3.0","url":%q,"preferredTransport":"JSONRPC",`+
			`"additionalInterfaces":[{"url":%q,"transport":"HTTP+JSON"}],`+common+`}`, origin+"/", origin+"/rest", "")
	}
	return fmt.Appendf(nil, `{"supportedInterfaces":[`+
		`{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"},`+
		`{"url":%q,"protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],`+common+`}`,
		origin+"/", origin+"/rest", `,"extendedAgentCard":true`)
}

// SetCard replaces the card, for cards that no SDK would write.
func (r *Recorder) SetCard(card []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.card = card
}

// Script replaces the replies.
func (r *Recorder) Script(replies ...Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.script = replies
}

// Requests are the calls received so far.
func (r *Recorder) Requests() []*Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Recorded(nil), r.requests...)
}

// Reset forgets the calls received so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = nil
}

// Dials tells how many connections were opened.
func (r *Recorder) Dials() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dials
}

// Wait returns when n calls have been received, with all of them, or fails the
// test when its context ends.
func (r *Recorder) Wait(t testing.TB, ctx context.Context, n int) []*Recorded {
	t.Helper()
	for {
		r.mu.Lock()
		got, arrived := append([]*Recorded(nil), r.requests...), r.arrived
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			t.Fatalf("the recorder received %d of %d requests", len(got), n)
		}
	}
}

func (r *Recorder) accept(ctx context.Context, l net.Listener, serving *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.conns[conn] = struct{}{}
		r.dials++
		r.mu.Unlock()
		serving.Go(func() {
			r.serve(ctx, conn)
			_ = conn.Close()
			r.mu.Lock()
			delete(r.conns, conn)
			r.mu.Unlock()
		})
	}
}

func (r *Recorder) closeConns() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		_ = conn.Close()
	}
}

func (r *Recorder) serve(ctx context.Context, conn net.Conn) {
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		raw.Reset()
		recorded, err := read(in, &raw)
		if err != nil {
			if !errors.Is(err, io.EOF) && raw.Len() > 0 {
				// What did not parse arrived nevertheless.
				r.keep(&Recorded{Raw: bytes.Clone(raw.Bytes())})
			}
			return
		}
		if !r.reply(recorded)(ctx, conn, recorded) {
			return
		}
	}
}

func read(in *bufio.Reader, raw *bytes.Buffer) (*Recorded, error) {
	request, err := http.ReadRequest(in)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, fmt.Errorf("read request body: %w", err)
	}
	all := bytes.Clone(raw.Bytes())
	head, _, _ := bytes.Cut(all, []byte("\r\n\r\n"))
	return &Recorded{
		Raw: all, Head: all[:min(len(head)+4, len(all))], Body: body,
		Method: request.Method, Target: request.RequestURI, Host: request.Host, Header: request.Header,
	}, nil
}

// reply picks the answer and records everything but reads of the card.
func (r *Recorder) reply(recorded *Recorded) Reply {
	if strings.HasPrefix(recorded.Target, "/.well-known/") {
		r.mu.Lock()
		defer r.mu.Unlock()
		return Document(http.StatusOK, "application/json", string(r.card))
	}
	r.keep(recorded)
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.script[0]
	if len(r.script) > 1 {
		r.script = r.script[1:]
	}
	return next
}

func (r *Recorder) keep(recorded *Recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, recorded)
	close(r.arrived)
	r.arrived = make(chan struct{})
}
