package audit

import "io"

// copier passes lines on to a writer that must not hold up the log.
// A pipe to a log collector blocks when that is slow; the copy is dropped then, whole batches of
// it, and calls go on.
type copier struct {
	out     io.Writer
	lines   chan []byte
	stopped chan struct{}
}

// copyQueue is how many batches may wait for a slow reader.
const copyQueue = 256

// newCopier begins to copy.
func newCopier(out io.Writer) *copier {
	c := &copier{out: out, lines: make(chan []byte, copyQueue), stopped: make(chan struct{})}
	go c.run()
	return c
}

// add queues a copy of whole lines, or leaves them out when the queue is full.
func (c *copier) add(lines []byte) {
	if len(c.lines) == cap(c.lines) {
		return
	}
	c.lines <- append([]byte(nil), lines...) // the writer of the log is the only sender
}

// run writes what was added. It may wait for whoever reads, which add never does.
func (c *copier) run() {
	defer close(c.stopped)
	for lines := range c.lines {
		_, _ = c.out.Write(lines) // the files are the record
	}
}

// close returns when everything that was added is written.
func (c *copier) close() {
	close(c.lines)
	<-c.stopped
}
