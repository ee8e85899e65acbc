// Package tasklist answers ListTasks with what the caller may read: it gathers pages from the
// agent and from the ledger until the caller's page is full.
//
// # The two lists
//
// ListTasks (A2A 1.0 §3.1.4) comes to this package in place of being forwarded, because no agent
// knows the gateway's callers: to it all of them are one client, and its list is everybody's.
//
//	the agent's version has ListTasks   ListPages   the agent's pages, less what is not the caller's
//	it has none (0.1, 0.3 JSON-RPC)     ListTasks   the ledger's records, and GetTask for each of them
//
// # Pages of an agent that can list
//
// The caller asks for 50 tasks, and the agent's first page of 50 may hold three of the caller's.
// More pages are asked for until the caller's page is full, the agent has no more, the ledger
// says that the caller has no more, or server.limits.listedPages is reached: then a page that is
// not full, with a token for the rest, is better than a call that takes minutes.
//
//	agent's pages    [o o c][o o o][c c o][…]     o: others', c: the caller's
//	caller's page    [c c c]  nextPageToken = seal("the page that begins with c c o, behind its second entry")
//
// The first page's envelope is kept and its entries edited, so that what the agent says beside
// the tasks, and how it writes them, reaches the caller as it came. Entries of further pages are
// put in as bytes. A page of which more entries are the caller's than fit is asked for once more
// in a smaller size, so that the agent's own token leads on exactly; otherwise the token says
// behind which entry of which page the next one begins.
//
// totalSize must not count the tasks of others, and is therefore the ledger's number of the
// caller's tasks, or the exact one where the whole list was read.
//
// # Tokens
//
// A page token is sealed (proxy/cursors) together with the caller, the agent and the filter: one
// that was given to somebody else, or for another filter, is INVALID_PARAMS, in the same words as
// one that was made up. Its first byte says which of the two lists it leads on in.
//
// # Rules
//
// Each entry shows what GetTask would show. It is left out where the rules would not let the
// caller get it, and counted by nobody. The filter of the request (status, timestamp, context) is
// the agent's to apply where it lists, and is applied here where it does not.
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
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Lister answers ListTasks: what an agent lists, less what is somebody else's, in pages of the
// gateway's.
type Lister struct {
	*cursors.Cursors
	*record.Recorder
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*forward.Forwarder

	Ledger    *ledger.Ledger
	Server    *server.Config
	Approvals *approvals.Store // calls that wait for approval, whose tasks are the gateway's own; nil where none does
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
//
// It refuses with Unsupported (-32004) where the caller has more tasks than
// server.limits.listedTasks: each of them is a call to the agent, and a list of a part would be
// taken for the whole. The order is that of A2A 1.0, by the last change and newest first, which
// needs every task before the first page can be cut.
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
	waiting, err := li.waiting(x, filter)
	if err != nil {
		return err
	}
	list, last := paginate(append(tasks, waiting...), filter.size, after)
	if last != nil {
		list.Next = li.SealPage(x, cursors.OwnList, last.Plain())
	}
	return li.showOwn(x, list)
}

// showOwn gives the caller a page that the gateway has made.
func (li *Lister) showOwn(x *exchange.Exchange, list page) error {
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

// governList does what GovernAnswer does for a list of the gateway's own making, which is in 1.0's
// words. Its tasks were stripped one by one.
//
// The list has no interface of its own, so that it passes as the answer of one that speaks 1.0
// over HTTP+JSON.
func (li *Lister) governList(x *exchange.Exchange, doc []byte) ([]byte, error) {
	at := *x.Endpoint
	at.Side = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	x.Upstream = &exchange.UpstreamCall{Endpoint: &at, Call: &x.Call}
	seen, err := li.Judge(x.Upstream, doc)
	if err != nil {
		return nil, err
	}
	if err := li.CheckDemands(x, seen, doc); err != nil {
		return nil, err
	}
	if doc, err = li.GovernAnswer(x, seen, doc); err != nil {
		return nil, err
	}
	return li.RestoreIDs(x, &seen, doc)
}

// atOnce is how many of an agent's tasks are asked for at the same time.
const atOnce = 8

// describeTasks asks the agent for each task and keeps those that the filter
// wants. A task that the agent has forgotten is none any more.
//
// Eight are asked for at a time, in goroutines that end before it returns. The first error stops
// the others: a list without the tasks that could not be fetched would look complete. Findings
// are settled afterwards, one by one, because the exchange is not for several goroutines.
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

// describeTask asks for one task and makes an entry of it in 1.0's words. It returns nil without
// an error for a task that the agent has forgotten. A panic in it becomes the exchange's error,
// as no recover but this one stands above the goroutine.
func (li *Lister) describeTask(
	ctx context.Context, x *exchange.Exchange, r state.Record, f listFilter,
) (_ *cursors.Listed, err error) {
	defer li.Contain(x, &err)
	var found exchange.Strays
	l, doc, seen, err := li.AskAboutTask(ctx, x, intake.Question(intake.GetTask, r.ID, &f.history))
	if err == nil {
		doc, found, err = li.StripTask(x, l, seen, doc)
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
//
// Total counts all that passed the filter. after is where the page before ended: tasks that have
// changed since then have moved to the front and are not repeated.
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
	agentsList  byte = 'a'
	waitingList byte = 'w' // the tasks that wait for approval, behind the agent's
)

// place is where a page of the agent's list begins.
type place struct {
	token string // the agent's; "" for the beginning
	after string // id of a task on that page which has been shown, and those before it; "" for none
}

// longestPage bounds what an agent may have in a page token, so that callers can carry it.
const longestPage = 4096

// plain is the place as bytes: the length of the agent's token, the token, and the id behind it.
func (pl place) plain() []byte {
	return append(append(binary.AppendUvarint(nil, uint64(len(pl.token))), pl.token...), pl.after...)
}

// readPlace is the inverse of plain; false for bytes that it did not make.
func readPlace(plain []byte) (place, bool) {
	n, head := binary.Uvarint(plain)
	if head <= 0 || n > uint64(len(plain)-head) { //nolint:gosec // never below zero
		return place{}, false
	}
	rest := plain[head:]
	return place{token: string(rest[:n]), after: string(rest[n:])}, true
}

// holders are the instances that tasks were first seen at.
//
// GetTask for each is then sent to the instance that has the task, where an agent has several.
func holders(records []state.Record) map[string]string {
	m := make(map[string]string, len(records))
	for _, r := range records {
		m[r.ID] = r.Endpoint
	}
	return m
}
