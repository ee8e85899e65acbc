//go:build linux

package netpoll

import (
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair is a connection, from its two ends.
func pair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	in, err := l.Accept()
	must(t, err)
	t.Cleanup(func() { _, _ = out.Close(), in.Close() })
	return in.(*net.TCPConn), out.(*net.TCPConn)
}

func raw(t *testing.T, c *net.TCPConn) syscall.RawConn {
	t.Helper()
	r, err := c.SyscallConn()
	must(t, err)
	return r
}

// TestPark: what comes is told of once for each time that it is waited for.
func TestPark(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	ran := make(chan struct{}, 10)
	w := Of(raw(t, near), func() { ran <- struct{}{} })
	defer w.Close()
	b := make([]byte, 100)
	for range 3 {
		for !w.Park() { // what came before may have been told of late
		}
		_, err := far.Write([]byte("word"))
		must(t, err)
		<-ran
		_, err = io.ReadFull(near, b[:4])
		must(t, err)
	}
	if len(ran) > 0 {
		t.Error("run without being asked to")
	}
}

// TestParkEnd: an end that comes together with the last bytes is not slept through.
func TestParkEnd(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	ran := make(chan struct{}, 10)
	w := Of(raw(t, near), func() { ran <- struct{}{} })
	defer w.Close()
	if !w.Park() {
		t.Fatal("something has come")
	}
	_, err := far.Write([]byte("word"))
	must(t, err)
	must(t, far.Close())
	<-ran
	for b := make([]byte, 100); ; {
		n, err := near.Read(b)
		if err == io.EOF {
			return
		}
		must(t, err)
		if n < len(b) && w.Park() {
			<-ran
		}
	}
}

// TestWake: a wait can be ended, and one that is over not once more.
func TestWake(t *testing.T) {
	t.Parallel()
	near, _ := pair(t)
	ran := make(chan struct{}, 10)
	w := Of(raw(t, near), func() { ran <- struct{}{} })
	if w.Wake(); len(ran) > 0 {
		t.Error("nobody has waited")
	}
	if !w.Park() {
		t.Fatal("something has come")
	}
	w.Wake()
	<-ran
	w.Wake()
	if !w.Park() {
		t.Fatal("something has come")
	}
	w.Close()
	w.Close()
	w.Wake()
	if <-ran; len(ran) > 0 {
		t.Error("run after it was closed")
	}
	if w.Park() {
		t.Error("parked after it was closed")
	}
}

// TestClosedSocket: a socket that is not open cannot be watched, and one that is closed
// later is forgotten.
func TestClosedSocket(t *testing.T) {
	t.Parallel()
	near, _ := pair(t)
	other, _ := pair(t)
	r := raw(t, near)
	w := Of(raw(t, other), func() {})
	must(t, other.Close())
	w.Close()
	must(t, near.Close())
	if Of(r, func() {}) != nil {
		t.Error("a closed socket is watched")
	}
}

// TestNothingIsLost: many readers who wait for each of many bytes get all of them.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	const conns, words = 50, 200
	var wg sync.WaitGroup
	for range conns {
		near, far := pair(t)
		wg.Add(2)
		got, b := 0, make([]byte, 8)
		var w *Watch
		var ready sync.WaitGroup
		ready.Add(1)
		w = Of(raw(t, near), func() {
			ready.Wait()
			for {
				n, err := near.Read(b)
				got += n
				if err != nil {
					w.Close()
					wg.Done()
					return
				}
				if n < len(b) && w.Park() {
					return
				}
			}
		})
		ready.Done()
		if !w.Park() {
			t.Fatal("something has come")
		}
		go func() {
			defer wg.Done()
			for i := range words {
				if _, err := far.Write(make([]byte, 1+i%11)); err != nil {
					t.Error(err)
				}
			}
			_ = far.CloseWrite()
		}()
		t.Cleanup(func() {
			want := 0
			for i := range words {
				want += 1 + i%11
			}
			if got != want {
				t.Errorf("got %d bytes, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

// TestSlowRun: a run that waits for something keeps no other from being run, the first time and ever after,
// and one that has become quick is run as any other.
func TestSlowRun(t *testing.T) {
	t.Parallel()
	slow, slowFar := pair(t)
	free := make(chan struct{})
	entered := make(chan struct{}, 10)
	held := Of(raw(t, slow), func() { entered <- struct{}{}; <-free })
	defer held.Close()
	type peer struct {
		near, far interface {
			io.ReadWriter
		}
		w   *Watch
		ran chan struct{}
	}
	var others []peer
	for range 3 * mostInLoop {
		near, far := pair(t)
		p := peer{near: near, far: far, ran: make(chan struct{}, 10)}
		p.w = Of(raw(t, near), func() { p.ran <- struct{}{} })
		defer p.w.Close()
		others = append(others, p)
	}
	b := make([]byte, 10)
	for range 3 {
		for !held.Park() {
		}
		_, err := slowFar.Write([]byte("x"))
		must(t, err)
		<-entered
		for _, p := range others {
			for !p.w.Park() {
			}
		}
		for _, p := range others {
			_, err := p.far.Write([]byte("x"))
			must(t, err)
		}
		for _, p := range others {
			<-p.ran
			_, err := io.ReadFull(p.near, b[:1])
			must(t, err)
		}
		time.Sleep(2 * quickRun) // what is short would not be slow any more
		free <- struct{}{}
		_, err = io.ReadFull(slow, b[:1])
		must(t, err)
	}
	if !held.slow.Load() {
		t.Error("a run that took long is not known to")
	}
	close(free)
	for range 2 {
		for !held.Park() {
		}
		_, err := slowFar.Write([]byte("x"))
		must(t, err)
		<-entered
		_, err = io.ReadFull(slow, b[:1])
		must(t, err)
	}
}

// TestWaits: a run that says that it is going to wait has another goroutine wait for events at once.
func TestWaits(t *testing.T) {
	t.Parallel()
	Waits() // nobody runs
	near, far := pair(t)
	leads := make(chan bool)
	var w *Watch
	w = Of(raw(t, near), func() {
		l := current.Load()
		runs := func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.running == w
		}
		leads <- runs()
		Waits()
		leads <- runs()
	})
	defer w.Close()
	for !w.Park() {
	}
	_, err := far.Write([]byte("x"))
	must(t, err)
	if <-leads {
		if <-leads {
			t.Error("it is waited for")
		}
	} else { // it was not the leader that ran it
		<-leads
	}
}
