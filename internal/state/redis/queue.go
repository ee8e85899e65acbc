package redis

import (
	"context"
	_ "embed" // the scripts
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// forgets is how many dead items whose time has come a Take removes at most.
const forgets = 64

// itemFields is how many fields of an item a script tells.
const itemFields = 7

//go:embed lua/queue.lua
var queueScript string

// queue is the state.Queue of the servers. One script has all operations, by their names.
type queue struct {
	servers *servers
	script  *redis.Script
}

// newQueue reads the script.
func newQueue(on *servers) *queue { return &queue{on, redis.NewScript(queueScript)} }

// Push implements state.Queue. After an error that wraps state.ErrUnavailable the item may
// be there all the same; a Push of it then says false.
func (q *queue) Push(ctx context.Context, queue string, it state.Item, most int64) (bool, error) {
	if err := it.Check(); err != nil {
		return false, err
	}
	keys := append(q.servers.names.queue(queue), q.servers.names.lines(queue)+"line:"+it.Line)
	n, err := q.number(ctx, queue, keys, "push",
		it.ID, it.Line, it.Data, state.Micros(it.Pushed), state.Micros(it.Due), max(most, 0))
	// The script says 1 for pushed, 0 for there already, -1 for full.
	if err == nil && n < 0 {
		err = state.ErrFull
	}
	return n == 1, err
}

// Take implements state.Queue.
func (q *queue) Take(ctx context.Context, queue, holder string, now time.Time, n int, lease time.Duration) ([]state.Item, error) {
	if err := state.CheckHolder(holder); err != nil {
		return nil, err
	}
	return q.items(ctx, queue, "take", holder, state.Micros(now), state.Micros(now.Add(lease)), max(n, 0), forgets)
}

// Done implements state.Queue.
func (q *queue) Done(ctx context.Context, queue, holder, id string) error {
	return q.settle(ctx, queue, "done", holder, id)
}

// Again implements state.Queue.
func (q *queue) Again(ctx context.Context, queue, holder, id string, due time.Time, failure string) error {
	return q.settle(ctx, queue, "again", holder, id, state.Micros(due), state.CutFailure(failure))
}

// Bury implements state.Queue.
func (q *queue) Bury(ctx context.Context, queue, holder, id, failure string, now time.Time, keep state.Keep) error {
	return q.settle(ctx, queue, "bury", holder, id, state.Micros(now.Add(keep.For)), state.CutFailure(failure), max(keep.Most, 0))
}

// Revive implements state.Queue.
func (q *queue) Revive(ctx context.Context, queue, id string, now time.Time) (bool, error) {
	n, err := q.number(ctx, queue, q.servers.names.queue(queue), "revive", id, state.Micros(now))
	return n == 1, err
}

// Remove implements state.Queue.
func (q *queue) Remove(ctx context.Context, queue, id string) (bool, error) {
	n, err := q.number(ctx, queue, q.servers.names.queue(queue), "remove", id)
	return n == 1, err
}

// RemoveLine implements state.Queue.
func (q *queue) RemoveLine(ctx context.Context, queue, line string) (int, error) {
	n, err := q.number(ctx, queue, q.servers.names.queue(queue), "clear", line)
	return int(n), err
}

// Items implements state.Queue. Its time is bounded for each round trip.
func (q *queue) Items(ctx context.Context, queue string, dead bool, after string, limit int) ([]state.Item, error) {
	which := "waiting"
	if dead {
		which = "dead"
	}
	var list []state.Item
	// A page is one run of the script; ids are in the order of their bytes, so that the last one says
	// where to go on.
	for len(list) < limit {
		part := min(limit-len(list), page)
		more, err := q.items(ctx, queue, "items", which, after, part)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].Dead = dead
		}
		list = append(list, more...)
		// Fewer than asked for: these were the last.
		if len(more) < part {
			break
		}
		after = more[part-1].ID
	}
	return list, nil
}

// Depth implements state.Queue.
func (q *queue) Depth(ctx context.Context, queue string, now time.Time) (state.Depth, error) {
	var reply []int64
	err := q.run(ctx, queue, q.servers.names.queue(queue), "depth", []any{state.Micros(now)}, func(c *redis.Cmd) (err error) {
		reply, err = c.Int64Slice()
		return err
	})
	if err == nil && len(reply) != 3 {
		err = errReply
	}
	if err != nil {
		return state.Depth{}, err
	}
	return state.Depth{Waiting: reply[0], Dead: reply[1], Oldest: state.FromMicros(reply[2])}, nil
}

// settle runs an operation that only the holder of an item may do.
func (q *queue) settle(ctx context.Context, queue, operation string, args ...any) error {
	n, err := q.number(ctx, queue, q.servers.names.queue(queue), operation, args...)
	if err == nil && n == 0 {
		err = state.ErrTaken
	}
	return err
}

// number runs an operation that answers with a number.
func (q *queue) number(ctx context.Context, queue string, keys []string, operation string, args ...any) (int64, error) {
	var n int64
	err := q.run(ctx, queue, keys, operation, args, func(c *redis.Cmd) (err error) {
		n, err = c.Int64()
		return err
	})
	return n, err
}

// items runs an operation that answers with items.
func (q *queue) items(ctx context.Context, queue, operation string, args ...any) ([]state.Item, error) {
	var reply []any
	err := q.run(ctx, queue, q.servers.names.queue(queue), operation, args, func(c *redis.Cmd) (err error) {
		reply, err = c.Slice()
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(reply)%itemFields != 0 {
		return nil, errReply
	}
	var list []state.Item
	// The reply is flat, seven fields an item: id, line, data, pushed, due, attempts, error.
	for ; len(reply) > 0; reply = reply[itemFields:] {
		list = append(list, state.Item{
			ID: text(reply[0]), Line: text(reply[1]), Data: []byte(text(reply[2])),
			Pushed: state.FromMicros(whole(reply[3])), Due: state.FromMicros(whole(reply[4])),
			Attempts: int(whole(reply[5])), Error: text(reply[6]),
		})
	}
	return list, nil
}

// run runs the script of queues.
func (q *queue) run(
	ctx context.Context, queue string, keys []string, operation string, args []any, read func(*redis.Cmd) error,
) error {
	return q.servers.do(ctx, q.servers.names.tag(queue), operation+" in queue", func(ctx context.Context) error {
		return read(q.script.Run(ctx, q.servers.client, keys, append([]any{operation, q.servers.names.lines(queue)}, args...)...))
	})
}

// whole is a number that a script has told.
func whole(v any) int64 {
	n, _ := v.(int64)
	return n
}
