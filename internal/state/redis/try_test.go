package redis

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// TestTry: what keeps a server from being used is said by its key, at the first look.
func TestTry(t *testing.T) {
	t.Parallel()
	kept := []string{"--appendonly", "yes"}
	for name, c := range map[string]struct {
		args   []string // of the server; nil for none
		change func(*state.RedisConfig)
		want   string // how the error begins; "" for none
		says   string // a part of it, or of the one warning
	}{
		"all as it should be": {args: kept},
		"nobody":              {want: "redis.addresses: ping redis: ", says: "connection refused"},
		"forgetful":           {args: []string{"--appendonly", "no"}, says: "redis saves nothing"},
		"without a password":  {args: append(kept, "--requirepass", "CANARY"), want: "redis.password: the server refuses the login", says: "NOAUTH"},
		"the wrong password": {
			args:   append(kept, "--requirepass", "right"),
			change: func(c *state.RedisConfig) { c.Password = secret.New("CANARY") },
			want:   "redis.password: the server refuses the login", says: "WRONGPASS",
		},
		"a replica": {args: append(kept, "--replicaof", "127.0.0.1 1"), want: "redis.addresses: ping redis: ", says: "READONLY"},
		"full":      {args: append(kept, "--maxmemory", "1"), want: "redis.addresses: ping redis: ", says: "OOM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config("127.0.0.1:1")
			if c.args != nil {
				cfg = config(serve(t, c.args...).address)
			}
			cfg.Redis.Timeout = 0
			if c.change != nil {
				c.change(&cfg.Redis)
			}
			log, said := logged()
			err := Try(t.Context(), cfg, log)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("%v", err)
			case err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "CANARY")):
				t.Errorf("says %v", err)
			case err == nil && (strings.Contains(said(), "WARN") != (c.says != "") || !strings.Contains(said(), c.says)):
				t.Errorf("logs %s", said())
			}
		})
	}
}
