package card

import (
	"net/http"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Form is which members a served card has: those of one version, or of several beside
// each other.
type Form string

// The forms. The empty one means autoForm.
const (
	autoForm   Form = "auto"  // the request's version's alone; mixed where it names none
	MixedForm  Form = "mixed" // those of 0.3 and 1.0, which readers of either understand
	modernForm Form = "1.0"
	legacyForm Form = "0.3"
)

// Of says in which form a request gets the card: the version that it is written in, and
// whether with that version's members alone. A request names a version by its A2A-Version
// header, or by a query parameter of the same name, for clients whose one setting is an
// address. One that names a version nobody serves, or two, gets the mixed form: the card
// is where a client learns what it could have asked for.
func (f Form) Of(h http.Header, q url.Values) (version wire.Version, pure bool) {
	switch f {
	case MixedForm:
		return wire.V03, false
	case modernForm:
		return wire.V10, true
	case legacyForm:
		return wire.V03, true
	}
	if named, err := wire.RequestVersion(h, q); err == nil && named != "" {
		return named, true
	}
	return wire.V03, false
}
