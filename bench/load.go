package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// client is the load generator: so many connections, each with one call in
// flight. It ends by itself after the requests it was given.
type client struct {
	http        *http.Client
	connections int
	version     string // A2A-Version of its calls
}

func newClient(connections int, h2 bool, version string, t *tls.Config) *client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!h2)
	protocols.SetHTTP2(h2)
	return &client{connections: connections, version: version, http: &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: t, Protocols: protocols, DisableCompression: true,
			MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections,
		},
	}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// warm opens the connections and lets caches fill.
func (c *client) warm(url, token string, body []byte) error {
	_, err := c.load(url, token, body, 20*c.connections)
	return err
}

// load sends n requests and returns the latency of each.
func (c *client) load(url, token string, body []byte, n int) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	latencies := make([]time.Duration, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range c.connections {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				began := time.Now()
				if err := c.call(ctx, url, token, body); err != nil {
					cancel(err)
					return
				}
				latencies[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	return latencies, context.Cause(ctx)
}

func (c *client) call(ctx context.Context, url, token string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", c.version)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	// A fast refusal must not pass for a fast gateway.
	if resp.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"result"`)) {
		return fmt.Errorf("answer %d: %.200s", resp.StatusCode, answer)
	}
	return nil
}

// cpuTime is the user and system time of a process so far (Linux).
func cpuTime(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The command in parentheses may hold spaces; what follows it does not.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // USER_HZ is 100 everywhere
}

// rss is the resident memory of a process in KiB.
func rss(pid int) (int, error) {
	if pid == 0 {
		return 0, nil
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("no VmRSS of process %d", pid)
	}
	return strconv.Atoi(fields[0])
}
