package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// service answers every method of a gRPC server. The first message has come.
type service func(method, said string, s grpc.ServerStream) error

// grpcAgent starts a gRPC server.
func grpcAgent(t testing.TB, address string, answer service, options ...grpc.ServerOption) (server *grpc.Server, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	server = grpc.NewServer(append(options, grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(s)
		var in wrapperspb.StringValue
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		return answer(method, in.GetValue(), s)
	}))...)
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { server.Stop(); served.Wait() })
	return server, l.Addr().String()
}

// say sends a message to a client.
func say(s grpc.ServerStream, text string) error { return s.SendMsg(wrapperspb.String(text)) }

// framed is a message as gRPC sends it: not compressed, four bytes of length.
func framed(text string) []byte {
	message, _ := proto.Marshal(wrapperspb.String(text))
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...) // short
}

// hear reads the next message of an answer.
func hear(body io.Reader) (string, error) {
	var head [5]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return "", err
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(body, message); err != nil {
		return "", err
	}
	var out wrapperspb.StringValue
	err := proto.Unmarshal(message, &out)
	return out.GetValue(), err
}

// call calls a method as the proxy does, its one message whole.
func call(ctx context.Context, u *Upstream, url, said string, header ...string) (*http.Response, error) {
	body := framed(said)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return nil, err
	}
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(string(body))), int64(len(body))
	r.Header.Set("Content-Type", "application/grpc+proto")
	r.Header.Set("Te", "trailers")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, _, err := u.RoundTrip(r, Hint{})
	return resp, err
}

// answered reads an answer to its end: the messages, and the status that the
// trailers have, or the header of an answer that is nothing else.
func answered(t testing.TB, resp *http.Response) (messages []string, code string) {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	for {
		text, err := hear(resp.Body)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Error(err)
			break
		}
		messages = append(messages, text)
	}
	if code = resp.Trailer.Get("Grpc-Status"); code == "" {
		code = "header " + resp.Header.Get("Grpc-Status")
	}
	return messages, code
}

// echo answers as its method's name says.
func echo(method, said string, s grpc.ServerStream) error {
	s.SetTrailer(metadata.Pairs("x-seen", said))
	switch method {
	case "/test/Stream":
		for i := range 3 {
			if err := say(s, fmt.Sprint(said, i)); err != nil {
				return err
			}
		}
		return nil
	case "/test/Large":
		return say(s, strings.Repeat("x", 3*window))
	case "/test/Fail":
		if err := say(s, said); err != nil {
			return err
		}
		return status.Error(codes.NotFound, "no: "+said)
	case "/test/Refuse":
		return status.Error(codes.FailedPrecondition, "no: "+said)
	}
	return say(s, said)
}

// TestGRPC: answers of a real server, in plaintext and over TLS.
func TestGRPC(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	server := ca.sign(t, x509.Certificate{
		DNSNames: []string{"agent.internal"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}).TLS()
	_, plain := grpcAgent(t, "127.0.0.1:0", echo)
	_, secure := grpcAgent(t, "127.0.0.1:0", echo, grpc.Creds(credentials.NewServerTLSFromCert(&server)))
	tests := []struct {
		method, code, seen string
		want               []string
	}{
		{"Unary", "0", "hello", []string{"hello"}},
		{"Stream", "0", "hello", []string{"hello0", "hello1", "hello2"}},
		{"Fail", "5", "hello", []string{"hello"}},
		{"Large", "0", "hello", []string{strings.Repeat("x", 3*window)}},
		{"Refuse", "header 9", "", nil},
	}
	for _, base := range []string{"http://" + plain, "https://" + secure} {
		u := newUpstream(t, Config{TLS: TLS{CA: ca.file, ServerName: "agent.internal"}})
		for _, tt := range tests {
			resp, err := call(t.Context(), u, base+"/test/"+tt.method, "hello")
			must(t, err)
			got, code := answered(t, resp)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || code != tt.code || resp.Trailer.Get("X-Seen") != tt.seen {
				t.Errorf("%s %s: %d messages, status %s, trailer %v", base, tt.method, len(got), code, resp.Trailer)
			}
			if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
				t.Errorf("%s %s: %s %s", base, tt.method, resp.Proto, resp.Status)
			}
		}
		if n := u.calls.Load(); n != 0 {
			t.Errorf("%d calls in flight after all have ended", n)
		}
	}
}

