package http2

import "sync"

// workers are goroutines that run handlers, one after the other. A goroutine that is made
// for each request grows its stack from 2 KiB to what the pipeline needs every time: four
// copies of it.
type workers struct {
	mu     sync.Mutex
	idle   []chan *stream // the last one to have become idle is the next to be used
	closed bool
}

// mostIdle is how many wait for work. More than these end with the request that they were
// made for.
const mostIdle = 64

// run has a worker serve a stream: the one that has become idle last, whose stack is likeliest to
// be in a cache still. It never waits for one, because it is called by who reads.
func (w *workers) run(st *stream) {
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		jobs := w.idle[n-1]
		w.idle = w.idle[:n-1]
		w.mu.Unlock()
		jobs <- st
		return
	}
	w.mu.Unlock()
	go w.work(st)
}

// work serves st, and then what comes.
func (w *workers) work(st *stream) {
	jobs := make(chan *stream, 1)
	for st != nil {
		st.serve()
		st = nil // a worker that waits keeps nothing of what it has served
		if !w.rest(jobs) {
			return
		}
		st = <-jobs
	}
}

// rest puts a worker among those who wait, if there is room.
func (w *workers) rest(jobs chan *stream) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.idle) >= mostIdle {
		return false
	}
	w.idle = append(w.idle, jobs)
	return true
}

// close ends those who wait.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, jobs := range w.idle {
		close(jobs)
	}
	w.idle = nil
}
