package session

import (
	"context"
	"errors"
	"io"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// refused is why a client's stream ends with an event, err being what became of it: for one
// that is not for the client, with what of the feed the client is not given for it.
//
// It is nil for an event that was told. An event that the client gets in other words, an error of
// the agent's, is not counted as dropped.
func (a *subscriber) refused(e stream.Entry, err error) error {
	if err == nil || errors.Is(err, errAnswers) || errors.Is(err, ending.ErrGone) || errors.Is(err, ending.ErrSlow) || a.x.Held != nil {
		return err
	}
	d := &stream.Dropped{Err: err}
	if found, failed := a.sessions.JudgedOf(a.x.Upstream.Side, e); failed != nil || !exchange.IsError(*found.Seen) { // which the client gets in other words
		d.Add(len(e.Data))
	}
	a.drop(d)
	if d.Events == 0 {
		return err
	}
	return d
}

// drop counts what is still to come of the feed, within bounds.
//
// It reads on for DropTime and no longer, since the client waits for the error meanwhile.
func (a *subscriber) drop(d *stream.Dropped) {
	if a.cursor == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.x.Ctx), stream.DropTime)
	defer cancel()
	for {
		e, err := a.cursor.Next(ctx)
		var more *stream.Dropped
		switch {
		case errors.As(err, &more):
			d.Events, d.Bytes, d.More = d.Events+more.Events, d.Bytes+more.Bytes, more.More
			return
		case err != nil:
			d.More = !errors.Is(err, io.EOF)
			return
		case !d.Add(len(e.Data)):
			return
		}
	}
}