// TestOnlyGRPCNeedsHTTP2: the same plaintext port is spoken to in HTTP/1.1 about
// anything else, and what the caller says of trailers arrives.
func TestOnlyGRPCNeedsHTTP2(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "HTTP/%d te %s", r.ProtoMajor, r.Header.Get("Te"))
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	u := newUpstream(t, Config{})
	for contentType, want := range map[string]string{
		"application/grpc": "HTTP/2 te trailers", "application/grpc+proto": "HTTP/2 te trailers",
		"Application/GRPC; charset=x": "HTTP/2 te trailers", "application/json": "HTTP/1 te trailers",
		"application/grpc-web": "HTTP/1 te trailers", "": "HTTP/1 te trailers",
	} {
		resp, err := call(t.Context(), u, s.URL, "x", "Content-Type", contentType)
		must(t, err)
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		must(t, resp.Body.Close())
		if string(text) != want {
			t.Errorf("%q: %s", contentType, text)
		}
	}
}

// TestAgentWithoutHTTP2 is an error that says so, and no call in HTTP/1.1.
func TestAgentWithoutHTTP2(t *testing.T) {
	t.Parallel()
	trap := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != "PRI" { // what HTTP/2 begins with, as HTTP/1.1 reads it
			t.Error("the agent was called in HTTP/1.1")
		}
	})
	ca := newAuthority(t, "ca")
	cert := ca.sign(t, x509.Certificate{
		DNSNames: []string{"agent.internal"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}).TLS()
	u := newUpstream(t, Config{TLS: TLS{CA: ca.file, ServerName: "agent.internal"}})
	s := httptest.NewUnstartedServer(trap)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
	s.StartTLS()
	t.Cleanup(s.Close)
	if _, err := call(t.Context(), u, s.URL, "x"); !errors.Is(err, errNotHTTP2) {
		t.Errorf("over TLS: %v", err)
	}
	plain := httptest.NewUnstartedServer(trap)
	plain.Config.ErrorLog = nil
	plain.Start()
	t.Cleanup(plain.Close)
	if _, err := call(t.Context(), u, plain.URL, "x"); err == nil {
		t.Error("in plaintext: an answer")
	}
	if n := u.calls.Load(); n != 0 {
		t.Errorf("%d calls in flight", n)
	}
}

// TestGRPCAgentDies: a stream that is cut off is not one that has ended.
func TestGRPCAgentDies(t *testing.T) {
	t.Parallel()
	server, address := grpcAgent(t, "127.0.0.1:0", func(_, said string, s grpc.ServerStream) error {
		if err := say(s, said); err != nil {
			return err
		}
		<-s.Context().Done()
		return s.Context().Err()
	})
	resp, err := call(t.Context(), newUpstream(t, Config{}), "http://"+address+"/test/Stream", "hello")
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	if text, err := hear(resp.Body); err != nil || text != "hello" {
		t.Fatalf("%q, %v", text, err)
	}
	server.Stop()
	if _, err := hear(resp.Body); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a stream that was cut off: %v", err)
	}
	if len(resp.Trailer) != 0 {
		t.Errorf("trailers from nowhere: %v", resp.Trailer)
	}
}

// TestGRPCDeadlines: the agent keeps to the time it was given, and learns that
// nobody waits any longer, before an answer and in the middle of one.
func TestGRPCDeadlines(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	reached := make(chan struct{}, 1)
	_, address := grpcAgent(t, "127.0.0.1:0", func(method, said string, s grpc.ServerStream) error {
		if method == "/test/Stream" {
			if err := say(s, said); err != nil {
				return err
			}
		}
		reached <- struct{}{}
		<-s.Context().Done()
		ended <- s.Context().Err()
		return status.FromContextError(s.Context().Err()).Err()
	})
	u := newUpstream(t, Config{})
	// A server of grpc-go may say so by a status, or cut the stream off.
	resp, err := call(t.Context(), u, "http://"+address+"/test/Unary", "x", "Grpc-Timeout", "20m")
	if err == nil {
		_, code := answered(t, resp)
		err = fmt.Errorf("status %s", code)
	}
	if is := err.Error(); is != "status header 4" && !strings.Contains(is, "CANCEL; received from peer") {
		t.Errorf("after the time that the agent was given: %s", is)
	}
	<-reached
	<-ended

	ctx, leave := context.WithCancel(t.Context())
	go func() { <-reached; leave() }()
	if _, err := call(ctx, u, "http://"+address+"/test/Unary", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("before an answer: %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the agent learned: %v", err)
	}

	ctx, leave = context.WithCancel(t.Context())
	resp, err = call(ctx, u, "http://"+address+"/test/Stream", "x")
	must(t, err)
	<-reached
	leave()
	_, err = io.ReadAll(resp.Body)
	if !errors.Is(err, context.Canceled) || !errors.Is(<-ended, context.Canceled) {
		t.Errorf("in the middle: %v", err)
	}
	must(t, resp.Body.Close())
}

