package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// answers are handlers whose answers clients are to have as net/http gives them, but for
// what is said beside each.
var answers = map[string]http.HandlerFunc{
	"nothing":      func(http.ResponseWriter, *http.Request) {},
	"a status":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
	"no status":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(799) },
	"no content":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent); write(w, "a") },
	"not modified": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified); write(w, "a") },
	"a body":       func(w http.ResponseWriter, _ *http.Request) { write(w, "a body") },
	"HTML":         func(w http.ResponseWriter, _ *http.Request) { write(w, "<html>", "x") },
	"no type": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		write(w, "a body")
	},
	"coded": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		write(w, "a body")
	},
	"no date": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = []string{"yesterday"}
		write(w, "a body")
	},
	"JSON": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		write(w, `{"a":`, `1}`)
	},
	"fields": func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["X-Two"], h["x-lower"], h["X Bad"], h["X-Lines"] = []string{"a", "b"}, []string{"c"}, []string{"d"}, []string{" e\r\nX-F: g\n"}
		w.WriteHeader(http.StatusOK)
		h.Set("X-Late", "h")
	},
	"a length": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "6")
		write(w, "abc", "def")
	},
	"a length of much": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		write(w, strings.Repeat("a", 10), strings.Repeat("b", 99_990))
	},
	"too little": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "6")
		write(w, "abc")
	},
	"too much": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		write(w, "ab", "c")
	},
	"much": func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			write(w, strings.Repeat("0123456789", 700))
		}
	},
	"much at once": func(w http.ResponseWriter, _ *http.Request) { write(w, strings.Repeat("0123456789", 70_000)) },
	"flushed":      func(w http.ResponseWriter, _ *http.Request) { write(w, "a", "", "b", "", "", "c") },
	"flushed first": func(w http.ResponseWriter, _ *http.Request) {
		write(w, "")
	},
	"trailers": func(w http.ResponseWriter, _ *http.Request) {
		write(w, "a", "")
		w.Header().Set(http.TrailerPrefix+"x-sum", "1")
	},
	"closes": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		write(w, "a")
	},
	"informs": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		write(w, "a")
	},
	"twice":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200); write(w, "a") },
	"aborts": func(w http.ResponseWriter, _ *http.Request) { write(w, "a", ""); panic(http.ErrAbortHandler) },
	"panics": func(w http.ResponseWriter, _ *http.Request) { write(w, "a"); panic("expected by the test") },
	"reads it all": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		write(w, string(body), "", r.Method)
	},
}

// write writes the parts; an empty one is a flush.
func write(w http.ResponseWriter, parts ...string) {
	for _, part := range parts {
		if part == "" {
			_ = http.NewResponseController(w).Flush()
			continue
		}
		_, _ = io.WriteString(w, part)
	}
}

// TestAnswers: clients are answered as net/http does it, after each kind of request.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, h := range answers {
		_, ours := start(t, h)
		theirs := byNetHTTP(t)(h)
		for _, verb := range []string{"GET", "HEAD", "POST"} {
			for _, begin := range []string{" / HTTP/1.1\r\nHost: a\r\n", " / HTTP/1.0\r\nHost: a\r\n", " / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n"} {
				if name == "informs" && strings.Contains(begin, "1.0") {
					continue // which has no such answers (RFC 9110 §15.2), whatever net/http sends
				}
				body := ""
				if verb == "POST" {
					begin, body = begin+"Content-Length: 3\r\n", "abc"
				}
				sent := strings.Repeat(verb+begin+"\r\n"+body, 2)
				got, want := told(t, ours, sent, verb, verb), told(t, theirs, sent, verb, verb)
				if strings.HasPrefix(name, "much") || name == "a length of much" || name == "closes" || strings.Contains(begin, "keep-alive") {
					got, want = loosely(got), loosely(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %q:\n got  %q\n want %q", name, sent, got, want)
				}
			}
		}
	}
}

