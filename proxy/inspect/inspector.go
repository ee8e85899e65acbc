// Package inspect holds the content of calls and answers to the rules: media types, files,
// schemas, carriers of extensions, hooks, and the states of tasks. A violation is refused,
// stripped or reported, as the rule says.
//
// # What comes in, and what is left behind
//
// A call reaches this package after the rules have allowed it (proxy/authorize). The stage
// Negotiate settles which extensions are active for the call, as A2A 1.0 §4.6 has it: those that
// the caller requested in A2A-Extensions, that the agent's card declares, and that registry,
// agent and rules permit. It leaves in the exchange
//
//	Terms    what is sent to the agent, what is visible to the caller, what the gateway provides or injects
//	Shown    the extensions whose traces the caller may see in answers
//	Watched  how answers are judged (made with the first answer that needs it)
//	Stands   where the call's task stands in the states of extensions
//	Rec      the violations that were found, for the audit record
//
// and a body that agrees with all that. From then on GovernAnswer does the same to each answer and
// event.
//
// # One request
//
//	screenRequest   files: media types, sizes, signatures of what they hold (policy/files)
//	tidyBody        metadata and URIs of extensions that are not active are taken out; defaults are put in
//	holdBody        schemas of skills and extensions, strict A2A (conformance), the limits of extensions
//	askHooks        extensions[].hooks may change params, or refuse
//	provide         the gateway's own extensions see the message
//	noteStanding    where the task stands, before the agent moves it on
//	guardRequest    guards look at what the agent would get (policy/guard), and may redact or refuse it
//
// The order matters. Files come first. What does not belong
// into the document is gone before it is held against schemas, so that a caller is not refused
// for what the agent would never see. Hooks see what has passed, and are the last to change it
// but for the gateway's own extensions.
//
// # What is refused
//
//   - an extension that is required and was not requested: EXTENSION_SUPPORT_REQUIRED, -32008.
//   - a file that the rules refuse: CONTENT_TYPE_NOT_SUPPORTED -32005, 413 or INVALID_PARAMS.
//     Answer: 502, or the part is replaced by a text.
//   - a value that its schema refuses: INVALID_PARAMS, -32602. Answer: INVALID_AGENT_RESPONSE,
//     -32006.
//   - a hook that says no: 403. Answer: INVALID_AGENT_RESPONSE.
//   - content that a guard refuses: CONTENT_REFUSED, 403. Answer: ANSWER_REFUSED.
//   - a hook that cannot be asked: 503 with Retry-After, or passed over, as it is configured.
//     Answer: the same.
//
// Each finding has an action from the configuration: what is reported only is recorded, and the
// document passes. A document of which nothing has to be changed passes byte for byte
// (docs/decisions/0001): carriers, the places in it where extensions can leave something, are
// read only if the one scan of wire saw that there are any.
package inspect

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
)

// Inspector holds requests and answers to what extensions, schemas, media types and the rules about
// files ask of their content.
//
// It embeds the stages before it, whose methods it calls: the decoder to read a changed body, the
// owners for what answers show, the card views for extended cards, the hooks.
type Inspector struct {
	*negotiate.ExtensionRules
	*intake.Frontend
	*intake.Decoder
	*ownership.Owners
	*wellknown.CardViews
	*Hooks

	Book      *ext.Book
	Ledger    *ledger.Ledger
	Policy    *policy.Set
	Guards    *guard.Set
	Steps     state.Steps
	FileRules map[string]*files.Rules
	Hidden    *wire.Extra
}

// inspect makes the call's body agree with what was negotiated, and holds it against
// the schemas of what is active. Most calls have nothing that could be looked at.
//
// A gRPC call of an extension's method is opaque: its protobuf messages are the extension's own,
// and nothing of them can be read here.
func (in *Inspector) inspect(x *exchange.Exchange) error {
	if x.Opaque() {
		return nil
	}
	if err := in.screenRequest(x); err != nil {
		return err
	}
	if unconstrained(x, x.Call.MayCarry, x.View.Schemas[x.Skill].Input) {
		return nil
	}
	if in.judgesContent(x, x.View.Schemas[x.Skill].Input) {
		x.Mend()
	}
	cs, err := in.tidyBody(x)
	if err == nil {
		err = in.holdBody(x, cs)
	}
	for _, step := range []func(*exchange.Exchange) error{in.askHooks, in.provide, in.noteStanding} {
		if err == nil {
			err = step(x)
		}
	}
	return err
}

// unconstrained reports whether there is nothing to do about a document: its call has no
// extension, it carries nothing of one, and no schema of the skill's is for it.
//
// It is true for nearly all calls, so that it costs a few comparisons and reads nothing.
func unconstrained(x *exchange.Exchange, mayCarry bool, by *schema.Schema) bool {
	return !mayCarry && by == nil && len(x.Terms.Send) == 0 && len(x.Terms.Provided) == 0 && !x.Conforms()
}

// judgesContent reports whether anything of a document is judged but its names.
func (in *Inspector) judgesContent(x *exchange.Exchange, by *schema.Schema) bool {
	return by != nil || len(x.Terms.Send) > 0 || len(x.Terms.Provided) > 0 || x.Conforms()
}

// ours are extensions that only the gateway acts on, so that nobody has to declare
// them.
var ours = ext.Set{wire.SkillSelection}

