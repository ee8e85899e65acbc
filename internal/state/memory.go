package state

import (
	"context"
	"sync"
	"time"
)

// Memory is the driver that keeps everything in the process. It is ready for
// use by many goroutines, never blocks on anything but a short lock, and so
// ignores its contexts: an id that an agent has shown stays recorded even when
// the caller has gone.
//
// Each part of Store is a type of its own, with its own locks and its own bound: what fills
// one leaves the room of the others.
type Memory struct {
	records  // Ledger, Steps and Bounded
	spaces   // Values
	backlogs // Queue
	*buckets // Limits
	*logs    // Logs

	close   sync.Once
	closing chan struct{}
	swept   chan struct{} // closed when the sweeper has ended
}

// NewMemory makes an empty store and starts its sweeper, which Close ends. What
// Validate refuses is taken as the default.
func NewMemory(c Config) *Memory {
	limit := c.Memory.records()
	m := &Memory{
		buckets: newBuckets(limit),
		logs:    newLogs(c.Memory.logBytes()),
		closing: make(chan struct{}),
		swept:   make(chan struct{}),
	}
	m.init(limit, c.KeptFor())
	m.spaces.limit, m.spaces.names = limit, make(map[string]*space)
	m.backlogs.names = make(map[string]*backlog)
	go m.sweep()
	return m
}

// sweep removes what ran out, part by part, until Close.
func (m *Memory) sweep() {
	defer close(m.swept)
	tick := time.NewTicker(m.period())
	defer tick.Stop()
	counts := time.NewTicker(limitsPeriod)
	defer counts.Stop()
	for {
		select {
		case <-m.closing:
			return
		case <-counts.C:
			m.buckets.sweep()
			m.logs.sweep(time.Now())
		case now := <-tick.C:
			m.records.sweep(now)
			m.spaces.sweep(now)
		}
	}
}

// period keeps the dead at a few percent of the living without walking the store
// more than every second or less than every hour.
func (m *Memory) period() time.Duration {
	return min(max(m.retention/32, time.Second), time.Hour)
}

var (
	_ Store   = (*Memory)(nil)
	_ Bounded = (*Memory)(nil)
)

// Ping implements Store.
func (m *Memory) Ping(context.Context) error { return nil }

// Len is how many records and steps are held, those that ran out but were not yet swept
// included.
func (m *Memory) Len() int { return int(m.records.size.Load()) }

// Close ends the sweeper and waits for it. The records stay readable and
// claimable, so that calls in flight during a shutdown end as they would have.
func (m *Memory) Close() error {
	m.close.Do(func() { close(m.closing) })
	<-m.swept
	return nil
}
