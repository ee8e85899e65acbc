package proxy

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var listConfigs = method("ListTaskPushNotificationConfigs")

// morePages bounds what one list of push notification configs may take.
const morePages = 100

// configPage is the result of ListTaskPushNotificationConfigs (A2A 1.0 §3.1.9).
type configPage struct {
	Configs []jsontext.Value `json:"configs"`
	Next    string           `json:"nextPageToken"`
}

// pages reports whether a side has pages of push notification configs: 0.1 and
// JSON-RPC of 0.3 have not.
func pages(s wire.Side) bool {
	return s.Version == wire.V10 || s.Version == wire.V03 && s.Binding != wire.JSONRPC
}

// allConfigs completes the first page of a task's push notification configs, for a
// caller who takes what it gets for all there is.
func (fw *forwarder) allConfigs(ctx context.Context, x *exchange, doc []byte) ([]byte, error) {
	if x.upstream.call.Method != listConfigs || pages(x.side()) || !pages(x.upstream.Side) {
		return doc, nil
	}
	all, err := readPage(x.upstream, doc)
	if err != nil || all.Next == "" {
		return doc, err
	}
	for n := 1; all.Next != ""; n++ {
		if n == morePages {
			return nil, wire.Errorf(wire.BadAgentResponse, "the list of push notification configs does not end")
		}
		c := question(listConfigs, x.call.TaskID, nil)
		c.PageToken = all.Next
		l, next, seen, err := fw.put(ctx, x, c)
		if err != nil {
			return nil, err
		}
		if err := fw.learn(x, seen); err != nil { // whose task they are of
			return nil, err
		}
		page, err := readPage(l, next)
		if err != nil {
			return nil, err
		}
		all.Configs, all.Next = append(all.Configs, page.Configs...), page.Next
	}
	return writePage(x.upstream, all)
}

// noConfigs reports whether an error is 0.1's way to say that a task has no push
// notification config. 0.1 has no list: it was asked for the one there can be.
func (x *exchange) noConfigs(seen wire.Answer) bool {
	return x.call.Method == listConfigs && x.upstream.Version == wire.V01 && seen.Error == wire.TaskNotFound.Code
}

// deliverNone gives the caller an empty list of push notification configs.
func (x *exchange) deliverNone() error {
	x.upstream.retell.From = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	return x.deliver([]byte(`{"configs":[]}`))
}

// rpcPage is a page in its JSON-RPC envelope.
type rpcPage struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  configPage     `json:"result"`
}

func readPage(l *upstreamCall, doc []byte) (configPage, error) {
	var err error
	var page rpcPage
	doc = wire.Mend(doc)
	if l.Binding == wire.JSONRPC {
		err = json.Unmarshal(doc, &page)
	} else {
		err = json.Unmarshal(doc, &page.Result)
	}
	if err != nil {
		return configPage{}, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return page.Result, nil
}

func writePage(l *upstreamCall, page configPage) ([]byte, error) {
	if l.Binding == wire.JSONRPC {
		return json.Marshal(rpcPage{Version: "2.0", ID: l.call.ID, Result: page})
	}
	return json.Marshal(page)
}
