// Package tasklist answers ListTasks with what the caller may read: it gathers pages from the
// agent and from the ledger until the caller's page is full.
package tasklist

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Lister answers ListTasks: what an agent lists, less what is somebody else's, in pages of the gateway's.
type Lister struct {
	*cursors.Cursors
	*record.Recorder
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*forward.Forwarder

	Ledger *ledger.Ledger
	Server *server.Config
}

// page is the result of ListTasks (A2A 1.0 §3.1.4).
type page struct {
	Tasks []cursors.Listed `json:"tasks"`
	Next  string           `json:"nextPageToken"`
	Size  int              `json:"pageSize"`
	Total int              `json:"totalSize"`
}

// ListTasks answers ListTasks for an agent whose version has no such method, from
// the gateway's record of the caller's tasks and the agent's word on each.
func (li *Lister) ListTasks(ctx context.Context, x *exchange.Exchange) error {
	filter, e := readFilter(&x.Call, x.Parameters())
	if e != nil {
		return e
	}
	after, e := li.ReadCursor(x)
	if e != nil {
		return e
	}
	most := li.Server.Limits.ListedTasks
	records, err := li.Ledger.Tasks(x.Ctx, x.Principal, x.Agent.ID, x.Call.Method, x.Call.ContextID, most+1, li.Readable(x))
	switch {
	case errors.Is(err, ledger.ErrMany), len(records) > most:
		return wire.Errorf(wire.Unsupported, "the agent cannot list tasks, and these are more than "+
			"server.limits.listedTasks (%d); ask for those of one context", most).Because(err)
	case err != nil:
		return err
	}
	x.Holders = holders(records)
	li.Watch(x) // once, and not by each of those who ask
	tasks, err := li.describeTasks(ctx, x, records, filter)
	if err != nil {
		return err
	}
	list, last := paginate(tasks, filter.size, after)
	if last != nil {
		list.Next = li.SealPage(x, cursors.OwnList, last.Plain())
	}
	doc, err := json.Marshal(list)
	if err != nil {
		return err
	}
	x.Rec.UpstreamStatus = http.StatusOK
	if doc, err = li.governList(x, doc); err != nil {
		return err
	}
	out, err := (&translate.Retelling{
		From: wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, Call: &x.Call,
	}).Answer(nil, doc)
	if err != nil {
		return err
	}
	x.Stamp()
	x.Write(out)
	return nil
}

// governList is govern for a list of the gateway's own making, which is in 1.0's
// words. Its tasks were stripped one by one.
func (li *Lister) governList(x *exchange.Exchange, doc []byte) ([]byte, error) {
	at := *x.Endpoint
	at.Side = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	x.Upstream = &exchange.UpstreamCall{Endpoint: &at, Call: &x.Call}
	seen, err := li.Judge(x.Upstream, doc)
	if err != nil {
		return nil, err
	}
	if err := li.Demands(x, seen, doc); err != nil {
		return nil, err
	}
	if doc, err = li.Govern(x, seen, doc); err != nil {
		return nil, err
	}
	return li.Restore(x, &seen, doc)
}

// atOnce is how many of an agent's tasks are asked for at the same time.
const atOnce = 8

// describeTasks asks the agent for each task and keeps those that the filter
// wants. A task that the agent has forgotten is none any more.
func (li *Lister) describeTasks(
	ctx context.Context, x *exchange.Exchange, records []state.Record, f listFilter,
) ([]cursors.Listed, error) {
	since := time.Now()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	found := make([]*cursors.Listed, len(records))
	var wait sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i, r := range records {
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			task, err := li.describeTask(ctx, x, r, f)
			if err != nil {
				stop(err)
			}
			found[i] = task
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	tasks := make([]cursors.Listed, 0, len(found))
	for _, t := range found {
		if t == nil || !f.wants(t) {
			continue
		}
		li.WitnessList(x, since, []wire.TaskRef{{ID: t.TaskID, State: t.State}})
		if err := x.Settle(t.Strays, true); err != nil {
			return nil, err
		}
		tasks = append(tasks, *t)
	}
	return tasks, nil
}

func (li *Lister) describeTask(
	ctx context.Context, x *exchange.Exchange, r state.Record, f listFilter,
) (_ *cursors.Listed, err error) {
	defer li.Contain(x, &err)
	var found exchange.Strays
	l, doc, seen, err := li.Ask(ctx, x, intake.Question(intake.GetTask, r.ID, &f.history))
	if err == nil {
		doc, found, err = li.Strip(x, l, seen, doc)
	}
	var e *wire.Error
	if errors.As(err, &e) && e.Kind == wire.TaskNotFound {
		return nil, nil //nolint:nilnil // no task and no error: it is gone
	}
	if err != nil {
		return nil, err
	}
	if doc, err = l.Retell.Answer(nil, doc); err != nil {
		return nil, exchange.Retelling(err)
	}
	t := &cursors.Listed{State: seen.State, TaskID: r.ID, Strays: found}
	if err := json.Unmarshal(doc, t); err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	if _, t.At = ownership.StatusOf(doc); t.At.IsZero() {
		t.At = r.Created
	}
	if !f.artifacts {
		t.Artifacts = nil
	}
	return t, nil
}

// paginate sorts tasks and cuts one page out of them. last is where it ends, nil when
// nothing follows.
func paginate(tasks []cursors.Listed, size int, after *cursors.Cursor) (out page, last *cursors.Cursor) {
	slices.SortFunc(tasks, func(a, b cursors.Listed) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.TaskID, b.TaskID))
	})
	out = page{Size: size, Total: len(tasks)}
	rest := tasks
	if after != nil {
		first := slices.IndexFunc(tasks, func(t cursors.Listed) bool { return after.Compare(t) > 0 })
		if first < 0 {
			first = len(tasks)
		}
		rest = tasks[first:]
	}
	out.Tasks = rest[:min(size, len(rest))]
	if len(rest) > size {
		last = &cursors.Cursor{At: rest[size-1].At, ID: rest[size-1].TaskID}
	}
	return out, last
}

// A page token leads on in the agent's own list, or in the one that the gateway makes.
// Those of ListTaskPushNotificationConfigs stay the agent's: they belong to one task,
// which is checked with every call.
const (
	agentsList byte = 'a'
)

// place is where a page of the agent's list begins.
type place struct {
	token string // the agent's; "" for the beginning
	after string // id of a task on that page which has been shown, and those before it; "" for none
}

// longestPage bounds what an agent may have in a page token, so that callers can carry it.
const longestPage = 4096

func (pl place) plain() []byte {
	return append(append(binary.AppendUvarint(nil, uint64(len(pl.token))), pl.token...), pl.after...)
}

func readPlace(plain []byte) (place, bool) {
	n, head := binary.Uvarint(plain)
	if head <= 0 || n > uint64(len(plain)-head) { //nolint:gosec // never below zero
		return place{}, false
	}
	rest := plain[head:]
	return place{token: string(rest[:n]), after: string(rest[n:])}, true
}

// holders are the instances that tasks were first seen at.
func holders(records []state.Record) map[string]string {
	m := make(map[string]string, len(records))
	for _, r := range records {
		m[r.ID] = r.Endpoint
	}
	return m
}
