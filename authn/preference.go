package authn

import (
	"errors"
	"net/http"
	"slices"
)

// preferred authenticates a request by the credential of the first scheme in authn.prefer of
// which it carries one. That one has to hold: where it is refused, no other is asked. ok is
// false when the request carries none of these methods.
func (c *Chain) preferred(r *http.Request) (p *Principal, ok bool, err error) {
	if len(c.prefer) == 0 {
		return nil, false, nil
	}
	if slices.ContainsFunc(c.headers, func(name string) bool { return len(r.Header[name]) > 1 }) {
		return nil, true, ErrAmbiguous
	}
	for _, method := range c.prefer {
		p, err = c.Scheme(method).Only(r)
		if !errors.Is(err, ErrNoCredentials) {
			return p, true, err
		}
	}
	return nil, false, nil
}
