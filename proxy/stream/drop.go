package stream

import (
	"errors"
	"io"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// DropTime is how long is counted what comes behind an event that ends a stream: the client
// waits for the error meanwhile.
const DropTime = time.Second

// dropBytes is how many bytes are counted at most.
const dropBytes = 16 << 20

// Dropped is an error that ends a stream, and what of the agent's events its client is not
// given: the one that the error is about, and those behind it.
type Dropped struct {
	Events, Bytes int64
	More          bool // the agent had not ended its stream when counting did
	Err           error
}

// Error is that of Err.
func (d *Dropped) Error() string { return d.Err.Error() }

// Unwrap gives Err.
func (d *Dropped) Unwrap() error { return d.Err }

// Add counts another event, of so many bytes. It is false once there are enough.
func (d *Dropped) Add(size int) bool {
	d.Events++
	d.Bytes += int64(size)
	d.More = d.Bytes >= dropBytes
	return !d.More
}

// drop reads what is behind an event that ends the source, to the end of the agent's
// stream within bounds, and gives the source's error.
//
// It counts and keeps nothing. Where counting was cut short, More says so, and the numbers are
// lower bounds.
func (s *source) drop(d *Dropped) error {
	s.leave() // whoever is given what came before
	s.idle.Stop()
	late := time.AfterFunc(DropTime, func() { s.stop(d) })
	defer late.Stop()
	d.More = true // unless reading comes to the end
	for err := d.Err; !s.stopped(); {
		if errors.Is(err, ending.ErrTooLarge) {
			if err = s.skip(d); err != nil {
				d.More = !errors.Is(err, io.EOF)
				return d
			}
		}
		var event agentevents.Event
		if event, err = s.events.Next(); err != nil {
			err = named(err)
		}
		switch {
		case errors.Is(err, io.EOF):
			d.More = false
			return d
		case err != nil && !errors.Is(err, ending.ErrTooLarge):
			return d
		case (err != nil || event.HasData) && !d.Add(len(event.Data)):
			return d
		}
		d.More = true
	}
	return d
}

// skip passes over an event that was too large.
func (s *source) skip(d *Dropped) error {
	size, err := agentevents.Skip(s.events)
	d.Bytes += size
	return err
}

// stopped reports whether the source was stopped.
func (s *source) stopped() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
