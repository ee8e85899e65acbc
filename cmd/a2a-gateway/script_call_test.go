package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// client calls the gateway for a script and remembers the last answer.
type client struct {
	w         *world
	transport *http.Transport
	roots     *x509.CertPool
	shown     map[string]*http.Transport // by the client certificate that they show
	last      [][]byte                   // the JSON documents of the last answer: one, or one per event
	status    int                        // of the last answer
	proof     string                     // that was sent last
	tag       string                     // ETag of the last answer that had one
	event     string                     // id of the last event of a stream that had one
}

func newClient(w *world) *client {
	c := &client{w: w, roots: x509.NewCertPool(), shown: map[string]*http.Transport{}}
	c.transport = &http.Transport{
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12},
	}
	return c
}

func (c *client) trust(cert *x509.Certificate) {
	c.idle()
	c.roots.AddCert(cert)
}

func (c *client) close() { c.idle() }

func (c *client) idle() {
	c.transport.CloseIdleConnections()
	for _, t := range c.shown {
		t.CloseIdleConnections()
	}
}

// request is one HTTP call, as flags and arguments describe it.
type request struct {
	as, verb, version string
	header            headerFlag
	show              string
	certificate       string // file of the client's
	proof             string // name of the key of DPoP proofs
	again             bool   // the proof of the call before
	raw, background   bool
	events            int
	name              string

	path, body string
}

type headerFlag []string

func (h *headerFlag) String() string     { return strings.Join(*h, ",") }
func (h *headerFlag) Set(v string) error { *h = append(*h, v); return nil }

func flags(ts *testscript.TestScript, args []string) (*request, []string) {
	q := &request{}
	f := flag.NewFlagSet("call", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&q.as, "as", "", "name of a variable with a token or key")
	f.StringVar(&q.verb, "X", "", "HTTP method")
	f.StringVar(&q.version, "v", "1.0", "A2A-Version, or none")
	f.Var(&q.header, "H", "header")
	f.StringVar(&q.show, "show", "", "further headers to print, comma-separated")
	f.StringVar(&q.certificate, "cert", "", "client certificate to show, FILE of identify")
	f.StringVar(&q.proof, "dpop", "", "key to prove possession of, KEY of token dpop=KEY")
	f.BoolVar(&q.again, "again", false, "send the proof of the call before once more")
	f.BoolVar(&q.raw, "raw", false, "print the body as it came")
	f.IntVar(&q.events, "n", 0, "hang up after so many events")
	f.StringVar(&q.name, "bg", "", "go on in the background, until join NAME")
	if err := f.Parse(args); err != nil {
		ts.Fatalf("%v", err)
	}
	q.background = q.name != ""
	q.as = strings.ToUpper(q.as)
	if q.as != "" && ts.Getenv(q.as) == "" {
		ts.Fatalf("$%s is not set", q.as)
	}
	return q, f.Args()
}

// call makes an HTTP call: call [flags] PATH [FILE]. With a FILE it is a POST
// of it, ${NAME} in it expanded. It prints status, telling headers and body.
func call(ts *testscript.TestScript, args []string) string {
	q, rest := flags(ts, args)
	if len(rest) == 0 || len(rest) > 2 {
		ts.Fatalf("usage: call [flags] PATH [FILE]")
	}
	q.path = rest[0]
	if len(rest) == 2 {
		q.body = expandBraced(ts, readFile(ts, rest[1]))
	}
	return worldOf(ts).client.run(ts, q)
}

// rpc makes a JSON-RPC call: rpc [flags] PATH METHOD [PARAMS].
func rpc(ts *testscript.TestScript, args []string) string {
	q, rest := flags(ts, args)
	if len(rest) < 2 || len(rest) > 3 {
		ts.Fatalf("usage: rpc [flags] PATH METHOD [PARAMS]")
	}
	params := "{}"
	if len(rest) == 3 {
		params = expandBraced(ts, rest[2])
	}
	q.path = rest[0]
	q.body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, rest[1], params)
	return worldOf(ts).client.run(ts, q)
}

// send sends a text as a user's message over JSON-RPC, in the words of the
// version: send [flags] PATH TEXT [MEMBERS], MEMBERS being further members of
// the message such as '"taskId":"${TASK}"'.
func send(ts *testscript.TestScript, args []string) string {
	streams := len(args) > 0 && args[0] == "-stream"
	if streams {
		args = args[1:]
	}
	q, rest := flags(ts, args)
	if len(rest) < 2 || len(rest) > 3 {
		ts.Fatalf("usage: send [-stream] [flags] PATH TEXT [MEMBERS]")
	}
	members := ""
	if len(rest) == 3 {
		members = "," + expandBraced(ts, rest[2])
	}
	form, method := `{"messageId":"m1","role":"ROLE_USER","parts":[{"text":%q}]%s}`, "SendMessage"
	if streams {
		method = "SendStreamingMessage"
	}
	if q.version == "0.3" || q.version == "none" {
		form = `{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":%q}]%s}`
		method = "message/send"
		if streams {
			method = "message/stream"
		}
	}
	q.path = rest[0]
	q.body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":%s}}`,
		method, fmt.Sprintf(form, rest[1], members))
	return worldOf(ts).client.run(ts, q)
}

