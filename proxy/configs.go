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

// allConfigs completes the first page of a task's push notification configs. Before
// 1.0 there were no pages: a caller of 0.3 takes what it gets for all there is.
func (p *Proxy) allConfigs(ctx context.Context, x *exchange, doc []byte) ([]byte, error) {
	if x.leg.call.Method != listConfigs || x.leg.Version != wire.V10 || x.call.Version == wire.V10 {
		return doc, nil
	}
	all, err := readPage(x.leg, doc)
	if err != nil || all.Next == "" {
		return doc, err
	}
	for pages := 1; all.Next != ""; pages++ {
		if pages == morePages {
			return nil, wire.Errorf(wire.BadAgentResponse, "the list of push notification configs does not end")
		}
		c := question(listConfigs, x.call.TaskID, nil)
		c.PageToken = all.Next
		l, next, seen, err := p.put(ctx, x, c)
		if err != nil {
			return nil, err
		}
		if err := p.learn(x, seen); err != nil { // whose task they are of
			return nil, err
		}
		page, err := readPage(l, next)
		if err != nil {
			return nil, err
		}
		all.Configs, all.Next = append(all.Configs, page.Configs...), page.Next
	}
	return writePage(x.leg, all)
}

// rpcPage is a page in its JSON-RPC envelope.
type rpcPage struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  configPage     `json:"result"`
}

func readPage(l *leg, doc []byte) (configPage, error) {
	var err error
	var page rpcPage
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

func writePage(l *leg, page configPage) ([]byte, error) {
	if l.Binding == wire.JSONRPC {
		return json.Marshal(rpcPage{Version: "2.0", ID: l.call.ID, Result: page})
	}
	return json.Marshal(page)
}
