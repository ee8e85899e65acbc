package rules

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// ErrReplayBytes is the error of Policy.ReplayGuards where more was captured than it may look at.
var ErrReplayBytes = errors.New("more content was captured than a replay looks at")

// contentOff: admin.content is false.
var contentOff = api.Code{Name: "CONTENT_OFF", Status: http.StatusForbidden}

// guardReplays has guards look at captured content.
type guardReplays struct {
	policy Policy
	shown  bool // admin.content
	bounded
}

// GuardReplayScreen tries guards on what was captured of calls. Who writes the guards can learn what the content is by
// what they find: it takes what showing the content takes, admin.content and a record of who did it.
func GuardReplayScreen(policy Policy, most ReplayBounds, time time.Duration, shown bool) api.Screen {
	s := &guardReplays{policy: policy, shown: shown, bounded: bounded{most: most, time: time}}
	return api.Screen{
		Title: "Replay of captured content",
		Operations: []api.Operation{{
			Method: http.MethodPost, Path: "/api/v1/guards/replay", ID: "replay-guards", Tag: "policy", Role: api.Operator,
			Summary: "Find recorded calls with captured content that other guards would treat differently, if admin.content is true. The gateway first records who asks; it asks no service",
			In:      reflect.TypeFor[verdict.GuardDraft](), Out: reflect.TypeFor[verdict.GuardReplay](),
			Errors: []api.Code{api.InvalidQuestion, invalidDraft, replayLimit, contentOff, api.Unrecorded, api.Busy}, Answer: s.replay,
		}},
	}
}

func (s *guardReplays) replay(c *api.Call) (any, error) {
	if !s.shown {
		return nil, contentOff.Refuse("admin.content is false: set it to true to have guards look at what was captured, or use a2a-gateway guards replay")
	}
	var d verdict.GuardDraft
	if err := c.Decode(&d, api.InvalidQuestion); err != nil {
		return nil, err
	}
	b, done, err := s.begin(d.Records, d.Since, d.Until)
	if err != nil {
		return nil, err
	}
	defer done()
	attrs := map[string]string{}
	for name, at := range map[string]time.Time{"since": d.Since, "until": d.Until} {
		if !at.IsZero() {
			attrs[name] = at.UTC().Format(time.RFC3339)
		}
	}
	if d.Records > 0 {
		attrs["records"] = strconv.Itoa(d.Records)
	}
	var answer *verdict.GuardReplay
	err = c.Change("content.replayed", attrs, nil, func(ctx context.Context) (bool, error) {
		return true, s.within(ctx, d.Records, func(ctx context.Context) (more bool, err error) {
			if answer, err = s.policy.ReplayGuards(ctx, &d, b); err != nil {
				return false, err
			}
			return answer.More, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}
