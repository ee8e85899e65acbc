package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
)

// telling are the headers that are printed whenever they are there.
func telling() []string {
	return []string{"Content-Type", "Www-Authenticate", "Retry-After", "Allow", "Location", "A2a-Extensions", "X-A2a-Extensions"}
}

func (c *client) print(resp *http.Response, q *request) (string, [][]byte) {
	defer resp.Body.Close() // only read from
	var out bytes.Buffer
	_, _ = fmt.Fprintf(&out, "%d\n", resp.StatusCode)
	names := telling()
	if q.show != "" {
		names = append(names, strings.Split(q.show, ",")...)
	}
	for _, name := range names {
		for _, v := range resp.Header[textproto.CanonicalMIMEHeaderKey(name)] {
			_, _ = fmt.Fprintf(&out, "%s: %s\n", name, v)
		}
	}
	if tag := resp.Header.Get("Etag"); tag != "" {
		c.tag = tag
	}
	var documents [][]byte
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		documents = printEvents(&out, resp.Body, q)
		if !q.background { // which is read while others are made
			c.event = lastID(out.String(), c.event)
		}
	} else {
		documents = printBody(&out, resp.Body, q.raw)
	}
	return c.w.steady(out.String()), documents
}

// lastID is the id of the last event that has one, else the one of before.
func lastID(printed, id string) string {
	for line := range strings.Lines(printed) {
		if found, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(found)
		}
	}
	return id
}

func printBody(out *bytes.Buffer, r io.Reader, raw bool) [][]byte {
	body, err := io.ReadAll(r)
	if len(body) > 0 {
		out.WriteByte('\n')
	}
	v := jsontext.Value(slices.Clone(body))
	if !raw && v.Indent(jsontext.WithIndent("  ")) == nil {
		out.Write(v)
	} else {
		out.Write(body)
	}
	if b := out.Bytes(); b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	if err != nil {
		out.WriteString("(connection lost)\n")
	}
	return [][]byte{body}
}

// printEvents prints frames as they come. How many heartbeats there are depends on time:
// they are left out, or printed once for several, unless a strict parser takes one for
// an event.
func printEvents(out *bytes.Buffer, r io.Reader, q *request) [][]byte {
	var documents [][]byte
	var frame []string
	strict := &ssetest.Parser{Got: func(e ssetest.Event) {
		if !e.IsDocument() {
			_, _ = fmt.Fprintf(out, "\n(a strict parser has the event %+v)\n", e)
		}
	}}
	in := bufio.NewScanner(io.TeeReader(r, strict))
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		line := in.Text()
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			documents = append(documents, []byte(data))
		}
		if line != "" {
			if !strings.HasPrefix(line, ":") || q.raw && !slices.Contains(frame, line) {
				frame = append(frame, line)
			}
			continue
		}
		if len(frame) > 0 {
			_, _ = fmt.Fprintf(out, "\n%s\n", strings.Join(frame, "\n"))
		}
		frame = nil
		if q.events > 0 && len(documents) == q.events { // enough
			out.WriteString("\n(hung up)\n")
			return documents
		}
	}
	if in.Err() != nil {
		out.WriteString("\n(connection lost)\n")
	}
	return documents
}

// cmdCapture takes a value out of the last answer: capture NAME PATH, PATH being
// member names and indexes with dots. In a stream, the first event that has it
// counts. The value is in $NAME and is shown as such from now on. The PATH etag
// is the answer's ETag, and event the id of the last event.
var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATH")
	}
	w := worldOf(ts)
	switch args[1] {
	case "etag":
		w.name(ts, args[0], w.client.tag)
		return
	case "event":
		w.name(ts, args[0], w.client.event)
		return
	case "digest":
		all := digests.FindAllString(ts.ReadFile("stdout"), -1)
		if all == nil {
			ts.Fatalf("capture: no digest was printed")
		}
		w.name(ts, args[0], all[len(all)-1])
		return
	}
	for _, document := range w.client.last {
		if value, ok := pick(document, strings.Split(args[1], ".")); ok {
			w.name(ts, args[0], value)
			return
		}
	}
	ts.Fatalf("capture: the last answer has no %s", args[1])
}

func pick(document []byte, path []string) (string, bool) {
	var v any
	if json.Unmarshal(document, &v) != nil {
		return "", false
	}
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at) {
				return "", false
			}
			v = at[i]
		default:
			return "", false
		}
	}
	s, ok := v.(string)
	return s, ok
}

// cmdHandshake does a TLS handshake with the gateway and prints the version and
// the name in the certificate: handshake [MAXIMUM-VERSION] [cert=FILE] [NAME]. With a NAME
// it waits until the certificate has it. With cert=FILE it shows a client certificate
// and waits for the gateway's opinion of it.
func cmdHandshake(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	u, err := url.Parse(ts.Getenv("GW"))
	ts.Check(err)
	config := w.client.transport.TLSClientConfig.Clone()
	config.ServerName = "localhost"
	var awaited string
	for _, a := range args {
		if file, ok := strings.CutPrefix(a, "cert="); ok {
			shows(ts, config, file)
		} else if a == "1.2" {
			config.MaxVersion = tls.VersionTLS12
		} else {
			awaited = a
		}
	}
	var state tls.ConnectionState
	ok := eventually(patience, func() bool {
		var conn *tls.Conn
		if conn, err = tls.Dial("tcp", u.Host, config); err != nil {
			return true
		}
		defer conn.Close() // nothing was sent
		if config.GetClientCertificate != nil {
			// In TLS 1.3 a client is done before it is judged.
			if err = judged(conn); err != nil {
				return true
			}
		}
		state = conn.ConnectionState()
		return awaited == "" || state.PeerCertificates[0].Subject.CommonName == awaited
	})
	if neg {
		if err == nil {
			ts.Fatalf("the handshake worked")
		}
		_, _ = fmt.Fprintln(ts.Stderr(), w.steady(err.Error()))
		return
	}
	ts.Check(err)
	if !ok {
		ts.Fatalf("the certificate stays that of %q", state.PeerCertificates[0].Subject.CommonName)
	}
	_, _ = fmt.Fprintf(ts.Stdout(), "%s %s\n", tls.VersionName(state.Version), state.PeerCertificates[0].Subject.CommonName)
}

// judged sends a request, and reports whether anything comes back.
func judged(conn net.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	_, err := conn.Read(make([]byte, 1))
	return err
}

// cmdKey reads a credential from a file: key NAME FILE. It sets $NAME.
func cmdKey(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	worldOf(ts).name(ts, args[0], strings.TrimSpace(readFile(ts, args[1])))
}
