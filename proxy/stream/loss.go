package stream

import (
	"errors"
	"io"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// Resume gives a lost feed another source. False: it is not lost any more, or the source
// speaks differently from the one before; the source is closed then.
func (f *Feed) Resume(o Opened) bool {
	f = f.lock()
	if f.source != nil || f.shared.following || f.phase != lost || o.Form != f.form {
		f.mu.Unlock()
		newSource(f, o).stop(ending.ErrGone)
		return false
	}
	f.leader = nil
	s := f.begin(o)
	var idle *source
	if len(f.cursors) == 0 {
		idle = f.desert()
	}
	f.mu.Unlock()
	s.start()
	idle.stop(ending.ErrGone)
	return true
}

// Fail tells the clients of a lost feed that it stays lost; io.EOF lets them end
// well. Who comes after that is asked again for another source.
func (f *Feed) Fail(err error) {
	f = f.lock()
	defer f.mu.Unlock()
	if f.source != nil || f.shared.following || f.phase != lost {
		return
	}
	f.leader = nil
	f.fail(err)
	f.stir()
}

// Cut reports whether the gateway has closed the agent's stream, which the agent had left
// open behind its end for longer than streams.closeWait.
func (f *Feed) Cut() bool {
	f = f.lock()
	defer f.mu.Unlock()
	return f.cut
}

// cease says what becomes of a feed whose source has ended with err.
//
// It gives a source that is to be stopped once the feed is unlocked, which is nil but for a feed
// whose clients have all left.
func (f *Feed) cease(err error) *source {
	f.source, f.leader, f.over = nil, nil, err
	f.phase = lost
	if errors.Is(err, io.EOF) || errors.Is(err, ending.ErrGone) {
		f.over = nil // nothing is wrong with the agent
	}
	switch {
	case f.settled && !errors.As(err, new(*Dropped)):
		f.phase, f.over, f.cut = ended, nil, errors.Is(err, ending.ErrIdle)
	case refused(err):
		if f.fail(err); f.settled {
			f.phase = ended
			if f.joined { // else it is for the first client to be told
				f.over = nil
			}
		}
	case f.over == nil && f.rests:
		f.phase = rested
	}
	if f.task == "" {
		f.phase = ended
	}
	f.stir()
	if f.phase == ended {
		f.shared.surrender()
	}
	if len(f.cursors) == 0 && (f.joined || f.task != "") {
		return f.desert()
	}
	return nil
}

// refused reports whether another source would not do better, so that clients have to
// be told.
func refused(err error) bool {
	return !errors.Is(err, io.EOF) && !errors.Is(err, ending.ErrBroken) && !errors.Is(err, ending.ErrIdle) && !errors.Is(err, ending.ErrGone)
}
