package card

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Render writes the card that v describes, in compact JSON, and its strong
// entity tag, a hash of the bytes. Equal views of one card give equal bytes.
// The result is remembered and shared: it must not be changed.
//
// URLs, security, extensions and skills are v's; the agent's signatures, which
// could not hold any more, are dropped; members that nobody here knows pass,
// without any string that gives an address of the agent away.
func (c *Card) Render(v View) (body []byte, etag string, err error) {
	if origin(v.BaseURL) == "" || strings.HasSuffix(v.BaseURL, "/") {
		return nil, "", fmt.Errorf("render card of %s: %w", c.Name, errBase)
	}
	key := v.key()
	if done, ok := c.rendered.load(key); ok {
		return done.body, done.etag, nil
	}
	w := writer{card: c, view: &v, guard: newGuard(c, v.Hidden), mixed: v.Version != wire.V10}
	body = w.document().encode()
	sum := sha256.Sum256(body)
	done := rendering{body, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`}
	c.rendered.store(key, done)
	return done.body, done.etag, nil
}

var errBase = errors.New("the base URL is not an http(s) URL without a trailing slash")

// writer holds what the parts of one rendering share.
type writer struct {
	card  *Card
	view  *View
	guard guard
	mixed bool // 0.3's members beside 1.0's
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
	o.put("name", w.prose(w.card.Name))
	o.put("description", w.prose(w.card.Description))
	o.put("version", w.prose(w.card.Version))
	w.links(&o)
	w.endpoints(&o)
	o.put("capabilities", w.capabilities())
	w.security(&o)
	o.put("defaultInputModes", w.modes("defaultInputModes"))
	o.put("defaultOutputModes", w.modes("defaultOutputModes"))
	o.put("skills", w.skills())
	w.rest(&o, w.card.top, ownMembers())
	return o
}

// prose is a text that a card must have.
func (w *writer) prose(s string) jsontext.Value { return quote(w.guard.redact(s)) }

// rest passes the members that are unknown to us.
func (w *writer) rest(o *object, from object, own names) {
	for _, m := range from {
		if m.value.Kind() != 'n' && !own.has(m.name) && !w.guard.leaks(m.name) {
			o.put(m.name, w.guard.scrub(m.value))
		}
	}
}

// links writes what people follow. provider.url is mandatory in most readers,
// so that one that may not be shown becomes empty.
func (w *writer) links(o *object) {
	provider := members(w.card.top.find("provider"))
	if org := provider.text("organization"); org != "" {
		p := object{
			{"organization", w.prose(org)},
			{"url", quote(w.guard.link(provider.text("url")))},
		}
		w.rest(&p, provider, known("organization", "url"))
		o.put("provider", p.encode())
	}
	for _, name := range [...]string{"documentationUrl", "iconUrl"} {
		if link := w.guard.link(w.card.top.text(name)); link != "" {
			o.put(name, quote(link))
		}
	}
}

// endpoints writes the gateway's interfaces in both generations' members. A
// reader of 0.3 gets its members only where the agent speaks 0.3: a URL that
// answers no call it can make would be worse than none.
func (w *writer) endpoints(o *object) {
	offered := w.offered()
	base := quote(w.view.BaseURL)
	var modern, legacy []jsontext.Value
	for _, i := range offered {
		entry := object{
			{"url", base},
			{"protocolBinding", quote(i.Binding.String())},
			{"protocolVersion", quote(string(i.Version))},
		}
		if i.Tenant != "" {
			entry.put("tenant", quote(i.Tenant))
		}
		modern = append(modern, entry.encode())
		if i.Version == wire.V03 {
			legacy = append(legacy, object{{"url", base}, {"transport", quote(i.Binding.String())}}.encode())
		}
	}
	if w.mixed && legacy != nil {
		first := slices.IndexFunc(offered, func(i Interface) bool { return i.Version == wire.V03 })
		o.put("url", base)
		o.put("protocolVersion", quote("0.3.0"))
		// Never left to its default: Go's mixed-card reader drops the interface then.
		o.put("preferredTransport", quote(offered[first].Binding.String()))
		o.put("additionalInterfaces", array(legacy))
	}
	o.put("supportedInterfaces", array(modern))
}

// offered reduces the agent's interfaces to the combinations a client may
// choose from, 1.0 first, since clients take the first they understand. All of
// them get one URL, so that two addresses of one combination are one entry.
func (w *writer) offered() []Interface {
	list := w.view.Interfaces
	if list == nil {
		list = w.card.Interfaces
	}
	var out []Interface
	for _, version := range [...]wire.Version{wire.V10, wire.V03} {
		for _, i := range list {
			i.URL = ""
			if version == wire.V03 {
				i.Tenant = "" // 0.3 has no place for it
			}
			served := i.Binding == wire.JSONRPC || i.Binding == wire.HTTPJSON
			if i.Version == version && served && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	return out
}

// capabilities writes what holds through the gateway.
func (w *writer) capabilities() jsontext.Value {
	var o object
	o.put("streaming", boolean(w.card.Streaming))
	o.put("pushNotifications", boolean(w.view.Push && w.card.Push))
	if w.mixed && w.card.caps.flag("stateTransitionHistory") {
		o.put("stateTransitionHistory", boolean(true))
	}
	o.put("extendedAgentCard", boolean(w.view.Extended))
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
func (w *writer) extensions() jsontext.Value {
	var list []jsontext.Value
	for _, d := range w.view.Extensions {
		agents := w.card.extensions[d.URI]
		entry := object{{"uri", quote(d.URI)}}
		description := agents.text("description")
		if description == "" {
			description = d.Description
		}
		if description != "" {
			entry.put("description", w.prose(description))
		}
		entry.put("required", boolean(d.Required))
		w.rest(&entry, agents, known("uri", "description", "required"))
		list = append(list, entry.encode())
	}
	return array(list)
}

// security writes the gateway's schemes and the extended card's older flag.
func (w *writer) security(o *object) {
	o.put("securitySchemes", w.view.Schemes.schemes(w.mixed))
	o.put("securityRequirements", w.view.Schemes.requirements(w.view.Requirements))
	if w.mixed {
		o.put("security", w.view.Schemes.security())
		o.put("supportsAuthenticatedExtendedCard", boolean(w.view.Extended))
	}
}

// modes writes a list of media types. It is mandatory since 0.2; agents of 0.1
// that leave it out mean text.
func (w *writer) modes(name string) jsontext.Value {
	v := w.card.top.find(name)
	if v.Kind() != '[' {
		return array([]jsontext.Value{quote("text/plain")})
	}
	return w.texts(v)
}

// texts keeps the strings of an array that may be shown.
func (w *writer) texts(v jsontext.Value) jsontext.Value {
	var out []jsontext.Value
	for _, e := range elements(v) {
		if e.Kind() == '"' && !w.guard.leaks(text(e)) {
			out = append(out, e)
		}
	}
	return array(out)
}

// skills writes the skills that v shows. Their security is dropped with the
// card's: it named schemes that no longer exist.
func (w *writer) skills() jsontext.Value {
	own := known("id", "name", "description", "tags", "examples", "inputModes", "outputModes",
		"security", "securityRequirements")
	var list []jsontext.Value
	for i, s := range w.card.Skills {
		hidden := w.view.Skills != nil && !slices.Contains(w.view.Skills, s.ID)
		if hidden || w.guard.leaks(s.ID) {
			continue // an id is what callers name a skill by: it cannot be half shown
		}
		from := w.card.skills[i]
		entry := object{
			{"id", quote(s.ID)},
			{"name", w.prose(s.Name)},
			{"description", w.prose(s.Description)},
			{"tags", w.texts(from.find("tags"))},
		}
		for _, name := range [...]string{"examples", "inputModes", "outputModes"} {
			if v := from.find(name); v.Kind() == '[' && len(elements(v)) > 0 {
				entry.put(name, w.texts(v))
			}
		}
		w.rest(&entry, from, own)
		list = append(list, entry.encode())
	}
	return array(list)
}
