package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// lister answers ListTasks: what an agent lists, less what is somebody else's, in pages of the gateway's.
type lister struct {
	*cursors
	*recorder
	*decoder
	*owners
	*inspector
	*forwarder

	Ledger *ledger.Ledger
	Server *server.Config
}

// listed is one task of a list: the members of a 1.0 Task.
type listed struct {
	ID        jsontext.Value `json:"id,omitzero"`
	ContextID jsontext.Value `json:"contextId,omitzero"`
	Status    jsontext.Value `json:"status,omitzero"`
	Artifacts jsontext.Value `json:"artifacts,omitzero"`
	History   jsontext.Value `json:"history,omitzero"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`

	state  string
	at     time.Time // of the status, else of the first sight of the task
	id     string
	strays exchange.Strays
}

// page is the result of ListTasks (A2A 1.0 §3.1.4).
type page struct {
	Tasks []listed `json:"tasks"`
	Next  string   `json:"nextPageToken"`
	Size  int      `json:"pageSize"`
	Total int      `json:"totalSize"`
}

// listTasks answers ListTasks for an agent whose version has no such method, from
// the gateway's record of the caller's tasks and the agent's word on each.
func (li *lister) listTasks(ctx context.Context, x *exchange.Exchange) error {
	filter, e := readFilter(&x.Call, x.Parameters())
	if e != nil {
		return e
	}
	after, e := li.readCursor(x)
	if e != nil {
		return e
	}
	most := li.Server.Limits.ListedTasks
	records, err := li.Ledger.Tasks(x.Ctx, x.Principal, x.Agent.ID, x.Call.Method, x.Call.ContextID, most+1, li.readable(x))
	switch {
	case errors.Is(err, ledger.ErrMany), len(records) > most:
		return wire.Errorf(wire.Unsupported, "the agent cannot list tasks, and these are more than "+
			"server.limits.listedTasks (%d); ask for those of one context", most).Because(err)
	case err != nil:
		return err
	}
	x.Holders = holders(records)
	li.watch(x) // once, and not by each of those who ask
	tasks, err := li.describeTasks(ctx, x, records, filter)
	if err != nil {
		return err
	}
	list, last := paginate(tasks, filter.size, after)
	if last != nil {
		list.Next = li.sealPage(x, ownList, last.plain())
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
func (li *lister) governList(x *exchange.Exchange, doc []byte) ([]byte, error) {
	at := *x.Endpoint
	at.Side = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	x.Upstream = &exchange.UpstreamCall{Endpoint: &at, Call: &x.Call}
	seen, err := li.judge(x.Upstream, doc)
	if err != nil {
		return nil, err
	}
	if err := li.demands(x, seen, doc); err != nil {
		return nil, err
	}
	if doc, err = li.govern(x, seen, doc); err != nil {
		return nil, err
	}
	return li.restore(x, &seen, doc)
}

// atOnce is how many of an agent's tasks are asked for at the same time.
const atOnce = 8

// describeTasks asks the agent for each task and keeps those that the filter
// wants. A task that the agent has forgotten is none any more.
func (li *lister) describeTasks(
	ctx context.Context, x *exchange.Exchange, records []state.Record, f listFilter,
) ([]listed, error) {
	since := time.Now()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	found := make([]*listed, len(records))
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
	tasks := make([]listed, 0, len(found))
	for _, t := range found {
		if t == nil || !f.wants(t) {
			continue
		}
		li.witnessList(x, since, []wire.TaskRef{{ID: t.id, State: t.state}})
		if err := x.Settle(t.strays, true); err != nil {
			return nil, err
		}
		tasks = append(tasks, *t)
	}
	return tasks, nil
}

func (li *lister) describeTask(
	ctx context.Context, x *exchange.Exchange, r state.Record, f listFilter,
) (_ *listed, err error) {
	defer li.contain(x, &err)
	var found exchange.Strays
	l, doc, seen, err := li.ask(ctx, x, question(getTask, r.ID, &f.history))
	if err == nil {
		doc, found, err = li.strip(x, l, seen, doc)
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
	t := &listed{state: seen.State, id: r.ID, strays: found}
	if err := json.Unmarshal(doc, t); err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	if _, t.at = statusOf(doc); t.at.IsZero() {
		t.at = r.Created
	}
	if !f.artifacts {
		t.Artifacts = nil
	}
	return t, nil
}

// cursor is where a page ended: the order of a list is that of its tasks' last
// change, newest first, and of their ids where that is the same.
type cursor struct {
	at time.Time
	id string
}

func (c cursor) compare(t listed) int {
	return cmp.Or(c.at.Compare(t.at), strings.Compare(t.id, c.id))
}

// readCursor reads where the page begins that the call asks for; nil for the beginning.
func (cu *cursors) readCursor(x *exchange.Exchange) (*cursor, *wire.Error) {
	plain, e := cu.openPage(x, ownList)
	if e != nil || plain == nil {
		return nil, e
	}
	when, id, ok := strings.Cut(string(plain), " ")
	at, err := time.Parse(time.RFC3339Nano, when)
	if err != nil || !ok {
		return nil, badPage()
	}
	return &cursor{at, id}, nil
}

func (c cursor) plain() []byte {
	return []byte(c.at.UTC().Format(time.RFC3339Nano) + " " + c.id)
}

// paginate sorts tasks and cuts one page out of them. last is where it ends, nil when
// nothing follows.
func paginate(tasks []listed, size int, after *cursor) (out page, last *cursor) {
	slices.SortFunc(tasks, func(a, b listed) int {
		return cmp.Or(b.at.Compare(a.at), strings.Compare(a.id, b.id))
	})
	out = page{Size: size, Total: len(tasks)}
	rest := tasks
	if after != nil {
		first := slices.IndexFunc(tasks, func(t listed) bool { return after.compare(t) > 0 })
		if first < 0 {
			first = len(tasks)
		}
		rest = tasks[first:]
	}
	out.Tasks = rest[:min(size, len(rest))]
	if len(rest) > size {
		last = &cursor{rest[size-1].at, rest[size-1].id}
	}
	return out, last
}
