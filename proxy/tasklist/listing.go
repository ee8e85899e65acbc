package tasklist

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskpage"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// Pages of ListTasks (A2A 1.0 §3.1.4): at most so many tasks, and so many where nobody
// says.
const (
	mostTasks  = 100
	usualTasks = 50
)

// listing is one page for the caller, being put together from pages of the agent's, in
// which the tasks of other callers stand as well.
//
// It lives for one call and is used by one goroutine. The spans of entries point into the
// documents of the agent's pages, which are therefore kept until the page is written; their sum
// is bounded by server.limits.answer.
type listing struct {
	want int                      // tasks for the caller; 0 until the agent's first page says how many it gives
	size int                      // tasks to ask the agent for next
	at   place                    // and where
	all  bool                     // the caller has asked for the beginning, so that everything is seen
	may  func(*state.Record) bool // whether the rules let the caller read a task; nil for all

	first *agentPage // whose envelope the caller gets
	keep  []bool     // which of its entries stay
	more  [][]byte   // entries of the others
	ids   map[string]bool
	shown int    // entries so far
	last  string // id of the last
	bytes int    // of all entries

	asked  map[string]bool // tokens that the agent was asked with
	again  bool            // the page at hand is asked for once more
	done   bool            // next says where the caller's next page begins
	ended  bool            // or that there is none
	next   place
	counts *count
}

// count is how many tasks the gateway knows as the caller's.
type count struct {
	n    int
	most bool // the caller cannot have more
}

// agentPage is one answer of the agent's.
type agentPage struct {
	*taskpage.Page
	doc  []byte
	seen wire.Answer
}

// upstreamCall asks for the next page. asIs leaves the caller's words: they ask for the first.
//
// The first question goes out in the caller's own bytes where the caller begins the list, so that
// an agent's filters of its own are kept. For later pages pageSize and pageToken alone are
// changed in them: in the query, in the protobuf message, or in the params.
func (ls *listing) upstreamCall(base *exchange.UpstreamCall, asIs bool) (*exchange.UpstreamCall, error) {
	ls.asked[ls.at.token] = true
	if asIs {
		return base, nil
	}
	l := *base
	var err error
	switch l.Binding {
	case wire.HTTPJSON:
		l.Query = setQuery(setQuery(l.Query, "pageSize", strconv.Itoa(ls.size)), "pageToken", ls.at.token)
	case wire.GRPC:
		var message []byte
		if message, err = intake.OnlyMessage(l.Body, len(l.Body)); err == nil {
			message, err = taskpage.SetRPC(l.Call.Method, l.Version, message, ls.size, ls.at.token)
		}
		l.Body, l.Holder = grpcframe.Append(nil, message), nil
	default:
		l.Body, err = taskpage.Set(l.Body, ls.size, ls.at.token)
		l.Holder = nil
	}
	if err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "").Because(err)
	}
	return &l, nil
}

// begin takes the first page for the one that is edited. Where the caller named no size, the
// agent's own is taken over.
func (ls *listing) begin(page *agentPage) {
	ls.first, ls.keep = page, make([]bool, len(page.seen.Tasks))
	if ls.want == 0 {
		if ls.want = page.Size; ls.want < 1 || ls.want > mostTasks {
			ls.want = usualTasks
		}
		ls.size = ls.want
	}
}

// take keeps entries of a page.
//
// Of the first page they are marked to stay, of later ones their bytes are kept.
func (ls *listing) take(page *agentPage, mine []int) {
	for _, i := range mine {
		t := page.seen.Tasks[i]
		ls.ids[t.ID], ls.last = true, t.ID
		ls.shown++
		ls.bytes += t.Span[1] - t.Span[0]
		if page == ls.first {
			ls.keep[i] = true
		} else {
			ls.more = append(ls.more, page.doc[t.Span[0]:t.Span[1]])
		}
	}
}

// proceed settles what comes behind a page. An agent whose token leads back has nothing
// more to say.
//
// over: the page had more of the caller's than there was room for. barren: it had none. After a
// barren page the size doubles up to 100, as a caller with few tasks among many would otherwise
// wait for fifty small pages.
func (ls *listing) proceed(page *agentPage, over, barren bool) {
	switch {
	case over:
		ls.next, ls.done = place{ls.at.token, ls.last}, true
	case page.Next == "" || ls.asked[page.Next]:
		ls.ended, ls.done = true, true
	case ls.shown >= ls.want:
		ls.next, ls.done = place{token: page.Next}, true
	default:
		ls.at, ls.again = place{token: page.Next}, false
		missing := ls.want - ls.shown
		if ls.size = max(ls.size, missing); !barren {
			ls.size = missing
		} else if ls.size *= 2; ls.size > mostTasks { // not to crawl through what is others'
			ls.size = mostTasks
		}
	}
}

// total is how many tasks the list has, all pages together: exactly, if all of it was
// read, and else how many the caller has. What the agent says counts others' as well.
func (ls *listing) total() int {
	if ls.ended && ls.all {
		return len(ls.ids)
	}
	return max(ls.counts.n, len(ls.ids))
}

// setQuery gives a parameter one value, whichever spelling of its name was there.
//
// An empty value takes the parameter out. All others stay as they were written, in their order.
func setQuery(raw, name, value string) string {
	pairs := strings.Split(raw, "&")
	pairs = slices.DeleteFunc(pairs, func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(key)
		return pair == "" || err == nil && (key == name || key == cursors.Snake(name))
	})
	if value != "" {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
	}
	return strings.Join(pairs, "&")
}