// tidyBody takes out of the body what belongs to extensions that are not active, and
// puts the defaults of those in that are active without the client's knowledge. The
// carriers are those of the body as it is then, nil where they have not been read.
func (in *Inspector) tidyBody(x *exchange.Exchange) (*wire.Carriers, error) {
	if len(x.Call.Body) == 0 || len(x.Terms.Injected) == 0 && !x.Call.MayCarry {
		return nil, nil
	}
	cs, err := in.carriers(x)
	if err != nil {
		return nil, err
	}
	t := in.Bounds(x, ext.Union(x.Shown, ours))
	if err := in.clearMarks(x, &t, cs); err != nil {
		return nil, err
	}
	for i, c := range cs.List {
		if c.Place == wire.InMessage {
			in.Inject(x, cs, i)
		}
	}
	body := cs.Apply()
	if exchange.Same(body, x.Call.Body) {
		return cs, nil
	}
	return nil, in.ReplaceBody(x, body)
}

// carriers reads those of the call's body.
func (ho *Hooks) carriers(x *exchange.Exchange) (*wire.Carriers, error) {
	return x.Call.Carriers(ho.ChangedLimits())
}

// clearMarks deals with marks of extensions that have no business in a document. The
// error is that of a document which is refused for them.
func (in *Inspector) clearMarks(x *exchange.Exchange, t *content.Terms, cs *wire.Carriers) error {
	return x.Settle(x.Sweep(t, cs), t.Answer)
}

// holdBody holds the body against schemas and the limits that A2A sets to extensions. cs may
// be nil.
//
// The carriers are made again where tidy has changed the body. Objects are judged as A2A 1.0 has
// them, which takes a translation for older callers and is therefore last.
func (in *Inspector) holdBody(x *exchange.Exchange, cs *wire.Carriers) error {
	if len(x.Call.Body) == 0 {
		return nil
	}
	t, skill := in.Bounds(x, nil), x.View.Schemas[x.Skill]
	objects := t.JudgesObjects()
	var found []content.Violation
	if len(x.Call.Params) > 0 {
		found = in.findStrangers(x, x.Side(), false, x.Call.Params)
	}
	if cs != nil || objects || skill.Input != nil || x.Call.MayCarry {
		var err error
		if cs == nil {
			if cs, err = in.carriers(x); err != nil {
				return err
			}
		}
		t.Visible = ext.Union(x.Shown, ours)
		found = append(append(found, t.Unknown(cs)...), t.Values(cs)...)
		if skill.Input != nil && x.Call.Method.Subject == wire.OfMessage {
			found = append(found, skill.Hold(cs, skill.Input)...)
		}
		if objects {
			if cs, err = in.modernBody(x, cs); err != nil {
				return err
			}
			found = append(found, t.Objects(cs)...)
		}
	}
	return x.Judge(found, false)
}

// modernBody is the body of the call as it would be in A2A 1.0, which is what schemas of
// whole objects are written for.
func (in *Inspector) modernBody(x *exchange.Exchange, cs *wire.Carriers) (*wire.Carriers, error) {
	if x.Call.Version == wire.V10 || x.Call.Method.Extension != "" {
		return cs, nil
	}
	side := modernSide(x.Call.Binding)
	out, e := translate.Request(&x.Call, x.Parameters(), translate.To{
		Side: side, ID: []byte("0"), CallerBytes: x.CallerBytes(),
	})
	if e != nil {
		return nil, e
	}
	return wire.ReadCarriers(side, out.Call.Method, false, out.Call.Body, in.AnswerLimits())
}

// modernSide is A2A 1.0 in JSON, with JSON-RPC's envelope for who has one too: places
// in documents then have the same names.
func modernSide(b wire.Binding) wire.Side {
	if b == wire.JSONRPC {
		return wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	}
	return wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
}

// findStrangers finds what A2A does not define in a document, where the agent's
// configuration cares.
//
// Violations have JSON Pointers (RFC 6901) from the root of the document, with JSON-RPC's
// envelope where there is one, so that whoever reads the record can find the place in what was
// sent.
func (in *Inspector) findStrangers(x *exchange.Exchange, s wire.Side, answer bool, doc []byte) []content.Violation {
	if !x.Conforms() || x.Call.Method.Extension != "" {
		return nil
	}
	around := ""
	switch {
	case s.Binding != wire.JSONRPC:
	case answer:
		around = "/result"
	default:
		around = "/params"
	}
	var found []content.Violation
	for _, stranger := range translate.Strangers(s, x.Call.Method, answer, doc) {
		text := "A2A has no such member"
		if stranger.Value {
			text = "A2A has no such value"
		}
		found = append(found, content.Violation{
			Fault: content.Strange, Pointer: around + stranger.Pointer, Text: text, Enforced: x.Agent.Extensions.Conformance == ext.Enforce,
		})
	}
	return found
}

// unwrapEnvelope takes a JSON-RPC request for what it is where one has been posted to a path of
// HTTP+JSON: the envelope says what is asked, and all that comes goes by that, as if it had come
// to the base.
func unwrapEnvelope(x *exchange.Exchange) {
	x.Call.Binding, x.Call.Method, x.Call.Streaming = wire.JSONRPC, nil, false
	x.Route, x.Rest = wire.Route{}, "/"
}

// Negotiate: which extensions are active, and is what the call carries of them as
// it should be?
func (in *Inspector) Negotiate(x *exchange.Exchange) error {
	q := in.Question(x, x.Extensions)
	q.Requested = x.Asked
	var err error
	if x.Terms, err = in.Book.Negotiate(&q); err != nil {
		return err
	}
	if uri := x.Call.Method.Extension; uri != "" && !x.Terms.Visible.Has(uri) {
		return in.unknownMethod(x)
	}
	x.Shown = x.Terms.Visible
	if len(x.Terms.Provided) > 0 {
		x.Shown = slices.Concat(x.Terms.Visible, x.Terms.Provided)
	}
	if err := in.inspect(x); err != nil {
		return err
	}
	return in.guardRequest(x)
}
