package main

import (
	"context"
	"errors"
	"time"
)

// idle is the memory that a client costs who only waits for something to happen.
var (
	idle = workload{
		name: "idle", unit: "stream", rounds: 1, fresh: true, streams: true, columns: idleColumns, round: idleStreams,
		what: "many streams on which nothing happens, HTTP/1.1 with TLS",
	}
	idlePlain = workload{
		name: "idle-plain", unit: "stream", rounds: 1, fresh: true, streams: true, plain: true, columns: idleColumns, round: idleStreams,
		what: "the same without TLS",
	}
	idleH2 = workload{
		name: "idle-h2", unit: "stream", rounds: 1, fresh: true, streams: true, h2: true, columns: idleColumns, round: idleStreams,
		what: "the same over HTTP/2 with TLS, a hundred streams on each connection",
	}
)

var idleColumns = []column{
	{key: "kib", title: "KiB/stream", decimals: 1, beside: ratio},
	rssColumn,
	{key: "open", title: "CPU µs to open", beside: ratio},
	{key: "streams", title: "streams", higher: true},
	{key: "held", title: "CPU ms/s held", decimals: 1},
	lostColumn,
}

// held is how long they are open before it is said what that takes: beyond the quarter of
// a minute after which a proxy may send a heartbeat.
func (l *lane) held() time.Duration { return 8 * l.options.time }

// idleCount is as many as were asked for, or as there are descriptors for: a proxy
// needs two for each, and some for itself.
func idleCount(asked, descriptors int) int {
	return min(asked, max(1, (descriptors-descriptors/10)/2))
}

func idleStreams(l *lane) (figures, error) {
	n := idleCount(l.options.idle, descriptors())
	c := l.client(1, l.unaryCall())
	err := c.call(l.ctx)
	c.close()
	if err != nil {
		return nil, err
	}
	before, err := l.running.rss()
	if err != nil {
		return nil, err
	}
	m, err := l.meter()
	if err != nil {
		return nil, err
	}
	streams, err := l.openIdle(n)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = l.endStreams()
		streams.close()
	}()
	f, err := m.stop(n)
	if err != nil {
		return nil, err
	}
	wait(l.ctx, time.Second)
	if m, err = l.meter(); err != nil {
		return nil, err
	}
	wait(l.ctx, l.held())
	held, err := m.stop(n)
	if err := errors.Join(err, l.ctx.Err(), l.endStreams()); err != nil {
		return nil, err
	}
	lost, err := l.lost(streams.ended())
	if err != nil || l.running.pid == 0 {
		return figures{"streams": float64(n), "lost": lost}, err
	}
	return figures{
		"streams": float64(n), "open": f["cpu"], "rss": held["rss"],
		"kib":  (held["rss"]*1024 - float64(before)) / float64(n),
		"held": held["cpu"] * held["rate"] / 1000,
		"lost": lost,
	}, nil
}

// idlers are streams that nobody reads while nothing happens on them.
type idlers interface {
	// ended reads each to its end, which the agent has been asked for, and says what is wrong with it.
	ended() []error
	close()
}

// openIdle opens n streams, on connections of their own or, over HTTP/2, on few.
func (l *lane) openIdle(n int) (idlers, error) {
	if l.workload.h2 {
		return l.openH2(n)
	}
	streams, err := l.openAll(n, 1<<10, textIdle)
	return ownConns(streams), err
}

// ownConns are streams that have a connection each.
type ownConns []*stream

func (all ownConns) close() { closeAll(all) }

func (all ownConns) ended() []error {
	deadline := time.Now().Add(30 * time.Second)
	errs := make([]error, len(all))
	for i, s := range all {
		_ = s.conn.SetDeadline(deadline)
		errs[i] = s.rest(nil)
	}
	return errs
}

// wait ends early only with the run.
func wait(ctx context.Context, long time.Duration) {
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
