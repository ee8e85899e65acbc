package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// moody answers requests with their own bodies, in ways that change: framed one way or
// another, with more behind it, twice, and closing the connection before, between and
// after, saying so or not.
func moody(c net.Conn, in *bufio.Reader) {
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		all, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		said := string(all)
		answer := answerOf(said)
		switch n := rand.IntN(24); n {
		case 0:
			return
		case 1:
			_, _ = io.WriteString(c, answer[:rand.IntN(len(answer))])
			return
		case 2:
			answer += answerOf("stray")
		case 3:
			answer += "\r\n"
		case 4:
			_, _ = io.WriteString(c, ok+"Connection: close\r\n\r\n"+said)
			return
		case 5:
			answer = strings.Replace(answer, "\r\n", "\r\nConnection: close\r\n", 1)
		case 6, 7, 8, 9:
			half := len(said) / 2
			answer = ok + "Transfer-Encoding: chunked\r\n\r\n"
			for _, part := range []string{said[:half], said[half:]} {
				if part != "" {
					answer += strconv.FormatInt(int64(len(part)), 16) + "\r\n" + part + "\r\n"
				}
			}
			answer += "0\r\n\r\n"
		case 10, 11:
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		case 12:
			answer = "HTTP/1.1 100 Continue\r\n\r\n" + answer
		case 13:
			half := rand.IntN(len(answer))
			_, _ = io.WriteString(c, answer[:half])
			runtime.Gosched()
			answer = answer[half:]
		}
		_, _ = io.WriteString(c, answer)
		if rand.IntN(20) == 0 {
			if rand.IntN(2) == 0 {
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			}
			return // without having said so
		}
	}
}

// TestL19_NobodyElsesAnswer: many callers, of whom some leave, share connections to an
// agent that does everything wrong. Whoever gets a whole answer gets their own. When all
// is over nothing is left: no goroutine, which TestMain checks, and no descriptor.
func TestL19_NobodyElsesAnswer(t *testing.T) {
	var dials, whole, failed atomic.Int64
	p := newTestPool(t, &dials)
	url := rawAgent(t, moody)
	before := descriptors(t) // the listener's and the poller's among them
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for j := range 300 {
				said := strings.Repeat(strconv.Itoa(i)+"-"+strconv.Itoa(j)+" ", 1+rand.IntN(200)*rand.IntN(2))
				if rand.IntN(50) == 0 {
					said = strings.Repeat(said, 1+2*direct/len(said))
				}
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(4) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(1000))*time.Microsecond, cancel)
				}
				switch _, heard, err := send(ctx, p, "POST", url, said); {
				case err != nil:
					failed.Add(1)
				case heard == said:
					whole.Add(1)
				default:
					t.Errorf("%.20q has got %.20q", said, heard)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	if w, f := whole.Load(), failed.Load(); w < f || dials.Load() > w {
		t.Errorf("%d whole, %d failed, over %d connections", w, f, dials.Load())
	}
	p.CloseIdleConnections()
	eventually(t, "descriptors as before", func() bool { return descriptors(t) <= before })
}

// TestA22_ConnectionsThatClose: an agent closes connections at the very moment at which
// they are used again. No request gets there twice, and of one that is said not to have
// been sent nothing gets there.
func TestA22_ConnectionsThatClose(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	url := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			all, _ := io.ReadAll(r.Body)
			mu.Lock()
			seen[string(all)]++
			mu.Unlock()
			_, _ = io.WriteString(c, answerOf(string(all)))
			if rand.IntN(3) == 0 {
				for end := time.Now().Add(time.Duration(rand.IntN(100)) * time.Microsecond); time.Now().Before(end); {
					runtime.Gosched()
				}
				return
			}
		}
	})
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	fate := map[string]error{}
	for n := range 3000 {
		said := strconv.Itoa(n)
		_, heard, err := send(t.Context(), p, "POST", url, said)
		if fate[said] = err; err == nil && heard != said {
			t.Fatalf("%q has got %q", said, heard)
		}
		for range rand.IntN(100) {
			runtime.Gosched()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for said, err := range fate {
		switch n := seen[said]; {
		case n > 1:
			t.Errorf("%s has got there %d times", said, n)
		case errors.Is(err, ErrNotSent) && n > 0:
			t.Errorf("%s has got there, and was said not to have been sent", said)
		case err == nil && n != 1:
			t.Errorf("%s was answered and has got there %d times", said, n)
		}
	}
}

// TestNotSent: where nothing can be written, that is said, and the request goes out on a
// new connection if there is one.
func TestNotSent(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	dial := p.Dial
	var breaks atomic.Int64
	p.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &unwritable{Conn: c, breaks: &breaks}, err
	}
	url := rawAgent(t, always(answerOf("x")))
	for _, tt := range []struct {
		breaks, dials int64
		fails         bool
	}{{0, 1, false}, {1, 2, false}, {2, 3, true}, {1, 4, true}, {0, 5, false}} {
		breaks.Store(tt.breaks)
		_, text, err := send(t.Context(), p, "POST", url, "x")
		if errors.Is(err, ErrNotSent) != tt.fails || !tt.fails && text != "x" || dials.Load() != tt.dials {
			t.Errorf("%d broken: %q, %v after %d connections", tt.breaks, text, err, dials.Load())
		}
	}
}

// unwritable is a connection on which nothing can be written while breaks counts down.
type unwritable struct {
	net.Conn
	breaks *atomic.Int64
}

func (u *unwritable) Write(b []byte) (int, error) {
	if u.breaks.Load() > 0 {
		u.breaks.Add(-1)
		return 0, io.ErrClosedPipe
	}
	return u.Conn.Write(b)
}

func (u *unwritable) SyscallConn() (syscall.RawConn, error) {
	return u.Conn.(*net.TCPConn).SyscallConn()
}

// TestReadsAreRepeated: once, on a new connection, when the agent has closed the one that
// was idle without a word; and nothing else is.
func TestReadsAreRepeated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		verb, body, second string
		want               int64
		fails              bool
	}{
		{"GET", "", "", 3, false}, {"HEAD", "", "", 3, false}, {"POST", "x", "", 2, true}, {"POST", "", "", 2, true},
		{"PUT", "", "", 2, true}, {"DELETE", "", "", 2, true}, {"GET", "x", "", 2, true}, {"GET", "", "HTTP", 2, true},
		{"GET", "", ok, 2, true},
	} {
		var conns, requests atomic.Int64
		url := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
			first := conns.Add(1) == 1
			for n := 1; ; n++ {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if requests.Add(1); first && n == 2 {
					_, _ = io.WriteString(c, tt.second)
					return
				}
				_, _ = io.WriteString(c, ok+"Content-Length: 0\r\n\r\n")
			}
		})
		var dials atomic.Int64
		p := newTestPool(t, &dials)
		_, _, err := send(t.Context(), p, tt.verb, url, tt.body)
		must(t, err)
		_, _, err = send(t.Context(), p, tt.verb, url, tt.body)
		if (err != nil) != tt.fails || requests.Load() != tt.want {
			t.Errorf("%s %q %q: %v after %d requests", tt.verb, tt.body, tt.second, err, requests.Load())
		}
	}
}
