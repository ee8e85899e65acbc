package card

import (
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// View is what a served card shows: everything in it that is not the agent's.
type View struct {
	// BaseURL is the URL of every interface whose entry names no other, without a
	// trailing slash: the configured public URL with the agent's path. It must
	// never be made from a request.
	BaseURL string

	// Version and Binding are what the reader speaks; they choose the form.
	//
	// V10 gives 1.0's form alone. V03 and "" give the mixed form that readers of
	// 0.2, 0.3 and 1.0 all understand, on 0.3's HTTP+JSON as well: of its clients
	// Python's insists on 0.3's security there, JavaScript's reads the other half.
	// V01 is for readers of /.well-known/agent.json and adds 0.1's
	// authentication to the mixed form.
	//
	// With GRPC the body is the ProtoJSON document of the version's message,
	// lf.a2a.v1.AgentCard or a2a.v1.AgentCard, and has nothing that the message
	// could not hold.
	Version wire.Version
	Binding wire.Binding

	// Pure leaves 1.0's members out of the form of 0.3 or 0.1, which is mixed without it.
	Pure bool

	// Offer lists the ways to reach the agent through the gateway, in order. 1.0's
	// are listed before 0.3's, and the latter in 0.3's members too. Nil offers 1.0
	// and 0.3 over JSON-RPC and HTTP+JSON at BaseURL, with the tenants of the
	// agent's 1.0 interfaces, if the agent has any interface.
	Offer []Offered

	// Interfaces are those of the agent's that may be called, in the agent's
	// order; nil stands for all of the card's. They are never listed, and count
	// only where Offer is nil.
	Interfaces []Interface

	// Skills are the ids of the skills to list; nil lists all, an empty slice none.
	Skills []string

	// Extensions replaces capabilities.extensions. Description and Params count for
	// the URIs for which the agent has none of its own.
	Extensions []ext.Declared

	Schemes      Schemes      // the gateway's own security
	Requirements Requirements // shape of securityRequirements

	Push     bool // push notifications pass the gateway, for agents that have them
	Extended bool // the reader can get an extended card

	// Signer signs the card; nil leaves it unsigned.
	Signer *signature.Signer

	// Limits are those of texts and lists; see Config.
	Limits Limits

	// Hidden are further addresses of the agent (URL, host:port or host) that
	// must not show up in any text, beside those in the card itself.
	Hidden []string
}

// key identifies v among the renderings of c. Every part is preceded by its
// length or count, so that no two views share a key.
func (v *View) key(c *Card) [sha256.Size]byte {
	var b []byte
	str := func(s string) {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(b, ':')
		b = append(b, s...)
	}
	list := func(s []string) {
		if s == nil {
			b = append(b, '-') // nil and empty differ for Skills
			return
		}
		b = strconv.AppendInt(b, int64(len(s)), 10)
		for _, e := range s {
			str(e)
		}
	}
	str(v.BaseURL)
	str(string(v.Version))
	str(v.Binding.String())
	b = strconv.AppendBool(b, v.Pure)
	str(string(v.Requirements))
	if v.Signer != nil {
		str(v.Signer.Generation())
	}
	b = strconv.AppendBool(b, v.Push)
	b = strconv.AppendBool(b, v.Extended)
	b = strconv.AppendBool(b, v.Schemes.Anonymous)
	str(v.Schemes.APIKeyHeader)
	b = strconv.AppendBool(b, v.Schemes.Bearer)
	b = strconv.AppendInt(b, int64(len(v.Schemes.OIDC)), 10)
	b = append(b, ':')
	for _, i := range v.Schemes.OIDC {
		str(i.URL)
		str(i.Header)
	}
	b = strconv.AppendBool(b, v.Schemes.MTLS)
	b = strconv.AppendInt(b, int64(len(v.Schemes.Combinations)), 10)
	b = append(b, ':')
	for _, c := range v.Schemes.Combinations {
		list(c)
	}
	for _, n := range []int{int(v.Limits.Name), int(v.Limits.Text), v.Limits.Entries} {
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, ',')
	}
	list(v.Skills)
	list(v.Hidden)
	b = strconv.AppendBool(b, v.Interfaces == nil)
	for _, i := range v.Interfaces {
		str(i.URL)
		str(i.Binding.String())
		str(string(i.Version))
		str(i.Tenant)
	}
	b = append(b, ';')
	b = strconv.AppendBool(b, v.Offer == nil)
	for _, o := range v.Offer {
		str(string(o.Version))
		str(o.Binding.String())
		str(o.URL)
		str(o.Tenant)
	}
	b = append(b, ';')
	for _, e := range v.Extensions {
		str(e.URI)
		str(e.Description)
		b = strconv.AppendBool(b, e.Required)
		// The agent's own params are not v's and may be as large as the card.
		if c.extensions[e.URI].find("params") == nil {
			str(string(e.Params))
		}
	}
	return sha256.Sum256(b)
}

// maxRenderings bounds what a card remembers. Views differ by the caller's
// skills, of which there are few sets; when there are many, starting afresh is
// cheaper than bookkeeping.
const maxRenderings = 64

// renderings remembers served forms of one card.
type renderings struct {
	mu   sync.Mutex
	done map[[sha256.Size]byte]rendering
}

// rendering is a card as it is served, with its entity tag.
type rendering struct {
	body []byte
	etag string
}

// load finds a card that was rendered for the same view before.
func (r *renderings) load(key [sha256.Size]byte) (rendering, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.done[key]
	return got, ok
}

// store keeps one. When there are too many all go: views differ by what callers may see, and those that
// are asked for come back soon.
func (r *renderings) store(key [sha256.Size]byte, one rendering) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil || len(r.done) >= maxRenderings {
		r.done = make(map[[sha256.Size]byte]rendering)
	}
	r.done[key] = one
}
