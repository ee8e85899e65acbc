package tasklist

import (
	"net/url"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
)

// listFilter is what ListTasks asks for beside a context and a page
// (A2A 1.0 §3.1.4).
//
// Only the list that the gateway makes itself needs it; agents that list read the request
// themselves.
type listFilter struct {
	size      int       // of a page: 1 to 100, 50 unless told
	state     string    // 1.0 name; "" for all
	since     time.Time // status no older than this; zero for all
	history   int       // messages of history, 0 unless told
	artifacts bool
}

// wants reports whether a task passes.
func (f listFilter) wants(t *cursors.Listed) bool {
	return (f.state == "" || f.state == t.State) && (f.since.IsZero() || !t.At.Before(f.since))
}

// listFields are the members of the request and how each is taken over.
// lastUpdatedAfter is a2a-go's word for statusTimestampAfter.
var listFields = map[string]func(*listFilter, string) bool{
	"pageSize":             (*listFilter).setSize,
	"status":               (*listFilter).setState,
	"historyLength":        (*listFilter).setHistory,
	"statusTimestampAfter": (*listFilter).setSince,
	"lastUpdatedAfter":     (*listFilter).setSince,
	"includeArtifacts":     (*listFilter).setArtifacts,
}

// readFilter takes the filter from params or query, whichever the call has.
//
// An unknown member is passed over, as ProtoJSON parsers of the SDKs do. A known one that cannot
// be read is INVALID_PARAMS with its name. An empty text is the same as none, which is what query
// strings make of unset fields.
func readFilter(c *wire.Call, query url.Values) (listFilter, *wire.Error) {
	f := listFilter{size: usualTasks}
	given := cursors.GivenIn(c, query)
	for name, set := range listFields {
		text, ok := given[name]
		if !ok {
			text, ok = given[cursors.Snake(name)]
		}
		if ok && text != "" && !set(&f, text) {
			return f, wire.Errorf(wire.InvalidParams, "Invalid parameters: %s", name)
		}
	}
	return f, nil
}

// setSize takes 1 to 100, the bounds of A2A 1.0 §3.1.4. 0 is proto3's way to leave it out.
func (f *listFilter) setSize(text string) (ok bool) {
	n, err := strconv.Atoi(text)
	if n == 0 && err == nil {
		return true // proto3's default is no size
	}
	f.size = n
	return err == nil && 1 <= n && n <= 100
}

// setState takes a state by any name that a version has for it; UNSPECIFIED is no filter.
func (f *listFilter) setState(text string) bool {
	state, ok := taskstate.Parse(text)
	if ok && state != "TASK_STATE_UNSPECIFIED" {
		f.state = state
	}
	return ok
}

// setHistory takes how many messages of the history each task is to have.
func (f *listFilter) setHistory(text string) bool {
	n, err := strconv.Atoi(text)
	f.history = n
	return err == nil && n >= 0
}

// setSince takes an RFC 3339 timestamp.
func (f *listFilter) setSince(text string) (ok bool) {
	var err error
	f.since, err = time.Parse(time.RFC3339Nano, text)
	return err == nil
}

// setArtifacts takes "true", "false" and what ParseBool takes besides, as query strings have "1".
func (f *listFilter) setArtifacts(text string) (ok bool) {
	var err error
	f.artifacts, err = strconv.ParseBool(text)
	return err == nil
}
