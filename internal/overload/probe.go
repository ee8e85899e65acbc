package overload

import (
	"encoding/binary"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// probe measures how long work waits for a processor, as a request does: a byte that comes
// in through the same poller as those of connections, and a goroutine that it wakes. What
// the clock of the runtime says would not do, as timers are looked after first, and so does
// the mean over all goroutines not, as one that is woken by another goes before those that
// wait.
type probe struct {
	read, write *os.File
	begun       time.Time
	sent        atomic.Int64 // when the last one went out, since begun; 0 while none is out
	done        sync.WaitGroup

	mu       sync.Mutex
	shortest time.Duration // of those that came since it was asked; noted before sent is 0
}

// newProbe returns nil where there is no pipe that the poller looks after.
func newProbe() *probe {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	if r.SetReadDeadline(time.Time{}) != nil { // a file that would hold up a thread
		_ = r.Close()
		_ = w.Close()
		return nil
	}
	p := &probe{read: r, write: w, begun: time.Now(), shortest: math.MaxInt64}
	p.done.Go(p.receive)
	return p
}

// receive notes for each byte that arrives how long it took, until the pipe is closed.
func (p *probe) receive() {
	var b [8]byte
	for {
		if n, err := p.read.Read(b[:]); err != nil || n != len(b) {
			return
		}
		sent := time.Duration(binary.LittleEndian.Uint64(b[:])) //nolint:gosec // as it was written
		p.mu.Lock()
		p.shortest = min(p.shortest, time.Since(p.begun)-sent)
		p.sent.Store(0)
		p.mu.Unlock()
	}
}

// send sends one, unless one is on its way.
func (p *probe) send() {
	now := max(1, time.Since(p.begun))
	if !p.sent.CompareAndSwap(0, int64(now)) {
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(now)) // never negative
	if _, err := p.write.Write(b[:]); err != nil {
		p.sent.Store(0)
	}
}

// wait is the shortest since it was asked last, or how long one waits that has not come
// yet; 0 when there was none.
func (p *probe) wait() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	shortest := p.shortest
	p.shortest = math.MaxInt64
	if shortest < math.MaxInt64 {
		return shortest
	}
	if sent := p.sent.Load(); sent != 0 {
		return time.Since(p.begun) - time.Duration(sent)
	}
	return 0
}

// close ends receive and waits for it.
func (p *probe) close() {
	_ = p.write.Close() // the reader gets its end
	p.done.Wait()
	_ = p.read.Close()
}