// loosely leaves out how long an answer is said to be and whether its connection lasts:
// here more of an answer is held for its length to be known, so that more of them last.
func loosely(all []string) []string {
	for i, a := range all {
		status, rest, _ := strings.Cut(a, " close ")
		_, rest, _ = strings.Cut(rest, "{")
		rest = strings.NewReplacer(`Connection: ["close"]; `, "", `Connection: ["keep-alive"]; `, "").Replace(rest)
		all[i] = status + contentLength.ReplaceAllString(rest, "")
	}
	return all[:min(1, len(all))]
}

var contentLength = regexp.MustCompile(`Content-Length: \[\S+\]; `)

// TestLength: an answer that was held until its end says how long it is, and its connection
// lasts, on HTTP/1.0 too.
func TestLength(t *testing.T) {
	t.Parallel()
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w, strings.Repeat("a", heldMost)) }))
	for _, sent := range []string{requests[0], "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"} {
		all := told(t, addr, sent+sent)
		if len(all) != 2 || !strings.Contains(all[1], "close false length 8192") {
			t.Errorf("answered %q", all)
		}
	}
}

// TestErrors are those that handlers get.
func TestErrors(t *testing.T) {
	t.Parallel()
	got := make(chan []error, 1)
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		_, long := io.WriteString(w, "abc")
		got <- []error{long, http.NewResponseController(w).EnableFullDuplex()}
	}))
	told(t, addr, requests[0])
	if errs := <-got; errs[0] != http.ErrContentLength || errs[1] != nil {
		t.Errorf("%v", errs)
	}
}

// TestWriteDeadline: a client that does not read ends the write, and the context.
func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	got := make(chan error, 1)
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := w.Write(make([]byte, 64<<20))
		<-r.Context().Done()
		got <- err
	}))
	c := dial(t, addr)
	_, _ = io.WriteString(c, requests[0])
	if err := <-got; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing ends with %v", err)
	}
}

// TestWriteLimit: who reads nothing does not hold the connection for good, whether or not
// the handler has set a deadline, and then none.
func TestWriteLimit(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"short":        func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadRequest) },
		"long":         func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 64<<10)) },
		"without body": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"stream": func(w http.ResponseWriter, _ *http.Request) {
			rc := http.NewResponseController(w)
			_ = rc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			_ = rc.Flush()
			_ = rc.SetWriteDeadline(time.Time{})
		},
		"invited": func(w http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			s := &Server{Handler: h, Log: slog.New(slog.DiscardHandler), Header: patience, Idle: patience, Write: 100 * time.Millisecond}
			addr := listen(t, func(nc net.Conn) {
				_ = nc.(*net.TCPConn).SetWriteBuffer(4 << 10) //nolint:forcetypeassert // it is one
				s.Serve(context.Background(), rules.Conn(nc), nil)
				close(over)
			})
			c := dial(t, addr)
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) //nolint:forcetypeassert // likewise
			request := requests[0]
			if name == "invited" {
				request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\na"
			}
			go func() {
				for all := strings.Repeat(request, 1000); ; {
					if _, err := io.WriteString(c, all); err != nil {
						return
					}
				}
			}()
			select {
			case <-over:
			case <-time.After(patience):
				t.Error("it still writes")
			}
		})
	}
}

// TestLeftReader: who goes on reading a body when its handler has returned ends with the
// connection, and reads nothing of another one.
func TestLeftReader(t *testing.T) {
	t.Parallel()
	begun, over := make(chan bool), make(chan error, 1)
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go func() {
			begun <- true
			_, err := io.ReadAll(r.Body)
			over <- err
		}()
		<-begun
		w.Header().Set("Connection", "close")
	}))
	c := dial(t, addr)
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err == nil {
		t.Error("half of a body was taken for the whole")
	}
}

