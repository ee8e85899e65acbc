package tasklist

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskpage"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ListPages has the agent list tasks, page by page, until the caller's page is full:
// as the agent counts other callers' tasks too, one page of its own may hold none of
// this caller's.
//
// An error of the agent's first answer is the caller's answer, shown like that of any call. One
// of a later page ends the call, although some entries are known: the page would lack tasks and
// not say so.
func (li *Lister) ListPages(ctx context.Context, x *exchange.Exchange) error {
	waiting, e := li.waitingFor(x)
	if e != nil {
		return e
	}
	if done, err := li.listWaiting(x, waiting); done {
		return err
	}
	ls, err := li.newListing(x)
	if err != nil {
		return err
	}
	base := x.Upstream
	if x.Upstream, err = ls.upstreamCall(base, x.Call.PageToken == ""); err != nil {
		return err
	}
	resp, err := li.SendCall(ctx, x)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // nothing is left to do with the answer
	body := buffers.New()
	defer x.GiveBack(body)
	a, err := li.Receive(x, x.Upstream, resp, body)
	if err != nil {
		return err
	}
	x.RecordActivation(resp) // trailers are there now
	x.Heard(&a)
	switch {
	case a.Failed != nil:
		return x.Failed(resp, a.Failed)
	case exchange.IsError(a.Seen):
		return li.ShowAnswer(ctx, x, resp, a, a.Seen)
	}
	if err := li.fill(ctx, x, ls, base, a.Doc, a.Seen); err != nil {
		return err
	}
	return li.showPage(ctx, x, ls, waiting, resp, a)
}

// newListing reads where the caller's page begins and how large it is to be. Its error is
// INVALID_PARAMS for a token that is not good here.
func (li *Lister) newListing(x *exchange.Exchange) (*listing, error) {
	plain, e := li.OpenPage(x, agentsList)
	if e != nil {
		return nil, e
	}
	ls := &listing{ids: map[string]bool{}, asked: map[string]bool{}, all: plain == nil, may: li.Readable(x)}
	if plain != nil {
		at, ok := readPlace(plain)
		if !ok {
			return nil, cursors.BadPage()
		}
		ls.at, ls.want = at, usualTasks
	}
	given := cursors.GivenIn(&x.Call, x.Parameters())
	if text := given["pageSize"] + given["page_size"]; text != "" {
		// A size that is out of bounds is for the agent to refuse.
		n, err := strconv.Atoi(text)
		if ls.want = min(n, mostTasks); err != nil || n < 1 {
			ls.want = usualTasks
		}
	}
	ls.size = ls.want
	return ls, nil
}

// fill takes the first page and asks for more, server.limits.listedPages in all.
//
// A page token longer than longestPage is refused, because it has to fit into the sealed one that
// the caller carries in a URL.
func (li *Lister) fill(ctx context.Context, x *exchange.Exchange, ls *listing, base *exchange.UpstreamCall, doc []byte, seen wire.Answer) error {
	for pages := 1; ; pages++ {
		page, err := taskpage.Read(x.Upstream.Binding, doc)
		switch {
		case err != nil:
			return err
		case len(page.Next) > longestPage:
			return wire.Errorf(wire.BadAgentResponse, "the agent's page token is longer than %d bytes", longestPage)
		}
		if err := li.gather(x, ls, &agentPage{page, doc, seen}); err != nil {
			return err
		}
		if err := li.enough(x, ls); err != nil {
			return err
		}
		if ls.done || pages >= li.Server.Limits.ListedPages {
			break
		}
		l, err := ls.upstreamCall(base, false)
		if err != nil {
			return err
		}
		if _, doc, seen, err = li.SendQuestion(ctx, x, l); err != nil {
			return err
		}
	}
	if !ls.done {
		ls.next = ls.at
	}
	return nil
}

