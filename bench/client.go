package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// client is the load generator for calls with one answer. It makes its shots in turn.
type client struct {
	http        *http.Client
	connections int
	url         string
	shots       []shot
	turn        atomic.Uint64
	// make makes a call in place of shots over HTTP.
	make func(context.Context) error
}

// shot is one call that is made again and again.
type shot struct {
	path   string // of the endpoint
	header http.Header
	body   []byte
}

func (l *lane) client(connections int, body []byte) *client {
	return l.shooter(connections, []shot{{l.subject.path, l.header(), body}})
}

func (l *lane) shooter(connections int, shots []shot) *client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!l.workload.h2)
	protocols.SetHTTP2(l.workload.h2)
	return &client{
		connections: connections, url: l.running.url, shots: shots,
		http: &http.Client{
			Timeout: 30 * time.Second,
			Transport: &http.Transport{
				TLSClientConfig: l.tls(), Protocols: protocols, DisableCompression: true,
				MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections,
			},
		},
	}
}

func (c *client) close() {
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
}

// warm opens the connections and lets caches fill, of which HTTP/2 has use for
// a connection that somebody waits for.
func (c *client) warm(ctx context.Context) error {
	_, err := c.closed(ctx, 300*time.Millisecond)
	return err
}

// closed keeps one call in flight on each connection for so long, and returns the
// latency of each call.
func (c *client) closed(ctx context.Context, long time.Duration) ([]time.Duration, error) {
	end := time.Now().Add(long)
	return c.each(ctx, func(ctx context.Context) ([]time.Duration, error) {
		var latencies []time.Duration
		for time.Now().Before(end) {
			began := time.Now()
			if err := c.call(ctx); err != nil {
				return nil, err
			}
			latencies = append(latencies, time.Since(began))
		}
		return latencies, nil
	})
}

// open makes so many calls a second, however long they take. A call that has to
// wait for a connection has waited since it was due.
func (c *client) open(ctx context.Context, perSecond int, long time.Duration) ([]time.Duration, error) {
	total := int(long.Seconds() * float64(perSecond))
	due := make(chan time.Time, total)
	go func() {
		defer close(due)
		began := time.Now()
		for sent := 0; sent < total && ctx.Err() == nil; {
			// Whoever sleeps wakes up late by up to a millisecond. That is the load
			// generator's own, so that a call is due when this comes to it.
			now := time.Now()
			for ; sent < total && sent < int(now.Sub(began).Seconds()*float64(perSecond))+1; sent++ {
				due <- now
			}
			time.Sleep(time.Second / time.Duration(perSecond))
		}
	}()
	return c.each(ctx, func(ctx context.Context) ([]time.Duration, error) {
		var latencies []time.Duration
		for at := range due {
			if err := c.call(ctx); err != nil {
				return nil, err
			}
			latencies = append(latencies, time.Since(at))
		}
		return latencies, nil
	})
}

// each does work once for every connection, and joins the latencies.
func (c *client) each(ctx context.Context, work func(context.Context) ([]time.Duration, error)) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	for range c.connections {
		wg.Go(func() {
			latencies, err := work(ctx)
			if err != nil {
				cancel(err) // the first counts
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, latencies...)
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("no call was answered")
	}
	return all, nil
}

func (c *client) call(ctx context.Context) error {
	if c.make != nil {
		return c.make(ctx)
	}
	return c.shoot(ctx, c.shots[(c.turn.Add(1)-1)%uint64(len(c.shots))])
}

func (c *client) shoot(ctx context.Context, s shot) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+s.path, bytes.NewReader(s.body))
	if err != nil {
		return err
	}
	req.Header = s.header
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	return answered(resp.StatusCode, answer)
}

// answered says what is wrong with an answer: it is not the agent's, or not to this call. A fast refusal must not
// pass for a fast gateway.
func answered(status int, answer []byte) error {
	if status != http.StatusOK {
		return fmt.Errorf("answer %d: %.300s", status, answer)
	}
	for _, want := range []string{`"result"`, callID, agentWord} {
		if !bytes.Contains(answer, []byte(want)) {
			return fmt.Errorf("answer %d has no %s: %.300s", status, want, answer)
		}
	}
	return nil
}