// TestLeave: the rest of an answer is written by who has taken its connection, and the
// next request is served when that is given back.
func TestLeave(t *testing.T) {
	t.Parallel()
	var s *Server
	s, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := Leave(w); ok {
			t.Error("an answer that has not begun was left")
		}
		write(w, "first", "")
		nc, ahead, ok := Leave(w)
		if !ok {
			return
		}
		if _, err := io.WriteString(w, "too late"); err == nil {
			t.Error("it was written to as before")
		}
		go func() {
			<-r.Context().Done() // the handler has returned
			_, _ = io.WriteString(nc, "4\r\nlast\r\n0\r\n\r\n")
			nc.Unread(ahead)
			s.Serve(context.Background(), nc, nil)
		}()
	}))
	c := dial(t, addr)
	br := bufio.NewReader(c)
	_, _ = io.WriteString(c, requests[0]+requests[0]+"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
	for i, want := range []string{"firstlast", "firstlast", "first"} { // the last has not been read
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(i, err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != want || err != nil {
			t.Errorf("answer %d: %q, %v", i, body, err)
		}
	}
}

// TestShutdown: who has sent a request is answered, and told that the connection ends; who
// has not is hung up on.
func TestShutdown(t *testing.T) {
	t.Parallel()
	entered, answer := make(chan bool), make(chan bool)
	s, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- true
		<-answer
		write(w, "done")
	}))
	quiet, busy := dial(t, addr), dial(t, addr)
	_, _ = io.WriteString(busy, requests[0]+requests[0])
	<-entered
	over := make(chan error, 1)
	go func() { over <- s.Shutdown(context.Background()) }()
	if _, err := quiet.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("who has sent nothing reads %v", err)
	}
	select {
	case err := <-over:
		t.Fatalf("it has not waited: %v", err)
	default:
	}
	ended, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ended); err != context.DeadlineExceeded {
		t.Errorf("a second one says %v", err)
	}
	close(answer)
	br := bufio.NewReader(busy)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || !resp.Close {
		t.Errorf("answered %v, %v", resp, err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// calls are a connection with requests, and who answers them: what a call costs beside what
// its handler does and the sockets take.
func calls() (*loop, http.Handler) {
	c := &loop{request: strings.Replace(requests[18], "Host: a\r\n", "Host: a\r\nAccept: */*\r\nUser-Agent: b\r\nA2A-Version: 1.0\r\n", 1)}
	return c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = r.Body.Read(c.scrap[:])
		w.Header()["Content-Type"] = jsonType
		_, _ = w.Write(c.scrap[:])
	})
}

var jsonType = []string{"application/json"}

// TestAllocations keeps what a call allocates here, its handler's header included: the
// request, its fields and its context.
func TestAllocations(t *testing.T) {
	c, h := calls()
	s := &Server{Handler: h, Header: patience, Idle: patience}
	const most = 1000
	n := testing.AllocsPerRun(1, func() {
		c.left = most
		s.Serve(context.Background(), rules.Conn(c), nil)
	}) / most
	if n > 12 {
		t.Errorf("%.1f allocations for a call", n)
	}
}

func BenchmarkServe(b *testing.B) {
	c, h := calls()
	s := &Server{Handler: h, Header: patience, Idle: patience}
	b.ReportAllocs()
	c.left = b.N
	s.Serve(context.Background(), rules.Conn(c), nil)
}

// BenchmarkNetHTTP is BenchmarkServe by net/http, which has a goroutine read ahead that this
// connection does not let wait.
func BenchmarkNetHTTP(b *testing.B) {
	c, h := calls()
	l := &chosen{conns: make(chan net.Conn, 1), over: make(chan struct{})}
	over := make(chan struct{})
	s := &http.Server{Handler: h, ReadHeaderTimeout: patience, IdleTimeout: patience, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(over)
		}
	}}
	b.ReportAllocs()
	c.left = b.N
	l.conns <- rules.Conn(c)
	go func() { _ = s.Serve(l) }()
	<-over
	_ = s.Close()
}
