package sse

import (
	"errors"
	"io"
)

// Skip passes over the rest of an event that was too large, and has Next go on behind it.
// It gives the event's size in bytes, its line ends included. Where Next has not returned
// ErrTooLarge it does nothing. The error is what reading came to inside of the event.
func (r *Reader) Skip() (size int64, err error) {
	if !errors.Is(r.over, ErrTooLarge) {
		return 0, r.over
	}
	r.over = nil
	size = int64(r.line - r.frame)
	r.frame = r.line
	for begun := false; ; { // begun: the line at hand has characters that were dropped
		if r.skipLF && r.line < len(r.buf) {
			r.skipLF = false
			if r.buf[r.line] == '\n' {
				r.line++
				size++
			}
			r.scan = max(r.scan, r.line)
		}
		end := r.lineEnd()
		next := max(end+1, r.scan)
		blank := end == r.line && !begun
		size += int64(next - r.line)
		begun = end < 0 && (begun || next > r.line)
		r.frame, r.line, r.scan = next, next, next
		switch {
		case end >= 0:
			if r.skipLF = r.buf[end] == '\r'; blank {
				return size, nil
			}
		case r.err != nil:
			r.over = r.err
			return size, r.err
		default:
			if err := r.refill(); err != nil {
				r.over = err
				return size, err
			}
		}
	}
}

// refill reads until there is something, or an error to be returned behind it.
func (r *Reader) refill() error {
	for empty := 0; r.fill() == 0 && r.err == nil; {
		if empty++; empty == maxEmpty {
			return io.ErrNoProgress
		}
	}
	return nil
}
