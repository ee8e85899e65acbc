package tasklist

import (
	"encoding/binary"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/proxy/approve"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Tasks that wait for approval are the gateway's own: no agent lists them. In a list that the gateway makes
// they stand where they belong by their time, in one that the agent makes behind its tasks: on the last
// page as far as it has room, or else on pages of their own.

// waiting are the caller's tasks on the agent that wait for approval, as far as the filter wants them.
func (li *Lister) waiting(x *exchange.Exchange, f listFilter) ([]cursors.Listed, error) {
	if li.Approvals == nil {
		return nil, nil
	}
	own, err := li.Approvals.Own(x.Ctx, x.Principal.Key())
	if err != nil {
		return nil, exchange.RetryLater("1", "what waits for approval cannot be known at the moment").Because(err)
	}
	var list []cursors.Listed
	for _, st := range own {
		if st.Agent != x.Agent.ID || st.Outcome.Task != "" || x.Call.ContextID != "" && x.Call.ContextID != st.Context {
			continue
		}
		doc, err := approve.TaskOf(x, st)
		if err != nil {
			return nil, err
		}
		t := cursors.Listed{State: approve.StateOf(st), TaskID: st.ID, At: st.Outcome.At}
		if err := json.Unmarshal(doc, &t); err != nil {
			return nil, err
		}
		if f.wants(&t) {
			list = append(list, t)
		}
	}
	return list, nil
}

// waitingFor is waiting for a list whose filter the agent reads.
func (li *Lister) waitingFor(x *exchange.Exchange) ([]cursors.Listed, error) {
	f, e := readFilter(&x.Call, x.Parameters())
	if e != nil {
		return nil, nil //nolint:nilerr // the agent has its own words for what is wrong
	}
	return li.waiting(x, f)
}

// listWaiting answers with a page of tasks that wait, where the call's token leads to one. done is false
// where it does not.
func (li *Lister) listWaiting(x *exchange.Exchange, waiting []cursors.Listed) (done bool, _ error) {
	plain, e := li.OpenPage(x, waitingList)
	if e != nil || plain == nil {
		return false, nil //nolint:nilerr // it is another list's, or nobody's
	}
	from, n := binary.Uvarint(plain)
	if n != len(plain) || from > 1<<20 {
		return true, cursors.BadPage()
	}
	given, size := cursors.GivenIn(&x.Call, x.Parameters()), usualTasks
	if text := given["pageSize"] + given["page_size"]; text != "" {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			size = min(n, mostTasks)
		}
	}
	begin := min(int(from), len(waiting)) //nolint:gosec // it is bounded above
	end := min(begin+size, len(waiting))
	count, err := li.count(x, li.Readable(x))
	if err != nil {
		return true, err
	}
	list := page{Tasks: waiting[begin:end], Size: size, Total: count.n + len(waiting)}
	if end < len(waiting) {
		list.Next = li.SealPage(x, waitingList, binary.AppendUvarint(nil, uint64(end))) //nolint:gosec // not negative
	}
	return true, li.showOwn(x, list)
}
