package redis

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Ping implements state.Store: of a cluster all masters must answer, and all that is asked
// for must take writes. It looks at how the
// servers are set up as well, and warns of what it has not warned of before.
func (s *servers) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := s.eachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		info, err := c.Info(ctx).Result()
		if err != nil {
			return err
		}
		fields := parseInfo(info)
		if fields["loading"] == "1" {
			return errors.New("redis is loading its data")
		}
		s.inspect(ctx, c, fields)
		return nil
	})
	if err != nil {
		return fmt.Errorf("ping redis: %w", classify(err))
	}
	// A server may answer INFO and refuse every write; only a write shows.
	for _, g := range append(s.all(), s.guard(s.names.limits())) {
		if err := g.prove(ctx); err != nil {
			return fmt.Errorf("ping redis: %w", err)
		}
	}
	return nil
}

// meet looks at the servers for the first time. reads is a script that only reads when it is
// given nothing.
func (s *servers) meet(ctx context.Context, reads *redis.Script) error {
	// A server that does not answer in time is no error here: it may come up later.
	within, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := s.eachMaster(within, func(ctx context.Context, c *redis.Client) error {
		info, err := c.Info(ctx).Result()
		if err != nil {
			return err
		}
		fields := parseInfo(info)
		if err := s.fits(fields); err != nil {
			return err
		}
		s.inspect(ctx, c, fields)
		return c.Time(ctx).Err()
	})
	if err == nil {
		// It shows whether we may run it, and use the prefix.
		err = reads.Run(within, s.client, []string{s.names.limits() + ":probe"}, 1, "", "").Err()
	}
	switch r := reply(err); {
	case err == nil:
		return nil
	case r == "" && errors.As(err, new(mismatch)):
		return err
	case strings.HasPrefix(r, "WRONGPASS"), strings.HasPrefix(r, "NOAUTH"), strings.Contains(r, "AUTH"):
		return fmt.Errorf("redis.password: the server refuses the login: %w", err)
	case strings.Contains(r, "cluster support disabled"):
		return fmt.Errorf("redis.addresses: the servers are no cluster; list one, or name the sentinels' redis.master: %w", err)
	case strings.HasPrefix(r, "NOPERM"), strings.Contains(r, "user executing the script can't"):
		return fmt.Errorf("redis.username: the user needs the rights ~{%s* +@read +@write +@scripting +@connection +time +info"+
			", and +cluster for a cluster: %w", s.names.prefix, err)
	}
	s.log.Warn("redis cannot be reached yet", "error", err)
	return nil
}

// mismatch is a server that cannot be worked with as it is.
type mismatch struct{ what string }

// Error implements error.
func (m mismatch) Error() string { return m.what }

// fits reports a server that is too old, or not what the configuration says.
func (s *servers) fits(info map[string]string) error {
	version := info["redis_version"]
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, errMajor := strconv.Atoi(major)
	n, errMinor := strconv.Atoi(minor)
	// A version that cannot be read is let pass: forks have their own numbers.
	if errMajor == nil && errMinor == nil && (m < 6 || m == 6 && n < 2) {
		return mismatch{fmt.Sprintf("redis.addresses: the server is Redis %s; 6.2 is needed, or Valkey", version)}
	}
	mode := cmp.Or(info["redis_mode"], info["server_mode"]) // Valkey calls it the latter
	if mode == "cluster" && s.only != nil {
		return mismatch{"redis.addresses: the server belongs to a cluster; list at least two of its nodes"}
	}
	return nil
}

// eachMaster does something at the server, or at all masters of the cluster.
func (s *servers) eachMaster(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, do)
	case *redis.Client:
		return do(ctx, c)
	}
	return fmt.Errorf("%w: unknown kind of client", state.ErrUnavailable)
}

// findings are what was warned about, so that each is said once.
type findings struct {
	mu      sync.Mutex
	said    []string
	evicted map[string]int64 // by the id of a server's run, what it has dropped since its start
}

// inspect warns of what a server may lose without being broken.
func (s *servers) inspect(ctx context.Context, c *redis.Client, info map[string]string) {
	if p := info["maxmemory_policy"]; p != "" && p != "noeviction" {
		s.warn("redis may drop records when its memory is full, and with them who owns a task; "+
			"set maxmemory-policy noeviction", "policy", p)
	}
	s.countEvicted(info)
	if info["aof_enabled"] != "0" {
		return
	}
	saves, err := c.ConfigGet(ctx, "save").Result()
	if err != nil {
		return // not allowed to ask
	}
	if saves["save"] == "" {
		s.warn("redis saves nothing: when it is started again nobody knows who owns a task; "+
			"set appendonly yes", "appendonly", "no")
	}
}

// countEvicted tells of keys that a server has dropped since it was looked at last: they
// may be records of who owns what. What it had dropped before that is told by nobody.
func (s *servers) countEvicted(info map[string]string) {
	n, err := strconv.ParseInt(info["evicted_keys"], 10, 64)
	if err != nil {
		return
	}
	s.found.mu.Lock()
	if s.found.evicted == nil {
		s.found.evicted = make(map[string]int64)
	}
	before, known := s.found.evicted[info["run_id"]]
	s.found.evicted[info["run_id"]] = n
	s.found.mu.Unlock()
	// A server that was started anew has another run_id, and counts from 0.
	if n -= before; known && n > 0 {
		s.log.Error("redis has dropped keys for want of memory, and with them maybe who owns a task; "+
			"give it memory, and set maxmemory-policy noeviction", "keys", n)
		s.evicted(n)
	}
}

// warn says each text once, however often servers are looked at.
func (s *servers) warn(text, key, value string) {
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	if slices.Contains(s.found.said, text) {
		return
	}
	s.found.said = append(s.found.said, text)
	s.log.Warn(text, key, value)
}

// parseInfo reads the lines "name:value" of INFO.
func parseInfo(info string) map[string]string {
	fields := make(map[string]string)
	for lines := bufio.NewScanner(strings.NewReader(info)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