// gather takes from a page what is the caller's, and settles what comes next.
//
// An entry is the caller's if the ledger says so and the rules let it be read. One that the list
// has already shown is passed over: agents whose list changes while it is read repeat entries at
// the seams. Where the bytes together would exceed server.limits.answer the page ends before this
// one.
func (li *Lister) gather(x *exchange.Exchange, ls *listing, page *agentPage) error {
	tasks := page.seen.Tasks
	owned, err := li.Ledger.Owns(x.Ctx, x.Principal, x.Agent.ID, x.Call.Method, tasks, ls.may)
	if err != nil {
		return err
	}
	if ls.first == nil {
		ls.begin(page)
	}
	from := 0
	if ls.at.after != "" {
		for i, t := range tasks { // the last of them, or an agent that repeats itself had no end
			if t.ID == ls.at.after {
				from = i + 1
			}
		}
	}
	li.WitnessList(x, x.Sent, tasks)
	var mine []int
	size := 0
	for i := from; i < len(tasks); i++ {
		if owned[i] && !ls.ids[tasks[i].ID] {
			mine, size = append(mine, i), size+tasks[i].Span[1]-tasks[i].Span[0]
		}
	}
	missing := ls.want - ls.shown
	over := len(mine) > missing
	switch {
	case over && page != ls.first && !ls.again && len(tasks) <= ls.size:
		// More were asked for than fit: asked exactly, the agent says what follows.
		ls.size, ls.again = mine[missing-1]+1, true
		return nil
	case page != ls.first && ls.bytes+size > int(li.Server.Limits.Answer):
		ls.next, ls.done = ls.at, true
		return nil
	case over:
		mine = mine[:missing]
	}
	ls.take(page, mine)
	ls.proceed(page, over, len(mine) == 0)
	return nil
}

// enough ends a list of which the caller has seen everything: what the agent has beyond
// that is others'.
//
// This is the usual end: most callers have fewer tasks than one page, and the ledger knows all of
// them, so that the agent need not be asked for the pages of others.
func (li *Lister) enough(x *exchange.Exchange, ls *listing) error {
	if ls.ended && ls.all {
		return nil
	}
	if ls.counts == nil {
		var err error
		if ls.counts, err = li.count(x, ls.may); err != nil {
			return err
		}
	}
	if ls.all && ls.counts.most && len(ls.ids) >= ls.counts.n {
		ls.ended, ls.done = true, true
	}
	return nil
}

// count says how many tasks of a list are the caller's to read. Where rules look at single
// tasks, so does this, at server.limits.listedTasks of them at most: what the caller may not
// read must not be counted either.
func (li *Lister) count(x *exchange.Exchange, may func(*state.Record) bool) (*count, error) {
	if may == nil {
		n, most, err := li.Ledger.Count(x.Ctx, x.Principal, x.Agent.ID, x.Call.ContextID)
		return &count{n, most}, err
	}
	limit := li.Server.Limits.ListedTasks
	records, err := li.Ledger.Tasks(x.Ctx, x.Principal, x.Agent.ID, x.Call.Method, x.Call.ContextID, limit, may)
	if errors.Is(err, ledger.ErrMany) {
		return new(count), nil
	}
	return &count{len(records), len(records) < limit}, err
}

// showPage gives the caller the page that has been put together.
//
// The edited document is judged anew, since the spans of its tasks have moved, and then takes the
// way of any answer; Filtered keeps it from being filtered a second time.
func (li *Lister) showPage(ctx context.Context, x *exchange.Exchange, ls *listing, waiting []cursors.Listed, resp *http.Response, a exchange.Received) error {
	edit := taskpage.Edit{Keep: ls.keep, More: ls.more, Size: ls.want, Total: ls.total() + len(waiting)}
	switch {
	case !ls.ended:
		edit.Next = li.SealPage(x, agentsList, ls.next.plain())
	case len(waiting) > ls.want-ls.shown:
		edit.Next = li.SealPage(x, waitingList, binary.AppendUvarint(nil, 0))
	default:
		for i := range waiting {
			entry, err := json.Marshal(waiting[i])
			if err != nil {
				return err
			}
			edit.More = append(edit.More, entry)
		}
	}
	doc, err := ls.first.Edit(a.Doc, ls.first.seen, edit)
	if err != nil {
		return err
	}
	if x.Upstream.Retell == nil && x.Upstream.Binding == wire.GRPC && !exchange.Same(a.Doc, doc) {
		if a.Bytes, err = wire.ResponseMessage(x.Call.Method, x.Call.Version, doc); err != nil {
			return wire.Errorf(wire.BadAgentResponse, "").Because(err)
		}
	}
	a.Doc, x.Filtered = doc, true
	seen, err := li.Judge(x.Upstream, doc)
	if err != nil {
		return err
	}
	return li.ShowAnswer(ctx, x, resp, a, seen)
}
