package console

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestL07_AbsoluteForm: net/http drops the Host field beside a target in absolute form, so that
// nobody could say that it names another host. Such targets are refused, whatever it says,
// where the same path by itself is answered.
func TestL07_AbsoluteForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	own := w.console.listener.Addr().String()
	for name, tt := range map[string]struct {
		line, host string
		status     int
		holds      string
	}{
		"a path":                {"GET /api/v1/session HTTP/1.1", own, 200, `"role":"admin"`},
		"a path, another host":  {"GET /api/v1/session HTTP/1.1", "other.example", 421, "UNKNOWN_HOST"},
		"another host":          {"GET http://" + own + "/api/v1/session HTTP/1.1", "other.example", 400, "MALFORMED"},
		"another port":          {"GET http://" + own + "/api/v1/session HTTP/1.1", "127.0.0.1:1", 400, "MALFORMED"},
		"an empty host":         {"GET http://" + own + "/api/v1/session HTTP/1.1", "", 400, "MALFORMED"},
		"the same host":         {"GET http://" + own + "/api/v1/session HTTP/1.1", own, 400, "MALFORMED"},
		"HTTP/1.0":              {"GET http://" + own + "/api/v1/session HTTP/1.0", "other.example", 400, "MALFORMED"},
		"https":                 {"GET https://" + own + "/api/v1/session HTTP/1.1", "other.example", 400, "MALFORMED"},
		"of another":            {"GET http://other.example/api/v1/session HTTP/1.1", own, 421, "UNKNOWN_HOST"},
		"a change":              {"POST http://" + own + "/api/v1/logout HTTP/1.1", "other.example", 400, "MALFORMED"},
		"OPTIONS":               {"OPTIONS http://" + own + " HTTP/1.1", "other.example", 400, "MALFORMED"},
		"a page by its path":    {"GET /ui/ HTTP/1.1", own, 200, "<!doctype html>"},
		"a page, another host":  {"GET http://" + own + "/ui/ HTTP/1.1", "other.example", 400, "MALFORMED"},
		"a page, the same host": {"GET http://" + own + "/ui/ HTTP/1.1", own, 400, "MALFORMED"},
		"home, another host":    {"GET http://" + own + "/ HTTP/1.1", "other.example", 400, "MALFORMED"},
	} {
		status, body := w.raw(tt.line + "\r\nHost: " + tt.host + "\r\nAuthorization: Bearer " + testToken + "\r\nConnection: close\r\n\r\n")
		if status != tt.status || !strings.Contains(body, tt.holds) {
			t.Errorf("%s: %d %.200s, want %d %s", name, status, body, tt.status, tt.holds)
		}
	}
}

// raw sends a request as it is written.
func (w *world) raw(head string) (status int, body string) {
	w.t.Helper()
	c, err := net.Dial("tcp", w.console.listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, head); err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}
