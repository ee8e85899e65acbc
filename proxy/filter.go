package proxy

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// listFilter is what ListTasks asks for beside a context and a page
// (A2A 1.0 §3.1.4).
type listFilter struct {
	size      int       // of a page: 1 to 100, 50 unless told
	state     string    // 1.0 name; "" for all
	since     time.Time // status no older than this; zero for all
	history   int       // messages of history, 0 unless told
	artifacts bool
}

// wants reports whether a task passes.
func (f listFilter) wants(t *listed) bool {
	return (f.state == "" || f.state == t.state) && (f.since.IsZero() || !t.at.Before(f.since))
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
func readFilter(c *wire.Call, query url.Values) (listFilter, *wire.Error) {
	f := listFilter{size: usualTasks}
	given := givenIn(c, query)
	for name, set := range listFields {
		text, ok := given[name]
		if !ok {
			text, ok = given[snake(name)]
		}
		if ok && text != "" && !set(&f, text) {
			return f, wire.Errorf(wire.InvalidParams, "Invalid parameters: %s", name)
		}
	}
	return f, nil
}

// givenIn is what the call says, by the names that it has for it.
func givenIn(c *wire.Call, query url.Values) map[string]string {
	given := make(map[string]string)
	if c.Binding == wire.HTTPJSON {
		for name := range query {
			given[name] = query.Get(name)
		}
		return given
	}
	var members map[string]any
	if len(c.Params) == 0 || json.Unmarshal(jsonscan.Mend(c.Params), &members) != nil { // decoding has read them
		return given
	}
	for name, v := range members {
		if text, ok := scalar(v); ok {
			given[name] = text
		}
	}
	return given
}

// scalar is a JSON string, number or boolean as text: ProtoJSON takes numbers and
// enums in either form. null is absent.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

func snake(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r |= 0x20
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (f *listFilter) setSize(text string) (ok bool) {
	n, err := strconv.Atoi(text)
	if n == 0 && err == nil {
		return true // proto3's default is no size
	}
	f.size = n
	return err == nil && 1 <= n && n <= 100
}

func (f *listFilter) setState(text string) bool {
	state, ok := wire.State(text)
	if ok && state != "TASK_STATE_UNSPECIFIED" {
		f.state = state
	}
	return ok
}

func (f *listFilter) setHistory(text string) bool {
	n, err := strconv.Atoi(text)
	f.history = n
	return err == nil && n >= 0
}

func (f *listFilter) setSince(text string) (ok bool) {
	var err error
	f.since, err = time.Parse(time.RFC3339Nano, text)
	return err == nil
}

func (f *listFilter) setArtifacts(text string) (ok bool) {
	var err error
	f.artifacts, err = strconv.ParseBool(text)
	return err == nil
}
