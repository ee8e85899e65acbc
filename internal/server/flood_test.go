package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// abuse is how many frames a client may send that serve nobody.
const abuse = 1000

// attacker is a client that counts the frames it has sent.
type attacker struct {
	*http2.Framer
	conn   net.Conn
	sent   int
	stream uint32 // the last one that was opened
	buf    bytes.Buffer
	fields *hpack.Encoder
	ended  chan http2.ErrCode // the last word of the server, when the connection has ended
}

// Write is where every frame passes.
func (a *attacker) Write(p []byte) (int, error) {
	a.sent++
	return a.conn.Write(p)
}

// attack opens a connection, on whose other side nothing is read yet.
func attack(t *testing.T, s *Server) *attacker {
	t.Helper()
	a := &attacker{ended: make(chan http2.ErrCode, 1)}
	a.conn = dial(t, s)
	if s.scheme() == "https" {
		a.conn = tls.Client(a.conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	}
	_, err := io.WriteString(a.conn, http2.ClientPreface)
	must(t, err)
	a.Framer = http2.NewFramer(a, a.conn)
	a.AllowIllegalWrites = true
	a.fields = hpack.NewEncoder(&a.buf)
	must(t, a.WriteSettings())
	return a
}

// read hears the server out. It is for a goroutine of its own.
func (a *attacker) read() {
	last := http2.ErrCode(1<<32 - 1)
	for {
		f, err := a.ReadFrame()
		switch f, away := f.(*http2.GoAwayFrame); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err != nil:
			a.ended <- last
			return
		case away:
			last = f.ErrCode
			_ = a.conn.Close() // as clients do
		}
	}
}

// flood goes on with its rounds until the connection ends or it has sent all it may.
func (a *attacker) flood(round func(a *attacker, i int)) (http2.ErrCode, bool) {
	go a.read()
	defer func() { _ = a.conn.Close() }()
	for i := 0; a.sent < abuse; i++ {
		round(a, i)
		if len(a.ended) > 0 {
			break
		}
		switch {
		case a.sent > abuse*9/10:
			time.Sleep(20 * time.Millisecond) // resets count once they are sent: a busy machine sends them late
		case i%20 == 19:
			time.Sleep(time.Millisecond) // for the server to answer
		}
	}
	select {
	case last := <-a.ended:
		return last, true
	case <-time.After(patience):
		return 0, false
	}
}

// longStream is how many events there are of /events.
const longStream = 10_000

// answer is the same for everybody, not to be counted for each.
var answer = make([]byte, 1<<20)

// various answers by path.
func various(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/wait":
		<-r.Context().Done()
	case "/body":
		_, _ = io.Copy(io.Discard, r.Body)
	case "/big":
		_, _ = w.Write(answer)
	case "/small":
		_, _ = w.Write(answer[:600])
	case "/abandoned":
		_, _ = w.Write(answer[:600])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "/events":
		for range longStream {
			_, _ = w.Write(answer[:100])
			_ = http.NewResponseController(w).Flush()
		}
	case "/panic":
		panic("a handler's")
	case "/abort":
		_, _ = w.Write([]byte("half"))
		panic(http.ErrAbortHandler)
	}
}

// bothWays are the ways to speak HTTP/2 with a server.
func bothWays(t *testing.T, prepare func(*Config), more ...func(*Server)) map[string]*Server {
	t.Helper()
	servers := map[string]Config{"TLS": secured(identity(t, t.TempDir(), "localhost")), "plaintext": plaintext()}
	started := map[string]*Server{}
	for name, cfg := range servers {
		if prepare != nil {
			prepare(&cfg)
		}
		started[name] = start(t, cfg, http.HandlerFunc(various), more...)
	}
	return started
}

// overHTTP2 is a client that calls over HTTP/2.
func overHTTP2(s *Server) *http.Client {
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, Protocols: new(http.Protocols)}
	tr.Protocols.SetHTTP2(true)
	tr.Protocols.SetUnencryptedHTTP2(s.scheme() == "http")
	return &http.Client{Transport: tr, Timeout: patience}
}

// overHTTP1 is a client that does not.
func overHTTP1(s *Server) *http.Client {
	c := overHTTP2(s)
	tr, _ := c.Transport.(*http.Transport)
	tr.Protocols = new(http.Protocols)
	tr.Protocols.SetHTTP1(true)
	return c
}

// memory is what has been taken for heap and stacks and is in use.
func memory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// TestL20_Floods has every attack at once: each ends within its frames, in memory that
// stays what it was, while somebody else's calls go on. It is not parallel to others,
// whose memory is not to be counted.
func TestL20_Floods(t *testing.T) {
	const most = 64 << 20 // of 80 connections with streams on most of them
	attacks := maps.Clone(floods)
	for name, round := range resets {
		attacks["made to reset: "+name] = round
	}
	var flooded atomic.Int64
	servers := bothWays(t, nil, func(s *Server) { s.Flooded = func(string) { flooded.Add(1) } })
	runtime.GC()
	before := memory()
	var under sync.WaitGroup
	for way, s := range servers {
		for name, round := range attacks {
			a := attack(t, s)
			under.Go(func() {
				last, ended := a.flood(round)
				if !ended {
					t.Errorf("%s: %s: after %d frames the connection is still open", way, name, a.sent)
				}
				t.Logf("%-9s %-44s %4d frames, %v", way, name, a.sent, last)
			})
		}
	}
	attacked, peak := make(chan struct{}), before
	go func() { under.Wait(); close(attacked) }()
	honest := overHTTP2(servers["TLS"])
	defer honest.CloseIdleConnections()
	calls := 0
	for over := false; !over || calls == 0; calls++ {
		get200(t, honest, servers["TLS"].URL()+"/")
		peak = max(peak, memory())
		select {
		case <-attacked:
			over = true
		default:
		}
	}
	if peak-before > most {
		t.Errorf("memory grew by %d MiB", (peak-before)>>20)
	}
	if flooded.Load() == 0 {
		t.Error("no flood was told of")
	}
	t.Logf("%d floods, %d calls beside them, memory grew by %d MiB", flooded.Load(), calls, (peak-before)>>20)
}

func get200(t *testing.T, c *http.Client, url string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Fatalf("%s, status %d, %v", resp.Proto, resp.StatusCode, err)
	}
}

// TestL20_SlowReaders: who asks for much, with windows as large as can be, and reads none
// of it, is given up, and holds little until then.
func TestL20_SlowReaders(t *testing.T) {
	testenv.Long(t, "clients take their time")
	slow := func(c *Config) {
		c.Timeouts.Write = quantity.Duration(300 * time.Millisecond)
		// On a busy machine the time of each answer may be over before the socket has had as much as it
		// takes: answers are given up then, and the connection is one on which nothing happens.
		c.Timeouts.Idle = quantity.Duration(2 * time.Second)
	}
	for way, s := range bothWays(t, slow) {
		before := memory()
		a := attack(t, s)
		must(t, a.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}))
		must(t, a.WriteWindowUpdate(0, 1<<31-1-65535))
		for range 100 {
			a.open("GET", "/big")
		}
		eventually(t, way+": the connection is given up", func() bool {
			if grew := memory() - before; grew > 64<<20 {
				t.Fatalf("%s: memory grew by %d MiB", way, grew>>20)
			}
			return s.listener.open() == 0
		})
	}
}
