package redis

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// The master dies; what the replica had is there when it has taken over, and the store
// finds it by itself.
func TestSentinelFailsOver(t *testing.T) {
	t.Parallel()
	master := serve(t, "--appendonly", "no", "--repl-diskless-sync-delay", "0")
	replica := serve(t, "--appendonly", "no", "--replicaof", strings.Replace(master.address, ":", " ", 1))
	until(t, "the replica has what the master has", func() bool {
		return strings.Contains(replica.client(t).Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	c := config(sentinel(t, master))
	c.Redis.Master, c.Redis.Timeout = "gateways", 0
	s := open(t, c)
	r := statetest.Example()
	for i := range 20 {
		r.ID = fmt.Sprint("task-", i)
		if _, err := s.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	offset := func(server *server, field string) string {
		return parseInfo(server.client(t).Info(t.Context(), "replication").Val())[field]
	}
	until(t, "the replica has the claims", func() bool {
		return offset(master, "master_repl_offset") == offset(replica, "slave_repl_offset")
	})
	master.end()

	other := r
	other.Owner = "somebody else"
	var got state.Record
	until(t, "claims go to the new master", func() (ok bool) {
		stands, err := s.Claim(t.Context(), other)
		got = stands
		return err == nil
	})
	if got.Owner != r.Owner {
		t.Errorf("after the failover %s is %q's", r.ID, got.Owner)
	}
	list, err := s.Tasks(t.Context(), state.Query{Agent: r.Agent, Everyone: true, Limit: 100})
	if err != nil || len(list) != 20 {
		t.Errorf("%d tasks are listed after the failover, %v", len(list), err)
	}
}

// sentinel starts one that decides alone.
func sentinel(t testing.TB, master *server) (address string) {
	t.Helper()
	dir := t.TempDir()
	host, port, _ := net.SplitHostPort(master.address)
	for range 5 {
		s := &server{dir: dir, address: freeAddress(t)}
		_, own, _ := net.SplitHostPort(s.address)
		write(t, dir, "sentinel.conf", fmt.Appendf(nil, "port %s\nbind 127.0.0.1\ndir %q\n"+
			"sentinel monitor gateways %s %s 1\nsentinel down-after-milliseconds gateways 300\n"+
			"sentinel failover-timeout gateways 3000\n", own, dir, host, port))
		s.program = []string{filepath.Join(dir, "sentinel.conf"), "--sentinel"}
		if s.start() != nil {
			continue
		}
		t.Cleanup(s.end)
		until(t, "the sentinel knows the replica", func() bool {
			m, err := s.client(t).Do(t.Context(), "sentinel", "replicas", "gateways").Slice()
			return err == nil && len(m) == 1
		})
		return s.address
	}
	t.Fatal("no sentinel starts")
	return ""
}