// TestGRPCGoAway: an agent that shuts down gracefully finishes what it has
// begun, and every call after that finds its successor.
func TestGRPCGoAway(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	answer := func(name string) service {
		return func(method, _ string, s grpc.ServerStream) error {
			if method == "/test/Stream" {
				if err := say(s, name); err != nil {
					return err
				}
				<-release
			}
			return say(s, name)
		}
	}
	first, address := grpcAgent(t, "127.0.0.1:0", answer("first"))
	u := newUpstream(t, Config{})
	stream, err := call(t.Context(), u, "http://"+address+"/test/Stream", "x")
	must(t, err)
	if text, err := hear(stream.Body); err != nil || text != "first" {
		t.Fatalf("%q, %v", text, err)
	}
	var stopped sync.WaitGroup
	stopped.Go(first.GracefulStop)
	for again := true; again; { // until it listens no longer
		c, err := net.Dial("tcp", address)
		if again = err == nil; again {
			_ = c.Close()
		}
	}
	grpcAgent(t, address, answer("second"))
	for who := ""; who != "second"; {
		resp, err := call(t.Context(), u, "http://"+address+"/test/Unary", "x")
		must(t, err)
		got, code := answered(t, resp)
		if len(got) != 1 || code != "0" {
			t.Fatalf("a call after GOAWAY: %v, status %s", got, code)
		}
		who = got[0]
	}
	close(release)
	if got, code := answered(t, stream); fmt.Sprint(got) != "[first]" || code != "0" {
		t.Errorf("the stream ended with %v, status %s", got, code)
	}
	stopped.Wait()
}

// TestGRPCStreamsAtOnce: as many as the limit permits are open together, more
// than the agent takes on one connection, and one more is refused.
func TestGRPCStreamsAtOnce(t *testing.T) {
	t.Parallel()
	const streams = 250
	var open atomic.Int64
	full, release := make(chan struct{}), make(chan struct{})
	_, address := grpcAgent(t, "127.0.0.1:0", func(_, said string, s grpc.ServerStream) error {
		if err := say(s, said); err != nil {
			return err
		}
		if open.Add(1) == streams {
			close(full)
		}
		select {
		case <-release:
			return say(s, said)
		case <-s.Context().Done():
			return s.Context().Err()
		}
	}, grpc.MaxConcurrentStreams(100))
	u := newUpstream(t, Config{Connections: streams})
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			resp, err := call(ctx, u, "http://"+address+"/test/Stream", fmt.Sprint(i))
			if err != nil {
				t.Error(err)
				giveUp()
				return
			}
			if got, code := answered(t, resp); fmt.Sprint(got) != fmt.Sprintf("[%d %d]", i, i) || code != "0" {
				t.Errorf("stream %d: %v, status %s", i, got, code)
			}
		})
	}
	select {
	case <-full:
	case <-ctx.Done():
	}
	for _, contentType := range []string{"application/grpc", "application/json"} {
		if _, err := call(ctx, u, "http://"+address, "x", "Content-Type", contentType); !errors.Is(err, ErrBusy) {
			t.Errorf("one more, %s: %v", contentType, err)
		}
	}
	close(release)
	all.Wait()
	if n := u.calls.Load(); n != 0 {
		t.Errorf("%d calls in flight after all have ended", n)
	}
}

// TestCloseDropsBoth: no connection is left idle, of either kind.
func TestCloseDropsBoth(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 2)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	u := newUpstream(t, Config{})
	for _, contentType := range []string{"application/grpc", "application/json"} {
		resp, err := call(t.Context(), u, s.URL, "x", "Content-Type", contentType)
		must(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		must(t, resp.Body.Close())
	}
	u.Close()
	<-closed
	<-closed
}
