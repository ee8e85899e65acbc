package authdemand

import (
	"bytes"
	"math"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// Demand is what a task says that waits for authorization (A2A 1.0 §7.6), or for input
// that is one. A2A gives it no shape: agents put it into data parts, metadata or plain
// text of the status message.
type Demand struct {
	// State is TASK_STATE_AUTH_REQUIRED or TASK_STATE_INPUT_REQUIRED.
	State string
	// Task and Context are the task's ids.
	Task, Context string
	// Audiences and Scopes are what members of these or like names say: audience, aud,
	// resource; scope, scopes, required_scopes. Each once, in the order of appearance;
	// the first 32 and 64.
	Audiences, Scopes []string
	// Links are the absolute URLs with an authority that stand anywhere in the message,
	// each once; the first 64. A link in words ends where Markdown and punctuation end it. Where
	// readers could take different hosts from one text there is a link for each, or one
	// with a host that is none.
	Links []string
	// Cut says that there are more links than the first 64, or one with a host longer than
	// any: not all of them are here.
	Cut bool
}

// States that a demand is made in.
const (
	authRequired  = "TASK_STATE_AUTH_REQUIRED"
	inputRequired = "TASK_STATE_INPUT_REQUIRED"
)

// Read reads the demand of an answer or event, which ReadAnswer has found well
// formed, in whatever version and binding it is. The result is false for one that shows
// no such task: another state, or input that has nothing to do with authorization.
//
// Where an answer could be read as one thing or another, by its version and binding,
// it is read as all of them: what one client would take for a demand is one.
func Read(body []byte) (Demand, bool) {
	if !mayDemand(body) {
		return Demand{}, false
	}
	body = jsonscan.Mend(body)
	r := demandReader{s: wire.NewScanner(body, wire.Limits{Depth: 10_000, Members: math.MaxInt32})}
	if r.s.Kind() == '{' {
		r.object(atRoot, false)
	} else {
		r.s.Skip()
	}
	broken := wire.Finish(r.s) != nil
	r.s.Release()
	if broken {
		return Demand{}, false
	}
	return r.demand(body)
}

// mayDemand finds out cheaply that an answer has no state that matters, which is so
// for nearly all of them: it goes from colon to colon, of which there are fewest.
// Names can hide behind escapes, and states behind numbers.
func mayDemand(body []byte) bool {
	for at := 0; ; at++ {
		next := bytes.IndexByte(body[at:], ':')
		if next < 0 {
			break
		}
		if at += next; endsInState(body[:at]) && mayWait(body[at+1:]) {
			return true
		}
	}
	for rest := body; ; {
		at := bytes.Index(rest, []byte(`\u00`))
		if at < 0 || len(rest) <= at+4 {
			return false
		}
		if rest = rest[at+4:]; '2' <= rest[0] && rest[0] <= '7' { // ASCII that needs no escape
			return true
		}
	}
}

// endsInState reports whether what stands before a colon is the name of a state.
func endsInState(b []byte) bool {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return bytes.HasSuffix(b, []byte(`"state"`))
}

// mayWait reports whether what follows the colon may be a state of a demand.
func mayWait(b []byte) bool {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	if len(b) == 0 || b[0] != '"' {
		return len(b) > 0 && (b[0] == '-' || '0' <= b[0] && b[0] <= '9')
	}
	word, _, _ := bytes.Cut(b[1:], []byte{'"'})
	state, _ := taskstate.Parse(string(word[:min(len(word), 32)])) // no state is longer
	return waits(state)
}

// isSpace knows the white space of JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// waits reports whether a task in this state may demand an authorization. What waits for input may
// do so too: agents of 0.1, and those of later versions that were written after them.
func waits(state string) bool { return state == authRequired || state == inputRequired }

// place is where an object stands that may be a task or an update.
type place int

const (
	atRoot   place = iota // of the document: of JSON-RPC, or the answer itself
	inResult              // of JSON-RPC
	wrapped               // in a member that names what it is
)

// demandReader finds the objects of an answer that have a status which waits.
type demandReader struct {
	s     *jsonscan.Scanner
	rpc   bool // the document says that it is JSON-RPC
	found []waiting
}

// waiting is one such object.
type waiting struct {
	state             string
	isTask            bool
	id, task, context string
	status            [2]int   // where its status stands
	metadata          [][2]int // where its metadata stands: at most one place
	result            bool     // it is in a result, which counts on JSON-RPC only
}

// object reads the object that comes next.
func (r *demandReader) object(at place, result bool) {
	w := waiting{result: result}
	s := r.s
	for s.Enter(); s.More(); {
		name, object := string(s.Name()), s.Kind() == '{'
		switch {
		case object && at == atRoot && name == "result":
			r.object(inResult, true)
		case object && at != wrapped && wraps(name):
			r.object(wrapped, result)
		case object && name == "status":
			r.status(&w)
		case object && name == "metadata":
			start, end := s.Skip()
			w.metadata = append(w.metadata, [2]int{start, end})
		case at == atRoot && name == "jsonrpc":
			r.rpc = true
			s.Skip()
		case s.Kind() == '"':
			w.word(name, s.Text())
		default:
			s.Skip()
		}
	}
	if waits(w.state) {
		r.found = append(r.found, w)
	}
}

// wraps reports whether a member of that name can hold a task or an update.
func wraps(name string) bool {
	switch name {
	case "task", "message", "msg", "statusUpdate", "status_update", "artifactUpdate", "artifact_update":
		return true
	}
	return false
}

// word takes a member that is a string.
func (w *waiting) word(name string, text []byte) {
	switch name {
	case "kind":
		w.isTask = string(text) == "task"
	case "id":
		w.id = string(text)
	case "taskId", "task_id":
		w.task = string(text)
	case "contextId", "context_id":
		w.context = string(text)
	case "sessionId": // 0.1's name of it
		if w.context == "" {
			w.context = string(text)
		}
	}
}

// status reads the state of a status and where the status stands. What it demands is collected
// only once the whole answer is known to be one.
func (r *demandReader) status(w *waiting) {
	s := r.s
	w.status[0] = s.Pos // kind stands on the brace
	for s.Enter(); s.More(); {
		if string(s.Name()) == "state" {
			w.state = wire.ReadState(s)
		} else {
			s.Skip()
		}
	}
	w.status[1] = s.Pos
}

// demand puts together what was found: the answer is one thing, so in all but
// malicious answers there is one.
func (r *demandReader) demand(body []byte) (Demand, bool) {
	found := slices.DeleteFunc(r.found, func(w waiting) bool { return w.result && !r.rpc })
	if len(found) == 0 {
		return Demand{}, false
	}
	first := found[0]
	if i := slices.IndexFunc(found, func(w waiting) bool { return w.state == authRequired }); i >= 0 {
		first = found[i]
	}
	c := collector{d: Demand{State: first.state, Task: first.task, Context: first.context}}
	if first.task == "" || first.isTask {
		c.d.Task = first.id
	}
	for _, w := range found {
		c.collect(body[w.status[0]:w.status[1]], 0)
		for _, span := range w.metadata {
			c.collect(body[span[0]:span[1]], inMetadata)
		}
	}
	if first.state == inputRequired && !c.authorization {
		return Demand{}, false
	}
	c.d.Links, c.d.Cut = c.links.list, c.links.cut
	return c.d, true
}
