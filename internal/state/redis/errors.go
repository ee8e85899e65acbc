package redis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// errRecord says that a key holds what no gateway has written, or a newer one.
var errRecord = errors.New("redis: a key holds what this version cannot read")

// refusals are the replies of servers that cannot write now, or not for us, and will not for
// the next caller either. They mean that nothing is known, as a connection that breaks does.
var refusals = []string{
	"OOM ", "READONLY ", "MISCONF ", "NOREPLICAS ", "LOADING ", "BUSY ", "MASTERDOWN ", "CLUSTERDOWN ",
	"NOAUTH ", "WRONGPASS ", "NOPERM ", "The user executing the script can't ", "max number of clients reached",
}

// passing are replies that mean the same of one call, and say nothing of the next.
var passing = []string{
	"TRYAGAIN ", "MOVED ", "ASK ", "UNBLOCKED ", "NOSCRIPT ", "Script attempted to access a non local key", // a slot that moves
}

// classify makes an error of the client one of package state.
func classify(err error) error {
	// It is named already.
	if errors.Is(err, errRecord) {
		return err
	}
	reply := reply(err)
	switch {
	// No reply is no server: a timeout, a broken connection, a name that does not resolve.
	case reply == "":
		return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
	case says(reply, refusals):
		return state.Refusing("redis", err)
	case strings.HasPrefix(reply, "BADRECORD "), strings.HasPrefix(reply, "WRONGTYPE "):
		return fmt.Errorf("%w: %w", errRecord, err)
	case says(reply, passing):
		return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
	}
	return err
}

// says reports whether a reply is one of some. A script that ran into one reports it in the
// middle of its own words.
func says(reply string, some []string) bool {
	return slices.ContainsFunc(some, func(s string) bool {
		return strings.HasPrefix(reply, s) || strings.Contains(reply, "-"+s)
	})
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
