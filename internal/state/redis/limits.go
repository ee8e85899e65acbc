package redis

import (
	"context"
	_ "embed" // the scripts
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

//go:embed lua/draw.lua
var drawScript string

//go:embed lua/release.lua
var releaseScript string

// limits are the state.Limits of the servers.
type limits struct {
	servers *servers
	scripts struct{ draw, release *redis.Script }
}

// newLimits reads the scripts.
func newLimits(on *servers) *limits {
	l := &limits{servers: on}
	l.scripts.draw = redis.NewScript(drawScript)
	l.scripts.release = redis.NewScript(releaseScript)
	return l
}

// Draw implements state.Limits. The server counts in microseconds. After an error that
// wraps state.ErrUnavailable it may have been taken all the same.
func (l *limits) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	if len(draws) == 0 {
		return nil, nil
	}
	// All limits lie in one slot, so that one script can draw on all of them or on none.
	keys, args := make([]string, len(draws)), make([]any, 0, 6*len(draws))
	for i := range draws {
		if err := draws[i].Check(); err != nil {
			return nil, err
		}
		keys[i] = l.servers.names.limit(draws[i].Key)
		args = appendDraw(args, &draws[i])
	}
	var reply []string
	err := l.servers.do(ctx, l.servers.names.limits(), "draw", func(ctx context.Context) (err error) {
		reply, err = l.scripts.draw.Run(ctx, l.servers.client, keys, args...).StringSlice()
		return err
	})
	if err != nil {
		return nil, err
	}
	drawn := make([]state.Drawn, len(draws))
	// Fewer would leave a limit unasked: an error, and the call is refused.
	if len(reply) != len(draws) {
		return nil, errReply
	}
	for i, r := range reply {
		// OK, what is left, and two times in microseconds, as in "1 99 0 600000".
		var ok bool
		if drawn[i], ok = readDrawn(r); !ok {
			return nil, errReply
		}
	}
	return drawn, nil
}

// Release implements state.Limits.
func (l *limits) Release(ctx context.Context, holds []state.Draw) error {
	if len(holds) == 0 {
		return nil
	}
	keys, holders := make([]string, len(holds)), make([]any, len(holds))
	for i, h := range holds {
		keys[i], holders[i] = l.servers.names.limit(h.Key), h.Holder
	}
	return l.servers.do(ctx, l.servers.names.limits(), "release", func(ctx context.Context) error {
		return l.scripts.release.Run(ctx, l.servers.client, keys, holders...).Err()
	})
}

// appendDraw writes the six arguments of a draw.
func appendDraw(args []any, d *state.Draw) []any {
	soft := ""
	if d.Soft {
		soft = "soft"
	}
	switch d.Kind {
	case state.Rate:
		return append(args, "rate", soft, d.Limit, d.Cost, d.Refill, float64(d.Period)/float64(time.Microsecond))
	case state.Quota:
		// Lua has whole numbers up to 2^53, which as microseconds is in the year 2255.
		return append(args, "quota", soft, d.Limit, d.Cost, min(max(d.Until.UnixMicro(), 0), 1<<53), "")
	default:
		ttl := (d.TTL + time.Microsecond - 1) / time.Microsecond
		return append(args, "hold", soft, d.Limit, d.Holder, int64(ttl), "")
	}
}

// readDrawn reads what the script says of one draw: four numbers.
func readDrawn(reply string) (state.Drawn, bool) {
	var n [4]int64
	words := strings.Fields(reply)
	if len(words) != len(n) {
		return state.Drawn{}, false
	}
	for i, w := range words {
		var err error
		if n[i], err = strconv.ParseInt(w, 10, 64); err != nil {
			return state.Drawn{}, false
		}
	}
	return state.Drawn{
		OK: n[0] == 1, Left: n[1],
		Wait: time.Duration(n[2]) * time.Microsecond, Reset: time.Duration(n[3]) * time.Microsecond,
	}, true
}
