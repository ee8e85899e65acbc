package card_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
)

// TestCheckOffer: bindings that leave a served card without an address are refused, with the
// reason.
func TestCheckOffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bindings            string
		form                card.Form
		taken, alone, below bool
		want                string // in the error; "" for none
	}{
		{"", card.Form("0.3"), false, false, true, ""},
		{"JSONRPC GRPC", card.Form("0.3"), false, false, true, ""},
		{"GRPC", "", true, false, false, ""},
		{"GRPC", "", false, true, false, "server.h2c"},
		{"GRPC", "", true, false, true, "server.publicURL"},
		{"GRPC", "", true, true, true, ""},
		{"GRPC", card.Form("0.3"), true, false, false, "no tenant"},
		{"GRPC", card.Form("0.3"), true, true, false, ""},
	} {
		c := card.Config{Form: tt.form, Bindings: strings.Fields(tt.bindings)}
		switch err := c.CheckOffer(tt.taken, tt.alone, tt.below); {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
