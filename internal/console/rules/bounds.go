package rules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// replayLimit: a replay that would do more than admin.replay allows.
var replayLimit = api.Code{Name: "REPLAY_LIMIT", Status: http.StatusBadRequest}

// ReplayBounds are those of one replay. They come from admin.replay.
type ReplayBounds struct {
	Records int   // calls that are looked at; of more, the answer says that there are more
	Sample  int   // calls of each kind of change in the answer
	Bytes   int64 // of captured content that guards look at
}

// bounded are replays of one kind. They are made one at a time, since each reads much of the log, and works
// as long as it may. The bounds refuse instead of cutting short: an answer about a part of the calls would
// look like one about all of them. Who asks for a number of the newest gets just those.
type bounded struct {
	most ReplayBounds
	time time.Duration
	busy sync.Mutex // held while somebody replays calls
}

// begin says how much a replay of so many records, 0 for all, of a time may look at, and has others refused
// until it is done.
func (r *bounded) begin(asked int, since, until time.Time) (b ReplayBounds, done func(), _ error) {
	b = r.most
	switch {
	case asked < 0:
		return b, nil, api.QuestionInvalid{Member: "records", Err: errors.New("want a number from 1")}
	case asked > b.Records:
		return b, nil, replayLimit.Refuse(fmt.Sprintf("records: %d calls are more than %d (admin.replay.records)", asked, b.Records))
	case !until.IsZero() && !since.Before(until):
		return b, nil, api.QuestionInvalid{Member: "until", Err: errors.New("it ends before it begins")}
	case asked > 0:
		b.Records = asked
	}
	if !r.busy.TryLock() {
		return b, nil, api.Busy.Refuse("somebody replays calls already; that is done by one at a time")
	}
	return b, r.busy.Unlock, nil
}

// within makes a replay in the time that it may take, which is shorter than that of the answer, so that there
// is time to say what was too much. replay reports whether there are more calls than it may look at.
func (r *bounded) within(ctx context.Context, asked int, replay func(context.Context) (more bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, r.time)
	defer cancel()
	more, err := replay(ctx)
	switch {
	case errors.Is(err, ErrReplayBytes):
		return replayLimit.Refuse(fmt.Sprintf("more than %s was captured of these calls (admin.replay.bytes): ask for a shorter time, or for fewer records", quantity.Size(r.most.Bytes)))
	case err != nil && ctx.Err() != nil:
		return replayLimit.Refuse(fmt.Sprintf("%s were not enough to replay that (admin.replay.time): ask for a shorter time, or for fewer records", quantity.Duration(r.time)))
	case err == nil && more && asked == 0:
		return replayLimit.Refuse(fmt.Sprintf("there are more than %d calls (admin.replay.records): ask for a shorter time, or for so many of the newest", r.most.Records))
	}
	return err
}
