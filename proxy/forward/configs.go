package forward

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

var listConfigs = intake.Method("ListTaskPushNotificationConfigs")

// morePages bounds what one list of push notification configs may take.
const morePages = 100

// configPage is the result of ListTaskPushNotificationConfigs (A2A 1.0 §3.1.9).
type configPage struct {
	Configs []jsontext.Value `json:"configs"`
	Next    string           `json:"nextPageToken"`
}

// hasPages reports whether a side has pages of push notification configs: 0.1 and
// JSON-RPC of 0.3 have not.
//
// Those without pages get all configs in one answer, so that the gateway reads all pages for
// them.
func hasPages(s wire.Side) bool {
	return s.Version == wire.V10 || s.Version == wire.V03 && s.Binding != wire.JSONRPC
}

// allConfigs completes the first page of a task's push notification configs, for a
// caller who takes what it gets for all there is.
//
// An agent that never stops giving pages is refused after morePages, rather than cut off: a list
// that ends too early looks complete.
func (fw *Forwarder) allConfigs(ctx context.Context, x *exchange.Exchange, doc []byte) ([]byte, error) {
	if x.Upstream.Call.Method != listConfigs || hasPages(x.Side()) || !hasPages(x.Upstream.Side) {
		return doc, nil
	}
	all, err := readPage(x.Upstream, doc)
	if err != nil || all.Next == "" {
		return doc, err
	}
	for n := 1; all.Next != ""; n++ {
		if n == morePages {
			return nil, wire.Errorf(wire.BadAgentResponse, "the list of push notification configs does not end")
		}
		c := intake.Question(listConfigs, x.Call.TaskID, nil)
		c.PageToken = all.Next
		l, next, seen, err := fw.AskAgent(ctx, x, c)
		if err != nil {
			return nil, err
		}
		if err := fw.LearnIDs(x, seen); err != nil { // whose task they are of
			return nil, err
		}
		page, err := readPage(l, next)
		if err != nil {
			return nil, err
		}
		all.Configs, all.Next = append(all.Configs, page.Configs...), page.Next
	}
	return writePage(x.Upstream, all)
}

// noConfigs reports whether an error is 0.1's way to say that a task has no push
// notification config. 0.1 has no list: it was asked for the one there can be.
func noConfigs(x *exchange.Exchange, seen wire.Answer) bool {
	return x.Call.Method == listConfigs && x.Upstream.Version == wire.V01 && seen.Error == wire.TaskNotFound.Code
}

// deliverNoConfig gives the caller an empty list of push notification configs.
func deliverNoConfig(x *exchange.Exchange) error {
	x.Upstream.Retell.From = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	return deliverAnswer(x, []byte(`{"configs":[]}`))
}

// rpcPage is a page in its JSON-RPC envelope.
type rpcPage struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  configPage     `json:"result"`
}

// readPage reads a page in the agent's envelope. Duplicate or broken members were found before;
// what fails here is a page of another shape.
func readPage(l *exchange.UpstreamCall, doc []byte) (configPage, error) {
	var err error
	var page rpcPage
	doc = jsonscan.Mend(doc)
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

// writePage writes all configs as one page of the agent's, which is then translated like one that
// came.
func writePage(l *exchange.UpstreamCall, page configPage) ([]byte, error) {
	if l.Binding == wire.JSONRPC {
		return json.Marshal(rpcPage{Version: "2.0", ID: l.Call.ID, Result: page})
	}
	return json.Marshal(page)
}

// showConfigs completes an answer about push notification configs, and shows the caller its
// own webhooks in it.
//
// A config that is not the caller's, or whose webhook nobody knows here, is left out. What the
// agent has done is written down without the call's context, since it stays done when the client
// leaves.
func (fw *Forwarder) showConfigs(ctx context.Context, x *exchange.Exchange, doc []byte) ([]byte, error) {
	doc, err := fw.allConfigs(ctx, x, doc)
	if err != nil || fw.Relay == nil || !x.Call.Method.Push {
		return doc, err
	}
	ctx = context.WithoutCancel(ctx) // the agent has done it
	if x.Call.Method == deleteConfig {
		return doc, fw.ForgetConfig(ctx, x)
	}
	return pushconfig.Rewrite(x.Upstream.Binding, x.Upstream.Version, doc,
		func(task string, found pushconfig.Config) (pushconfig.Config, bool, error) {
			h, err := fw.ShownConfig(ctx, x, found)
			if err != nil || h == nil || task != "" && h.Task != "" && h.Task != task {
				return pushconfig.Config{}, false, err
			}
			if err := fw.Relay.Hooks.Bind(ctx, h, x.Call.TaskID, "", found.ID, x.OneConfig()); err != nil {
				return pushconfig.Config{}, false, err
			}
			return masked(h), true, nil
		})
}

// masked is what the caller sees of its own webhook (A20). Secrets are left out, which
// every version allows and every SDK reads: token and credentials are optional in all of
// them. A word in their place would be taken for the secret by a client that sends the
// config back as it got it.
func masked(h *push.Webhook) pushconfig.Config {
	return pushconfig.Config{URL: h.URL, Scheme: h.Scheme}
}
