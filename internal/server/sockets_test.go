//go:build unix

package server

import (
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

func TestParseActivation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		count, names string
		want         string // names in the order of descriptors, or the error's beginning
	}{
		{"1", "", "public"},
		{"1", "a2a-gateway.socket", "public"},
		{"1", "status", "public"}, // it is the only one: what else should it be for
		{"2", "public:status", "public status"},
		{"2", "status:public", "status public"},
		{"2", "status", "status public"},
		{"2", "", "LISTEN_FDNAMES"},
		{"2", "status:status", "LISTEN_FDNAMES"},
		{"", "", "LISTEN_FDS"},
		{"-1", "", "LISTEN_FDS"},
		{"65", "", "LISTEN_FDS"},
		{"0", "", ""},
	} {
		all, err := parseActivation(tt.count, tt.names)
		var got []string
		for i, g := range all {
			got = append(got, g.name)
			if g.descriptor != firstDescriptor+i || g.address != "" {
				t.Errorf("%s %q: socket %d is %+v", tt.count, tt.names, i, g)
			}
		}
		if err != nil {
			got = []string{before(err.Error())}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.count, tt.names, s, tt.want)
		}
	}
}

// before is the key that an error names.
func before(text string) string {
	key, _, _ := strings.Cut(text, ":")
	return key
}

func FuzzParseHanded(f *testing.F) {
	f.Add("public 7 :8080\nstatus 8 127.0.0.1:9902")
	f.Add("public 7 ")
	f.Add("public 2 :8080")
	f.Fuzz(func(t *testing.T, lines string) {
		all, err := parseHanded(lines)
		if err != nil {
			return
		}
		for _, g := range all {
			if g.descriptor < firstDescriptor {
				t.Errorf("%q: standard streams are no sockets: %+v", lines, g)
			}
		}
	})
}

// inherit has the environment say what Hand has returned.
func inherit(t *testing.T, from *Sockets) *Sockets {
	t.Helper()
	env, err := from.Hand()
	if err != nil {
		t.Fatal(err)
	}
	key, value, _ := strings.Cut(env, "=")
	t.Setenv(key, value)
	next, err := Inherited()
	if err != nil {
		t.Fatal(err)
	}
	if value, there := os.LookupEnv(key); there {
		t.Errorf("%s is still %q", key, value)
	}
	return next
}

// TestSocketsAreHandedOver: a connection that comes between two servers is answered by
// the second one, on the same port.
func TestSocketsAreHandedOver(t *testing.T) {
	old := new(Sockets)
	first := start(t, plaintext(), empty(), func(s *Server) { s.Sockets = old })
	address := first.Addr().String()
	next := inherit(t, old)
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("between the two: %v", err)
	}
	defer waiting.Close()
	second := start(t, plaintext(), empty(), func(s *Server) { s.Sockets = next })
	if got := second.Addr().String(); got != address {
		t.Errorf("the second one listens at %s, not %s", got, address)
	}
	_, _ = io.WriteString(waiting, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if got := ended(t, waiting); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("answer %q", got)
	}
}

// TestSocketsForAnotherAddress: a configuration that has changed its address gets it.
func TestSocketsForAnotherAddress(t *testing.T) {
	old := new(Sockets)
	l, err := old.Listen(PublicSocket, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	next := inherit(t, old)
	other, err := next.Listen(PublicSocket, "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Addr().String() == l.Addr().String() {
		t.Error("the socket of another address was taken")
	}
}

// TestSocketsNobodyWants are closed: who connects is refused, and does not wait.
func TestSocketsNobodyWants(t *testing.T) {
	old := new(Sockets)
	l, err := old.Listen(StatusSocket, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	next := inherit(t, old)
	_ = l.Close()
	next.CloseRest()
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("a connection was taken")
	}
}

func TestSocketsOfAnotherProcess(t *testing.T) {
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()+1))
	t.Setenv("LISTEN_FDS", "1")
	s, err := Inherited()
	if err != nil || len(s.given) != 0 {
		t.Errorf("took %+v, error %v", s.given, err)
	}
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	t.Setenv("LISTEN_FDS", "1")
	s, err = Inherited()
	if err != nil || len(s.given) != 1 {
		t.Errorf("took %+v, error %v", s.given, err)
	}
	for _, key := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", handed} {
		if _, there := os.LookupEnv(key); there {
			t.Errorf("%s is still there", key)
		}
	}
}

// TestR02_Retire: what is asked while the server retires is answered on connections old
// and new, and each of them is closed with its answer.
func TestR02_Retire(t *testing.T) {
	t.Parallel()
	const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	cfg := plaintext()
	s := start(t, cfg, empty())
	kept := dial(t, s)
	_, _ = io.WriteString(kept, request)
	buf := make([]byte, 1<<10)
	n, err := kept.Read(buf)
	if err != nil || strings.Contains(string(buf[:n]), "Connection: close") {
		t.Fatalf("answer %q, error %v", buf[:n], err)
	}
	s.Retire()
	fresh := dial(t, s)
	for _, c := range []net.Conn{kept, fresh} {
		_, _ = io.WriteString(c, request)
		if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.Contains(got, "Connection: close\r\n") {
			t.Errorf("answer %q", got)
		}
	}
	h2 := dialH2(t, s)
	status := h2.status(t, true, h2Get("/")...)
	for status == -1 { // the GOAWAY, which may come first, and others between
		frame, err := h2.framer.ReadFrame()
		if err != nil {
			break
		}
		if f, ok := frame.(*http2.MetaHeadersFrame); ok {
			status, _ = strconv.Atoi(f.PseudoValue("status"))
		}
	}
	if status != http.StatusOK {
		t.Errorf("HTTP/2: status %d", status)
	}
	ended(t, h2.Conn)
	eventually(t, "nobody is connected", func() bool { return s.Connections() == 0 })
}

// TestR02_FirstRequestComesLate: who has connected before the server stops accepting is
// answered, although the request comes later.
func TestR02_FirstRequestComesLate(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := start(t, plaintext(), empty())
		c := dial(t, s)
		eventually(t, "one connection", func() bool { return s.fresh.Load() == 1 })
		done := make(chan error, 1)
		go func() { done <- s.Shutdown(t.Context()) }()
		<-s.Draining()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("answer %q", got)
		}
		if err := <-done; err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}
}

// TestShutdownAfterTheDoorIsClosed: that net/http closes the listener too is no error of
// Shutdown's.
func TestShutdownAfterTheDoorIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t, plaintext(), empty())
	s.closeDoor(t.Context())
	if err := s.listener.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}
