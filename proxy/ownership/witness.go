package ownership

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// Witness holds an answer that shows a task to what the agent has shown of it before.
//
// Methods of extensions are let through, as what their answers mean is not known here.
func (ow *Owners) Witness(x *exchange.Exchange, l *exchange.UpstreamCall, seen wire.Answer, doc []byte) error {
	if !ow.StreamConfig.Reports() || l.Call.Method.Extension != "" || seen.Kind != "task" || len(seen.Tasks) != 1 {
		return nil
	}
	g := Sighting{ShownKey: ShownKey{x.Agent.ID, seen.Tasks[0].ID}, State: seen.State, Since: x.Sent, as: Dialect{l.Side, x.Agent.Bytes()}}
	if taskstate.Terminal(g.State) {
		g.doc = doc
	}
	return ow.settleBreach(x, ow.Contradiction(g))
}

// Contradiction is what a sighting has against what was shown before; nil for nothing.
//
// The rule is an error of proxy/stream/grammar; whether it is enforced is for the caller to ask.
func (ow *Owners) Contradiction(g Sighting) error {
	if g.Task == "" || g.State == "" {
		return nil
	}
	before, wrong := ow.Shown.look(g, &ow.StreamConfig)
	if wrong == nil && before != nil && ow.altered(g, before) {
		wrong = grammar.ErrAltered
	}
	return wrong
}

// altered reports whether a task that has ended has other artifacts than it had, by what shows
// it or an update of one: than in an answer, else in a stream whose events are still kept.
//
// What cannot be compared, because it was too large to be kept or is gone, has not been altered.
func (ow *Owners) altered(g Sighting, before *shownTask) bool {
	differs := func(t *fold.Task, event []byte) (bool, error) {
		if task := memberOf(event, "task"); task != nil {
			return t.Altered(task)
		}
		return t.AlteredBy(event)
	}
	if before.doc == nil {
		feed := ow.Hub.Here(record.FeedOf(g.Agent, g.Task))
		if feed == nil {
			return false
		}
		t := ow.TrackerOf(feed, g.as)
		return t != nil && t.Differs(g.as, g.doc, differs)
	}
	t, err := before.folded()
	if err != nil {
		return false // what cannot be read is for others to find
	}
	found := false
	err = g.as.shows(g.doc, func(event []byte) error {
		differ, err := differs(t, event)
		found = found || differ
		return err
	})
	return err == nil && found
}

// shows gives what an answer or event shows of a task as events of A2A 1.0.
func (m Dialect) shows(doc []byte, each func([]byte) error) error {
	if m.Version != wire.V10 {
		return m.ToCanonical(m.Canonical(), doc, each)
	}
	doc = jsonscan.Mend(doc)
	event := doc
	if m.Binding == wire.JSONRPC {
		event = memberOf(doc, "result")
	}
	var wraps map[string]jsontext.Value
	if err := json.Unmarshal(event, &wraps); err != nil {
		return err
	}
	for _, name := range []string{"task", "artifactUpdate", "artifact_update", "statusUpdate", "status_update"} {
		if _, ok := wraps[name]; ok {
			return each(event)
		}
	}
	return each(append(append([]byte(`{"task":`), event...), '}'))
}

// settleBreach counts and records that an agent has broken a rule, and refuses what it says where
// the rule is enforced.
func (ow *Owners) settleBreach(x *exchange.Exchange, rule error) error {
	if rule == nil {
		return nil
	}
	r, _ := grammar.RuleOf(rule)
	ow.Telemetry.Metrics.Streams.Grammar(x.Agent.ID, r.Name)
	if x.Rec.Grammar == "" {
		x.Rec.Grammar = rule.Error()
	}
	if !ow.StreamConfig.Enforces(rule) {
		return nil
	}
	return wire.Errorf(wire.BadAgentResponse, "the agent contradicts what it has said of the task").Because(rule)
}

// WitnessList does so with a list that was asked for at a time. One task that is not as it
// was is no reason to withhold the others, so nothing is refused.
func (ow *Owners) WitnessList(x *exchange.Exchange, since time.Time, tasks []wire.TaskRef) {
	if !ow.StreamConfig.Reports() {
		return
	}
	for _, t := range tasks {
		g := Sighting{ShownKey: ShownKey{x.Agent.ID, t.ID}, State: t.State, Since: since, listed: true}
		_ = ow.settleBreach(x, ow.Contradiction(g)) // is only recorded
	}
}

// WitnessNotification does so with what an agent posts. Notifications may overtake each
// other: one that says when it was so is not held to what came about later.
//
// Chunks of artifacts that an agent posts are followed from a posted task on.
func (ow *Owners) WitnessNotification(x *exchange.Exchange, n *webhooks.Notification) error {
	if !ow.StreamConfig.Reports() || len(n.Seen.Tasks) != 1 {
		return nil
	}
	k := ShownKey{n.Hook.Agent, n.Seen.Tasks[0].ID}
	g := Sighting{ShownKey: k, State: n.Seen.State, Since: time.Now(), as: Dialect{wire.Side{Version: n.Speak, Binding: wire.HTTPJSON}, x.Agent.Bytes()}}
	switch n.Seen.Kind {
	case "task":
		if taskstate.Terminal(g.State) {
			g.doc = n.Body
		}
		fallthrough
	case "statusUpdate":
		if _, at := StatusOf(within(n.Body)); !at.IsZero() {
			g.Since = at
		}
	case "artifactUpdate":
		c := n.Seen.Chunk
		wrong := ow.Shown.chunk(k, KeyOf(n.Body[c.ID[0]:c.ID[1]]), c.Append, c.Last, ow.StreamConfig.Remember)
		if g.doc = n.Body; wrong == nil && !c.Append {
			if ended := ow.Shown.ended(k); ended != nil && ow.altered(g, ended) {
				wrong = grammar.ErrAltered
			}
		}
		return ow.settleBreach(x, wrong)
	}
	wrong := ow.Contradiction(g)
	if ids, ok := ArtifactIDs(n.Body); ok && n.Seen.Kind == "task" {
		ow.Shown.begin(k, g.State, ids, ow.StreamConfig.Remember)
	}
	return ow.settleBreach(x, wrong)
}

// within is the task or update that a notification has, which older versions do not wrap.
func within(doc []byte) []byte {
	for _, name := range []string{"task", "statusUpdate", "status_update"} {
		if inner := memberOf(doc, name); inner != nil {
			return inner
		}
	}
	return doc
}

// withArtifacts is a document that shows a task, in any version and binding.
type withArtifacts struct {
	Result    *withArtifacts `json:"result"`
	Task      *withArtifacts `json:"task"`
	Artifacts []struct {
		ID    jsontext.Value `json:"artifactId"`
		Snake jsontext.Value `json:"artifact_id"`
		Index jsontext.Value `json:"index"`
	} `json:"artifacts"`
}

// ArtifactIDs gives the ids of a task's artifacts. ok is false where the document cannot be
// read.
func ArtifactIDs(doc []byte) (ids []ArtifactKey, ok bool) {
	var d withArtifacts
	if json.Unmarshal(jsonscan.Mend(doc), &d) != nil {
		return nil, false
	}
	at := &d
	if at.Result != nil {
		at = at.Result
	}
	if at.Task != nil {
		at = at.Task
	}
	for _, a := range at.Artifacts {
		switch {
		case a.ID != nil:
			ids = append(ids, KeyOf(a.ID))
		case a.Snake != nil:
			ids = append(ids, KeyOf(a.Snake))
		default:
			ids = append(ids, KeyOf(a.Index))
		}
	}
	return ids, true
}
