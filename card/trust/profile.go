package trust

import (
	"cmp"
	"slices"
	"strings"
)

// profile is what a card of any version says, in one form, so that an agent that is updated to
// a newer version of A2A has not changed in everything.
type profile struct {
	texts        map[string]string
	interfaces   []endpoint // in the agent's order of preference
	skills       map[string]skill
	flags        map[string]bool // capabilities
	extensions   map[string]extension
	schemes      map[string]scheme
	requirements []requirement // alternatives
	modes        map[string][]string
	signatures   any

	// What A2A does not define, by name: of the card, and of what is inside it.
	rest, provider, capabilities, authentication object
}

// endpoint is one way to reach the agent. It is comparable, since two are the same only if all of it
// is: another tenant at one URL is another agent, maybe.
type endpoint struct{ url, binding, version, tenant string }

// String is an interface for people, as the list of changes shows it.
func (e endpoint) String() string {
	s := strings.TrimSpace(e.binding+" "+e.version) + " at " + e.url
	if e.tenant != "" {
		s += " (tenant " + e.tenant + ")"
	}
	return s
}

// skill is one skill: its texts and lists, what it asks of callers, and the rest, which is compared
// as it stands.
type skill struct {
	texts        map[string]string
	lists        map[string][]string
	requirements []requirement
	rest         object
}

// extension is one that the agent declares, by its URI. Of several of one URI the first counts, as
// everywhere in the gateway; the others change nothing that is done.
type extension struct {
	required    bool
	description string
	rest        object // params, and what is not defined
}

// read takes a card apart: each member is taken out of the document when it is read, and what
// is left at the end is what A2A does not define, or what is not of the type that it should be.
// It takes the card by the schema of 1.0 and that of 0.3 at once, since cards in between mix both.
func read(doc []byte) (*profile, error) {
	top, err := document(doc)
	if err != nil {
		return nil, err
	}
	p := &profile{texts: map[string]string{}, modes: map[string][]string{}, skills: map[string]skill{}}
	p.signatures = take[any](top, "signatures")
	p.provider = takeObject(top, "provider")
	p.texts["provider.organization"], p.texts["provider.url"] = takeText(p.provider, "organization"), takeText(p.provider, "url")
	p.readInterfaces(top)
	for _, name := range []string{"name", "description", "version", "documentationUrl", "iconUrl"} {
		p.texts[name] = takeText(top, name)
	}
	p.readSecurity(top)
	p.readCapabilities(top)
	for _, name := range []string{"defaultInputModes", "defaultOutputModes"} {
		p.modes[name] = texts(takeList(top, name))
	}
	for _, v := range takeList(top, "skills") {
		p.readSkill(asObject(v))
	}
	p.rest = top
	return p, nil
}

// readInterfaces collects the ways to reach the agent from the members of both
// generations, each once. One that does not say its version has the card's, or else that
// of the list it stands in.
func (p *profile) readInterfaces(top object) {
	version, preferred := takeText(top, "protocolVersion"), takeText(top, "preferredTransport")
	for _, v := range takeList(top, "supportedInterfaces") {
		e := asObject(v)
		p.addInterface(endpoint{
			takeText(e, "url"), cmp.Or(takeText(e, "protocolBinding"), takeText(e, "transport")),
			cmp.Or(takeText(e, "protocolVersion"), version, "1.0"), takeText(e, "tenant"),
		})
	}
	if preferred == "" {
		preferred = "JSONRPC"
	}
	p.addInterface(endpoint{url: takeText(top, "url"), binding: preferred, version: version})
	for _, v := range takeList(top, "additionalInterfaces") {
		e := asObject(v)
		p.addInterface(endpoint{url: takeText(e, "url"), binding: takeText(e, "transport"), version: version})
	}
	if version != "" && !slices.ContainsFunc(p.interfaces, func(e endpoint) bool { return e.version == spoken(version) }) {
		top["protocolVersion"] = version // it says nothing of them, and may not change unseen
	}
}

// addInterface adds a way to reach the agent, unless it is known. Bindings are compared as
// written in capitals, as agents spell them in both ways.
func (p *profile) addInterface(e endpoint) {
	e.binding = strings.ToUpper(e.binding)
	e.version = spoken(e.version)
	if e.url != "" && !slices.Contains(p.interfaces, e) {
		p.interfaces = append(p.interfaces, e)
	}
}

// spoken is a version of the protocol without its patch, which changes nothing of that.
// A2A 1.0 section 3.6: a patch number does not change the protocol.
func spoken(version string) string {
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		return parts[0] + "." + parts[1]
	}
	return version
}

// readCapabilities reads what the agent can do. The extended card has been announced by three
// members in three versions, of which any counts.
func (p *profile) readCapabilities(top object) {
	caps := takeObject(top, "capabilities")
	p.capabilities = caps
	p.flags = map[string]bool{}
	for _, name := range []string{"streaming", "pushNotifications", "stateTransitionHistory"} {
		p.flags[name] = takeFlag(caps, name)
	}
	extended := takeFlag(caps, "extendedAgentCard")
	for _, name := range []string{"supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard"} {
		extended = takeFlag(top, name) || extended
	}
	p.flags["extendedAgentCard"] = extended
	p.extensions = map[string]extension{}
	for _, v := range takeList(caps, "extensions") {
		e := asObject(v)
		uri := takeText(e, "uri")
		if _, again := p.extensions[uri]; again || uri == "" {
			continue
		}
		p.extensions[uri] = extension{required: takeFlag(e, "required"), description: takeText(e, "description"), rest: e}
	}
}

// readSkill reads a skill. As everywhere in the gateway, the first of an id counts.
func (p *profile) readSkill(o object) {
	id := takeText(o, "id")
	if _, again := p.skills[id]; again || id == "" {
		return
	}
	s := skill{texts: map[string]string{}, lists: map[string][]string{}, requirements: readRequirements(o)}
	for _, name := range []string{"name", "description"} {
		s.texts[name] = takeText(o, name)
	}
	for _, name := range []string{"tags", "examples", "inputModes", "outputModes"} {
		s.lists[name] = texts(takeList(o, name))
	}
	s.rest = o
	p.skills[id] = s
}
