package exchange_test

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// TestA08_ViolationsAreBounded: a call keeps some violations one by one, and counts all:
// those of an extension that is registered by its name.
func TestA08_ViolationsAreBounded(t *testing.T) {
	t.Parallel()
	book, err := ext.Registry{{URI: "urn:registered"}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange.Exchange{Negotiation: exchange.Negotiation{Book: book}}
	const n = 10_000
	for i := range n {
		x.Note(&content.Violation{Extension: fmt.Sprint("urn:nobody:", i), Fault: content.Undeclared})
	}
	for range n {
		x.Note(&content.Violation{Extension: "urn:registered", Fault: content.Invalid})
	}
	x.Note(&content.Violation{Extension: "urn:registered", Fault: content.Invalid, Enforced: true})
	counts := map[string]int{}
	for _, v := range x.Rec.Violations {
		uri := v.Extension
		if uri != "urn:registered" {
			uri = ""
		}
		counts[fmt.Sprint(uri, v.Enforced)] += 1 + v.More
	}
	if len(x.Rec.Violations) > 2*exchange.ManyViolations || counts["false"] != n || counts["urn:registeredfalse"] != n || counts["urn:registeredtrue"] != 1 {
		t.Errorf("%d are kept: %v", len(x.Rec.Violations), counts)
	}
}
