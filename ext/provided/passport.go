package provided

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const passportURI = "https://github.com/a2aproject/a2a-samples/tree/main/samples/python/extensions/secure-passport" //nolint:gosec // the name of an extension

// passport holds a secure passport against who the caller is. Its signature goes on
// unverified: the specification names neither an algorithm nor a form in which the
// state is signed nor where the key is found. What a signature would show, that the
// state is from whom clientId names, the caller's authentication shows as well.
type passport struct{}

// callerContext is the payload, of which every member is still JSON.
type callerContext struct {
	ClientID  jsontext.Value `json:"clientId"`
	Signature jsontext.Value `json:"signature"`
	SessionID jsontext.Value `json:"sessionId"`
	State     jsontext.Value `json:"state"`
}

// Declared is how served cards list it.
func (passport) Declared() ext.Declared {
	return ext.Declared{
		URI: passportURI,
		Description: "Lets a caller pass on signed context. Provided by the gateway, which makes sure that clientId is the " +
			"authenticated caller, and passes the signature on unverified.",
	}
}

// Request refuses a passport that is malformed or somebody else's.
func (passport) Request(f *ext.Facts, doc *wire.Carriers) error {
	for i := range doc.Marks {
		m := doc.Marks[i]
		if m.Listed || m.Key != passportURI {
			continue
		}
		if member, err := inspect(doc.Doc[m.Value[0]:m.Value[1]], f.Subject); err != nil {
			return wire.Errorf(wire.InvalidParams, "%s%s: %v", doc.PointerTo(m), member, err)
		}
	}
	return nil
}

// Answer has nothing to do.
func (passport) Answer(*ext.Facts, *wire.Carriers) error { return nil }

// inspect returns what is wrong with a passport of subject's, and the pointer to it
// inside. A member that the specification does not have is wrong too: some readers
// take client_id, or clientID, for clientId.
func inspect(value []byte, subject string) (member string, err error) {
	var c callerContext
	if err := json.Unmarshal(value, &c, json.RejectUnknownMembers(true)); err != nil || value[0] != '{' {
		return "", errors.New("want an object with clientId, state, and at most signature and sessionId beside them")
	}
	switch {
	case c.ClientID.Kind() != '"':
		return "/clientId", errors.New("want a text")
	case subject == "" || text(c.ClientID) != subject:
		return "/clientId", errors.New("not the authenticated caller")
	case c.State.Kind() != '{':
		return "/state", errors.New("want an object")
	case c.Signature != nil && c.Signature.Kind() != '"':
		return "/signature", errors.New("want a text")
	case c.SessionID != nil && c.SessionID.Kind() != '"':
		return "/sessionId", errors.New("want a text")
	}
	return "", nil
}

// text is the value of a JSON string.
func text(quoted jsontext.Value) string {
	s, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return ""
	}
	return string(s)
}
