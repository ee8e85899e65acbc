package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestErrorsDoNotReachTheTerminal: what a server says of itself in an error cannot tell the
// operator's terminal what to do.
func TestErrorsDoNotReachTheTerminal(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = io.WriteString(c, "HTTP/1.1 503 \x1b]0;owned\x07 \u009b2J \x9b \u202egone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			_ = c.Close()
		}
	}()
	config := filepath.Join(t.TempDir(), "config.yaml")
	for _, args := range [][]string{
		{"init", "--card", "http://" + l.Addr().String() + "/card", "--config", config},
		{"card", "show", "http://" + l.Addr().String() + "/card"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, io.Discard, &stderr); code == 0 || !strings.Contains(stderr.String(), "503") && !strings.Contains(stderr.String(), "a status line") {
			t.Errorf("%q: %d %q", args, code, stderr.String())
		}
		obeyed := func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) || r == utf8.RuneError }
		if strings.ContainsFunc(stderr.String(), obeyed) {
			t.Errorf("%q: the terminal is told %q", args, stderr.String())
		}
	}
}
