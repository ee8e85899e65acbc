package http2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// servingAt starts a server for a handler on plain TCP, where clients begin with HTTP/2 as
// they know it to be, and returns its URL.
func servingAt(t testing.TB, h http.HandlerFunc, set ...func(*Server)) (url string, s *Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = &Server{
		Handler: h, Log: slog.New(slog.DiscardHandler), Head: 16 << 10, Streams: 100,
		Header: 10 * time.Second, Idle: time.Minute, Write: 10 * time.Second, Ping: 30 * time.Second, Pong: 15 * time.Second,
	}
	for _, f := range set {
		f(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.Serve(ctx, nc, nil) })
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		s.Close()
		cancel()
		serving.Wait()
	})
	return "http://" + l.Addr().String(), s
}

// client speaks HTTP/2 without TLS.
func client(t testing.TB) *http.Client {
	t.Helper()
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	url, _ := servingAt(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/empty":
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 300_000))
		case "/short":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "short")
		case "/panic":
			panic(http.ErrAbortHandler)
		case "/trailers":
			w.Header().Set("Content-Type", "application/grpc")
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, "message")
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		case "/echo":
			_, _ = io.Copy(w, r.Body)
		default:
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Proto, r.Host, r.Header.Get("X-Own"))
		}
	})
	c := client(t)
	host := strings.TrimPrefix(url, "http://")
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
		length             int64
	}{
		{"GET", "/", "", 200, "GET HTTP/2.0 " + host + " yes", -2},
		{"POST", "/echo", strings.Repeat("body", 100_000), 200, strings.Repeat("body", 100_000), -1},
		{"POST", "/echo", "small", 200, "small", 5},
		{"GET", "/empty", "", 200, "", 0},
		{"GET", "/none", "", 204, "", 0},
		{"GET", "/long", "", 200, strings.Repeat("x", 300_000), -1},
		{"HEAD", "/long", "", 200, "", 300_000},
		{"GET", "/trailers", "", 200, "message", -1},
	} {
		r, err := http.NewRequest(tt.method, url+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Own", "yes")
		a, err := c.Do(r)
		if err != nil {
			t.Errorf("%s %s: %v", tt.method, tt.path, err)
			continue
		}
		got, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != tt.status || string(got) != tt.want {
			t.Errorf("%s %s: %d, %.60q, %v", tt.method, tt.path, a.StatusCode, got, err)
		}
		if tt.length > -2 && a.ContentLength != tt.length {
			t.Errorf("%s %s: length %d, want %d", tt.method, tt.path, a.ContentLength, tt.length)
		}
		if tt.path == "/trailers" && a.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("trailers %v", a.Trailer)
		}
	}
	for _, path := range []string{"/short", "/panic"} {
		a, err := c.Get(url + path)
		if err == nil {
			_, err = io.ReadAll(a.Body)
			_ = a.Body.Close()
		}
		if err == nil {
			t.Errorf("%s was read to its end", path)
		}
	}
}

// TestManyAtOnce sends bodies of all sizes over few connections at once.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	url, _ := servingAt(t, func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(h, w), r.Body)
		if err != nil {
			t.Errorf("after %d bytes: %v", n, err)
		}
		w.Header().Set(http.TrailerPrefix+"Sum", fmt.Sprintf("%x", h.Sum(nil)))
	})
	c := client(t)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for j := range 8 {
				text := bytes.Repeat([]byte{byte(i), byte(j), 3}, (i*1777+j*11)%90_000)
				a, err := c.Post(url, "application/octet-stream", bytes.NewReader(text))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(a.Body)
				_ = a.Body.Close()
				if err != nil || !bytes.Equal(got, text) || a.Trailer.Get("Sum") != fmt.Sprintf("%x", sha256.Sum256(text)) {
					t.Errorf("%d bytes of %d, sum %q, %v", len(got), len(text), a.Trailer.Get("Sum"), err)
				}
			}
		})
	}
	all.Wait()
}

// TestStreams: events arrive one by one, and the context of a stream that the client leaves ends.
func TestStreams(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	url, _ := servingAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; r.Context().Err() == nil; i++ {
			if _, err := fmt.Fprintf(w, "data: %d\n\n", i); err != nil {
				break
			}
			if http.NewResponseController(w).Flush() != nil {
				break
			}
			if i == 3 {
				<-r.Context().Done()
			}
		}
		close(left)
	})
	a, err := client(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 36)
	if _, err := io.ReadFull(a.Body, buf); err != nil || string(buf) != "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n" {
		t.Fatalf("%q, %v", buf, err)
	}
	_ = a.Body.Close()
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Fatal("the handler has not noticed")
	}
}

// TestShutdown: what is under way is answered, and new connections are made for what comes.
func TestShutdown(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	url, s := servingAt(t, func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-end
		_, _ = io.WriteString(w, "whole")
	})
	answer := make(chan string)
	c := client(t)
	go func() {
		a, err := c.Get(url)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer a.Body.Close()
		text, _ := io.ReadAll(a.Body)
		answer <- string(text)
	}()
	<-begun
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); err == nil {
		t.Error("shut down with a request unfinished")
	}
	close(end)
	if got := <-answer; got != "whole" {
		t.Error(got)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
