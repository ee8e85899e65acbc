package redis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// errRecord says that a key holds what no gateway has written, or a newer one.
var errRecord = errors.New("redis: a key holds what this version cannot read")

// transient are the replies of servers that cannot serve now, or not us. They all mean
// that nothing is known, as a connection that breaks does.
var transient = []string{
	"LOADING ", "BUSY ", "MASTERDOWN ", "CLUSTERDOWN ", "TRYAGAIN ", "MOVED ", "ASK ", "READONLY ",
	"NOREPLICAS ", "MISCONF ", "NOAUTH ", "WRONGPASS ", "NOPERM ", "max number of clients reached",
	"UNBLOCKED ", "NOSCRIPT ", "Script attempted to access a non local key", // a slot that moves
}

// classify makes an error of the client one of package state.
func classify(err error) error {
	if errors.Is(err, errRecord) {
		return err
	}
	reply := reply(err)
	switch {
	case reply == "":
		return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
	case strings.Contains(reply, "OOM command not allowed"):
		return fmt.Errorf("%w: %w", state.ErrMemory, err)
	case strings.HasPrefix(reply, "BADRECORD "), strings.HasPrefix(reply, "WRONGTYPE "):
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	for _, t := range transient {
		if strings.HasPrefix(reply, t) {
			return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
		}
	}
	// A script that ran into one of them reports it in the middle of its own words.
	for _, t := range transient {
		if strings.Contains(reply, "-"+t) {
			return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
		}
	}
	return err
}

// reply is what a server has answered instead of a result, or "" when an error is not of
// that kind.
func reply(err error) string {
	var e redis.Error
	if !errors.As(err, &e) {
		return ""
	}
	return strings.TrimPrefix(e.Error(), "ERR ")
}