// cmdJoin waits for a call in the background and prints it: join NAME.
func cmdJoin(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	done := worldOf(ts).joins[args[0]]
	if done == nil {
		ts.Fatalf("join: no call %q", args[0])
	}
	select {
	case out := <-done:
		_, _ = io.WriteString(ts.Stdout(), out)
	case <-time.After(patience):
		ts.Fatalf("join: %s goes on and on", args[0])
	}
}

// run makes the call and prints it, now or for join.
func (c *client) run(ts *testscript.TestScript, q *request) string {
	req := c.build(ts, q)
	if p := c.w.gateway; p != nil && strings.HasPrefix(req.URL.Scheme+"://"+req.URL.Host, p.url) {
		c.w.sent.Add(1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	resp, err := c.transportFor(ts, q).RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		ts.Fatalf("%s %s: %v", req.Method, q.path, err)
	}
	if !q.background {
		defer cancel()
		out, documents := c.print(resp, q)
		c.last, c.status = documents, resp.StatusCode
		return out
	}
	done := make(chan string, 1)
	c.w.joins[q.name] = done
	first := make(chan struct{})
	go func() {
		defer cancel()
		resp.Body = &noticed{ReadCloser: resp.Body, first: first}
		out, _ := c.print(resp, q)
		done <- out
	}()
	<-first // the stream is under way
	return ""
}

// noticed closes first when something has been read.
type noticed struct {
	io.ReadCloser
	first chan struct{}
}

// Read implements io.Reader.
func (n *noticed) Read(p []byte) (int, error) {
	read, err := n.ReadCloser.Read(p)
	if n.first != nil {
		close(n.first)
		n.first = nil
	}
	return read, err
}

func (c *client) build(ts *testscript.TestScript, q *request) *http.Request {
	base, target := ts.Getenv("GW"), q.path
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		u, err := url.Parse(target)
		ts.Check(err)
		base, target = u.Scheme+"://"+u.Host, u.RequestURI()
	}
	u, err := url.Parse(base)
	ts.Check(err)
	u.Opaque = target // as written: how a path is spelled may be what is tested
	verb := q.verb
	if verb == "" {
		verb = http.MethodGet
		if q.body != "" {
			verb = http.MethodPost
		}
	}
	req := &http.Request{Method: verb, URL: u, Host: u.Host, Header: http.Header{"User-Agent": {"script"}}}
	if q.body != "" {
		body := strings.TrimSuffix(q.body, "\n")
		req.Body = io.NopCloser(strings.NewReader(body))
		req.ContentLength = int64(len(body))
		req.Header.Set("Content-Type", "application/json")
	}
	if q.version != "none" {
		req.Header.Set("A2A-Version", q.version)
	}
	if q.as != "" {
		credential(req.Header, ts.Getenv(q.as))
	}
	if q.proof != "" {
		c.prove(ts, req, q)
	}
	given := map[string]bool{}
	for _, line := range q.header {
		setHeader(req, given, line)
	}
	return req
}

// setHeader replaces a header; given twice in one call, it is sent twice.
func setHeader(req *http.Request, given map[string]bool, line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if name == "Host" {
		req.Host = value
		return
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	if !given[name] {
		req.Header.Del(name)
	}
	given[name] = true
	req.Header[name] = append(req.Header[name], value)
}

func credential(h http.Header, secret string) {
	if strings.HasPrefix(secret, "a2a_") {
		h.Set("X-API-Key", secret)
		return
	}
	h.Set("Authorization", "Bearer "+secret)
}

// printing makes a command of one that gives what it would print.
func printing(run func(*testscript.TestScript, []string) string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		noNeg(ts, neg)
		_, _ = io.WriteString(ts.Stdout(), run(ts, args))
	}
}

// until repeats a call until it answers with a status: until STATUS COMMAND
// [args]. What changes a running gateway from outside takes a moment.
func until(ts *testscript.TestScript, args []string) string {
	if len(args) < 3 {
		ts.Fatalf("usage: until STATUS call|rpc|send [args]")
	}
	command := map[string]func(*testscript.TestScript, []string) string{"call": call, "rpc": rpc, "send": send}[args[1]]
	w, out := worldOf(ts), ""
	if !eventually(patience, func() bool {
		out = command(ts, args[2:])
		return strconv.Itoa(w.client.status) == args[0]
	}) {
		ts.Fatalf("the answer stays\n%s", out)
	}
	return out
}
