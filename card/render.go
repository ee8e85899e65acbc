package card

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Render writes the card that v describes, in compact JSON, and its strong
// entity tag, a hash of the bytes. Equal views of one card give equal bytes.
// The result is remembered and shared: it must not be changed.
//
// URLs, security, extensions and skills are v's, and so are the signatures: the
// agent's could not hold any more; members that nobody here knows pass, without
// any string that gives an address of the agent away.
func (c *Card) Render(v View) (body []byte, etag string, err error) {
	if origin(v.BaseURL) == "" || strings.HasSuffix(v.BaseURL, "/") {
		return nil, "", fmt.Errorf("render card of %s: %w", c.Name, errBase)
	}
	key := v.key(c)
	if done, ok := c.rendered.load(key); ok {
		return done.body, done.etag, nil
	}
	body = v.sign(newWriter(c, &v).document().encode())
	sum := sha256.Sum256(body)
	done := rendering{body, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`}
	c.rendered.store(key, done)
	return done.body, done.etag, nil
}

// sign adds the signatures. A card that has no canonical form, since it has a number
// that readers differ on, goes without; and so does 0.3's Protobuf message, whose
// readers have none.
func (v *View) sign(body []byte) []byte {
	if v.Signer == nil || v.Binding == wire.GRPC && v.Version != wire.V10 {
		return body
	}
	shape := signature.Mixed
	if v.Version == wire.V10 {
		shape = signature.Modern
	}
	signed, err := v.Signer.Sign(body, shape)
	if err != nil {
		return body
	}
	return signed
}

var errBase = errors.New("the base URL is not an http(s) URL without a trailing slash")

// writer holds what the parts of one rendering share.
type writer struct {
	card   *Card
	view   *View
	guard  guard
	modern bool // has 1.0's members
	legacy bool // has 0.3's members
	proto  bool // is the document of a Protobuf message
}

// newWriter prepares to write a card for a view. One in the form of 0.3 has the members of 1.0
// as well, unless the view is of that version alone, or goes over gRPC, where a message has the
// fields of its version and no others.
func newWriter(c *Card, v *View) *writer {
	proto := v.Binding == wire.GRPC
	return &writer{
		card: c, view: v, guard: newGuard(c, v.Hidden, v.Limits.Texts()),
		modern: v.Version == wire.V10 || !proto && !v.Pure, legacy: v.Version != wire.V10, proto: proto,
	}
}

// ownMembers are the members of the document that are written anew or dropped.
// No agent's member that any reader could take for one of them passes.
func ownMembers() names {
	return known(
		"name", "description", "version", "provider", "iconUrl", "documentationUrl",
		"url", "preferredTransport", "protocolVersion", "protocolVersions", "additionalInterfaces",
		"supportedInterfaces", "capabilities", "authentication", "securitySchemes", "security",
		"securityRequirements", "defaultInputModes", "defaultOutputModes", "skills",
		"supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard", "signatures",
	)
}

// document puts the members in the order in which people read a card.
func (w *writer) document() object {
	var o object
	limits := w.guard.limits
	o.put("name", w.prose(w.card.Name, limits.Name))
	o.put("description", w.filled(w.card.Description, w.card.Name, limits.Text))
	o.put("version", w.filled(w.card.Version, "0", limits.Name))
	w.links(&o)
	w.endpoints(&o)
	o.put("capabilities", w.capabilities())
	w.security(&o)
	o.put("defaultInputModes", w.modes("defaultInputModes", w.card.DefaultInputModes))
	o.put("defaultOutputModes", w.modes("defaultOutputModes", w.card.DefaultOutputModes))
	o.put("skills", w.skills())
	w.rest(&o, w.card.top, ownMembers())
	return o
}

// prose is a text that a card must have.
func (w *writer) prose(s string, limit int) jsontext.Value { return quote(w.guard.prose(s, limit)) }

// filled is prose with something in place of nothing where the form is Protobuf's,
// which cannot tell an empty mandatory text from an absent one: Go's gRPC client
// refuses the whole card then.
func (w *writer) filled(s, instead string, limit int) jsontext.Value {
	if s == "" && w.proto {
		s = instead
	}
	return w.prose(s, limit)
}

// rest passes the members that are unknown to us. A Protobuf message has no place
// for them, and some names (in brackets) would keep it from being made.
func (w *writer) rest(o *object, from object, own names) {
	if w.proto {
		return
	}
	for _, m := range from {
		if m.value.Kind() != 'n' && !own.has(m.name) && !w.guard.unfit(m.name, w.guard.limits.Name) {
			o.put(m.name, w.guard.scrub(m.value))
		}
	}
}

// links writes what people follow. provider.url is mandatory in most readers,
// so that one that may not be shown becomes empty, which in Protobuf would be
// none: the provider goes as a whole there.
func (w *writer) links(o *object) {
	provider := members(w.card.top.find("provider"))
	link := w.guard.link(provider.text("url"))
	if org := provider.text("organization"); org != "" && (link != "" || !w.proto) {
		p := object{{"organization", w.prose(org, w.guard.limits.Name)}, {"url", quote(link)}}
		w.rest(&p, provider, known("organization", "url"))
		o.put("provider", p.encode())
	}
	for _, name := range [...]string{"documentationUrl", "iconUrl"} {
		if link := w.guard.link(w.card.top.text(name)); link != "" {
			o.put(name, quote(link))
		}
	}
}

// capabilities writes what holds through the gateway.
func (w *writer) capabilities() jsontext.Value {
	var o object
	o.put("streaming", boolean(w.card.Streaming))
	o.put("pushNotifications", boolean(w.view.Push && w.card.Push))
	if w.legacy && !w.proto && w.card.caps.flag("stateTransitionHistory") {
		o.put("stateTransitionHistory", boolean(true))
	}
	if w.modern {
		o.put("extendedAgentCard", boolean(w.view.Extended))
	}
	if len(w.view.Extensions) > 0 {
		o.put("extensions", w.extensions())
	}
	w.rest(&o, w.card.caps, known(
		"streaming", "pushNotifications", "stateTransitionHistory", "extendedAgentCard", "extensions",
	))
	return o.encode()
}

// extensions writes the enforced list. A URI is an identifier that clients must
// repeat byte for byte; it is the one string that is never scrubbed.
// Where the agent has its own description and params, those are shown.
func (w *writer) extensions() jsontext.Value {
	var list []jsontext.Value
	for _, d := range w.view.Extensions {
		if len(d.URI) > w.guard.limits.Text {
			continue
		}
		agents := w.card.extensions[d.URI]
		entry := object{{"uri", quote(d.URI)}}
		description := cmp.Or(d.Description, agents.text("description"))
		if description != "" {
			entry.put("description", w.prose(description, w.guard.limits.Text))
		}
		entry.put("required", boolean(d.Required))
		params := agents.find("params")
		if params == nil {
			params = d.Params
		}
		entry.put("params", w.params(params))
		w.rest(&entry, agents, known("uri", "description", "required", "params"))
		list = append(list, entry.encode())
	}
	return array(list)
}

// params passes an extension's parameters if they are what every version has
// there, an object; strict readers would refuse the card for anything else.
func (w *writer) params(v jsontext.Value) jsontext.Value {
	if v.Kind() != '{' || w.proto && !isStruct(v) {
		return nil
	}
	return w.guard.scrub(v)
}

// isStruct reports whether v fits google.protobuf.Value, whose numbers are
// float64: a larger one would keep the whole card from being sent.
func isStruct(v jsontext.Value) bool {
	switch v.Kind() {
	case '0':
		_, err := strconv.ParseFloat(string(v), 64)
		return err == nil
	case '{':
		return !slices.ContainsFunc(members(v), func(m member) bool { return !isStruct(m.value) })
	case '[':
		return !slices.ContainsFunc(elements(v), func(e jsontext.Value) bool { return !isStruct(e) })
	}
	return true
}

// security writes the gateway's schemes and the extended card's older flag.
func (w *writer) security(o *object) {
	schemes := w.view.Schemes.in(w.view.Version)
	o.put("securitySchemes", schemes.schemes(w.modern || w.proto, w.legacy && !w.proto))
	if w.modern {
		w.requirements(o, schemes)
	}
	if !w.legacy {
		return
	}
	if w.proto {
		o.put("security", schemes.requirements(specRequirements))
	} else {
		o.put("security", schemes.security())
	}
	if w.view.Version == wire.V01 && !w.proto {
		o.put("authentication", schemes.authentication())
	}
	o.put("supportsAuthenticatedExtendedCard", boolean(w.view.Extended))
}

// requirements writes 1.0's. In Protobuf they have but one shape, in 0.3 as in 1.0. In JSON
// no shape of securityRequirements is read by all. What all read, auto writes:
//
//   - security_requirements in the specification's shape, for readers of Protobuf (Java's,
//     JavaScript's, Python's and strict ones), to whom it is the same member, and who know
//     no third name. The Go SDK passes over it.
//   - SecurityRequirements in the mixed form, with null for scopes, for readers to whom the
//     case of names is the same: the Go SDK's lists and the specification's objects, which
//     the .NET SDK wants, can both be null. The others pass over it, as over all that is
//     0.3's; in 1.0's own form it would make strict readers of Protobuf refuse the card.
func (w *writer) requirements(o *object, schemes Schemes) {
	shape := w.view.Requirements
	switch {
	case w.proto:
		o.put("securityRequirements", schemes.requirements(specRequirements))
	case shape != "" && shape != autoRequirements:
		o.put("securityRequirements", schemes.requirements(shape))
	default:
		o.put("security_requirements", schemes.requirements(specRequirements))
		if w.legacy {
			o.put("SecurityRequirements", schemes.requirements(nullScopes))
		}
	}
}

// modes writes a list of media types. It is mandatory since 0.2; for agents that leave
// it out, as 0.1's may, what they mean is written.
func (w *writer) modes(name string, meant []string) jsontext.Value {
	v := w.card.top.find(name)
	if v.Kind() != '[' {
		var list []jsontext.Value
		for _, mode := range meant {
			list = append(list, quote(mode))
		}
		v = array(list)
	}
	return w.listed(v, defaultMode, w.guard.shown, w.guard.limits.Name)
}

// pass shows a string of a list, as far as it may be shown.
type pass func(v jsontext.Value, limit int) jsontext.Value

// listed is for texts what filled is for prose.
func (w *writer) listed(v jsontext.Value, instead string, shown pass, limit int) jsontext.Value {
	if out := w.texts(v, shown, limit); !w.proto || len(elements(out)) > 0 {
		return out
	}
	return array([]jsontext.Value{quote(instead)})
}

// texts keeps the strings of an array that may be shown, as many as a list may have.
func (w *writer) texts(v jsontext.Value, shown pass, limit int) jsontext.Value {
	var out []jsontext.Value
	for _, e := range elements(v) {
		if e.Kind() != '"' {
			continue
		}
		if len(out) == w.guard.limits.Entries {
			break
		}
		if e = shown(e, limit); e != nil {
			out = append(out, e)
		}
	}
	return array(out)
}
