package translate

import (
	"bytes"
	"encoding/json"
	"testing"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// event draws an event of a stream as the dialect writes it.
func (g generator) event() (kind string, event obj) {
	kind = rapid.SampledFrom([]string{"task", "message", "statusUpdate", "artifactUpdate"}).Draw(g.T, "event")
	switch kind {
	case "task":
		return kind, g.task()
	case "message":
		return kind, g.message()
	}
	task := g.task()
	event = obj{"taskId": task["id"], "contextId": task["contextId"]}
	if m, ok := task["metadata"]; ok {
		event["metadata"] = m
	}
	if kind == "statusUpdate" {
		event["status"] = task["status"]
		if g.d == d03 {
			event["kind"], event["final"] = "status-update", rapid.Bool().Draw(g.T, "final")
		}
		return kind, event
	}
	event["artifact"] = g.artifact(0)
	maybe(g.T, event, "append", func() any { return true })
	maybe(g.T, event, "lastChunk", func() any { return true })
	if g.d == d03 {
		event["kind"] = "artifact-update"
	}
	return kind, event
}

// marshal writes a document without the numbers that Go's floats cannot hold.
func marshal(t *rapid.T, v any) []byte {
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(doc, []byte("1.50e+400"), []byte("1.5"))
}

// ours retells one event in the middle of a stream.
func ours(t *rapid.T, from, to wire.Side, doc []byte) []byte {
	r := Retelling{From: from, Call: callOf(to, wire.SendStreamingMessage, wire.Call{}), begun: true}
	var got []byte
	if err := r.Event(doc, func(event []byte) error {
		got = bytes.Clone(event)
		return nil
	}); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return got
}

func sameJSON(t *rapid.T, doc []byte, want, got any) {
	var w, g any
	if err := unmarshal(marshal(t, want), &w); err != nil {
		t.Fatal(err)
	}
	if err := unmarshal(marshal(t, got), &g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Fatalf("(-a2a-go +ours)\n%s\nof %s", diff, doc)
	}
}

// TestEventsAsSDK: a client of a2a-go's 0.3 module understands our events as it
// understands those of the SDK's own compatibility layer.
func TestEventsAsSDK(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind, event := generator{T: t, d: d10, least: 1}.event()
		doc := marshal(t, obj{kind: event})
		var in a2a.StreamResponse
		if err := json.Unmarshal(doc, &in); err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		want, err := a2av0.FromV1Event(in.Event)
		if err != nil {
			t.Fatal(err)
		}
		out := lookup(ours(t, http10, rpc03, doc), "result")
		got, err := legacy.UnmarshalEventJSON(out)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		sameJSON(t, doc, want, got)
	})
}

// TestEventsFromSDK is the other direction.
func TestEventsFromSDK(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		_, event := generator{T: t, d: d03, least: 1}.event()
		doc := marshal(t, event)
		in, err := legacy.UnmarshalEventJSON(doc)
		if err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		want, err := a2av0.ToV1Event(in)
		if err != nil {
			t.Fatal(err)
		}
		out := ours(t, rpc03, http10, []byte(`{"result":`+string(doc)+`}`))
		var got a2a.StreamResponse
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		sameJSON(t, doc, a2a.StreamResponse{Event: want}, got)
	})
}

// TestSendAsSDK compares the params of sends.
func TestSendAsSDK(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := generator{T: t, d: d10, least: 1}
		params := obj{"message": g.message()}
		config := obj{}
		maybe(t, config, "returnImmediately", func() any { return true })
		maybe(t, config, "historyLength", func() any { return 3 })
		maybe(t, config, "acceptedOutputModes", func() any { return []any{"text/plain"} })
		maybe(t, config, "taskPushNotificationConfig", func() any {
			return obj{"id": "c", "url": "https://x/", "token": "t", "authentication": obj{"scheme": "Bearer", "credentials": "k"}}
		})
		params["configuration"] = config
		maybe(t, params, "metadata", func() any { return metadata(t, 2) })
		doc := marshal(t, params)
		var in a2a.SendMessageRequest
		if err := json.Unmarshal(doc, &in); err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		want := a2av0.FromV1SendMessageRequest(&in)
		var c wire.Call
		if e := c.DecodeJSONRPC([]byte(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+string(doc)+`}`), "", wire.Limits{}); e != nil {
			t.Skip(e.Error())
		}
		out, e := Request(&c, nil, To{Side: rpc03})
		if e != nil {
			t.Fatal(e)
		}
		var got legacy.MessageSendParams
		if err := json.Unmarshal(out.Call.Params, &got); err != nil {
			t.Fatalf("%v: %s", err, out.Call.Params)
		}
		sameJSON(t, doc, want, got)
	})
}
