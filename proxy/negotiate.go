package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// negotiate: which extensions are active, and is what the call carries of them as
// it should be?
func (in *inspector) negotiate(x *exchange.Exchange) error {
	q := in.Question(x, x.Decision.Extensions)
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
	return in.inspect(x)
}
