package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// repeated is how a long text is written in a file: {8192*a}.
var repeated = regexp.MustCompile(`\{(\d+)\*(.)\}`)

// cmdWire sends a file as it is written and prints all answers until the gateway closes the
// connection, or has sent nothing for a while: wire [sni=NAME] FILE. Lines end with CRLF,
// {N*C} is N times a character. Over TLS the handshake says NAME, or none.
func cmdWire(ts *testscript.TestScript, args []string) string {
	name := ""
	if len(args) == 2 {
		name = strings.TrimPrefix(args[0], "sni=")
		args = args[1:]
	}
	if len(args) != 1 {
		ts.Fatalf("usage: wire [sni=NAME] FILE")
	}
	sent := strings.ReplaceAll(expandBraced(ts, ts.ReadFile(args[0])), "\n", "\r\n")
	sent = repeated.ReplaceAllStringFunc(sent, func(text string) string {
		found := repeated.FindStringSubmatch(text)
		n, _ := strconv.Atoi(found[1]) // digits are a number
		return strings.Repeat(found[2], n)
	})
	conn := wired(ts, name)
	defer conn.Close() // only read from
	ts.Check(conn.SetDeadline(time.Now().Add(patience)))
	go func() { _, _ = io.WriteString(conn, sent) }() // it may refuse before it has been told everything
	return worldOf(ts).steady(answersOn(conn, sent))
}

// wired is a connection to the gateway.
func wired(ts *testscript.TestScript, name string) net.Conn {
	u, err := url.Parse(ts.Getenv("GW"))
	ts.Check(err)
	conn, err := net.Dial("tcp", u.Host)
	ts.Check(err)
	if u.Scheme == "https" {
		return tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	}
	return conn
}

// answersOn prints them, a blank line between two.
func answersOn(conn net.Conn, sent string) string {
	var out bytes.Buffer
	verb, _, _ := strings.Cut(sent, " ")
	for in := bufio.NewReader(conn); ; {
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second)) // else it takes a while longer
		resp, err := http.ReadResponse(in, &http.Request{Method: verb})
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			out.WriteString("(closed)\n")
			return out.String()
		case err != nil:
			return out.String()
		}
		_, _ = fmt.Fprintf(&out, "%d\n", resp.StatusCode)
		for _, name := range []string{"Content-Type", "Allow", "Upgrade"} {
			if v := resp.Header.Get(name); v != "" {
				_, _ = fmt.Fprintf(&out, "%s: %s\n", name, v)
			}
		}
		printBody(&out, resp.Body, false)
		_ = resp.Body.Close()
	}
}
