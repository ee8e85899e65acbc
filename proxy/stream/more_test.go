package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// bursts are entries of which several are there at once.
type bursts struct {
	all   [][]string
	pause time.Duration // before each burst
	end   error
}

func (b *bursts) Next(ctx context.Context) (stream.Entry, error) {
	if len(b.all) == 0 {
		return stream.Entry{}, b.end
	}
	burst := b.all[0]
	if len(burst) == 0 {
		b.all = b.all[1:]
		select {
		case <-time.After(b.pause):
		case <-ctx.Done():
			return stream.Entry{}, context.Cause(ctx)
		}
		return b.Next(ctx)
	}
	b.all[0] = burst[1:]
	return stream.Entry{Data: []byte(burst[0])}, nil
}

func (b *bursts) Close()     {}
func (b *bursts) more() bool { return len(b.all) > 0 && len(b.all[0]) > 0 }

// TestMore: events that are there together are written together, one that is alone at once,
// and whatever the stream ends with comes after them.
func TestMore(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 6<<10)
	errRefused := errors.New("refused")
	for name, test := range map[string]struct {
		bursts [][]string
		end    error
		writes int
	}{
		"alone":            {[][]string{{"a"}, {"b"}, {"c"}}, io.EOF, 3},
		"together":         {[][]string{{"a", "b", "c"}, {"d"}}, io.EOF, 2},
		"no more than fit": {[][]string{{long, long, long, long, long, long}}, io.EOF, 2},
		"then refused":     {[][]string{{"a", "b", "refused"}}, errRefused, 1},
		"then broken":      {[][]string{{"a", "b"}}, ending.ErrBroken, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from, c, want := &bursts{all: test.bursts, pause: time.Second, end: test.end}, &client{}, ""
				for _, burst := range test.bursts {
					for _, data := range burst {
						if data != "refused" {
							want += fmt.Sprintf("data: %s\n\n", data)
						}
					}
				}
				r := relay.Relay{Limits: limits(), More: from.more}
				r.See = func(e stream.Entry, emit relay.Emit) error {
					if string(e.Data) == "refused" {
						return errRefused
					}
					return emit("", "", e.Data)
				}
				stats, err := r.Run(t.Context(), c, from)
				if end := test.end; !errors.Is(err, end) && !(errors.Is(end, io.EOF) && err == nil) {
					t.Errorf("it ends with %v, want %v", err, end)
				}
				if got := c.text(); got != want {
					t.Errorf("got %.200q, want %.200q", got, want)
				}
				if c.flushed() != test.writes {
					t.Errorf("%d writes, want %d", c.flushed(), test.writes)
				}
				if n := strings.Count(want, "data:"); stats.Events != int64(n) {
					t.Errorf("%d events are counted, want %d", stats.Events, n)
				}
			})
		})
	}
}

// TestMoreNeverComes: where another event was promised and does not come, those before it
// have come all the same.
func TestMoreNeverComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from, c := &bursts{all: [][]string{{"a"}, {}}, pause: time.Hour, end: io.EOF}, &client{}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		r := relay.Relay{Limits: limits(), See: same, More: func() bool { return true }}
		if _, err := r.Run(ctx, c, from); err == nil {
			t.Error("it ends well")
		}
		if got := c.text(); !strings.Contains(got, "data: a\n\n") {
			t.Errorf("got %q", got)
		}
	})
}
