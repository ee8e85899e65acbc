package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/console/extensions"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestExtensionsByAPI: the registry says what calls did, and of each agent is said what a
// call to it meets.
func TestExtensionsByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf(`extensions:
  - {uri: %q, description: Books the call., schemas: {metadata: {%[1]q: {type: string, pattern: "^cc-"}}}}
  - {uri: "https://never.example/v1", status: deprecated, sunset: "2099-03-31"}
agents:
  - {id: a, card: %q, extensions: {require: [%[1]q]}}
  - {id: b, card: %[2]q, extensions: {deny: [%[1]q]}}
  - {id: c, card: "http://127.0.0.1:9/card"}
`, demo.CostCentre, agent.CardURL)))
	admin := adminOf(t, w.dir)
	call := func(agent, centre string) (refused bool) {
		header := sendHeader(w.token("alice"))
		header.Set(ext.HeaderV10, demo.CostCentre)
		body := strings.Replace(sendBody("SendMessage", "1"), `"messageId"`, fmt.Sprintf(`"metadata":{%q:%q},"messageId"`, demo.CostCentre, centre), 1)
		status, answer, err := try(client(t), http.MethodPost, g.URL()+"/agents/"+agent, header, body)
		if err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		return strings.Contains(answer, `"error"`)
	}
	ask := func(path string, into any) {
		t.Helper()
		_, body := fetch(t, g.AdminURL()+"/api/v1/extensions"+path, admin)
		if err := json.Unmarshal([]byte(body), into); err != nil {
			t.Fatal(body, err)
		}
	}
	var of extensions.Standing
	for _, id := range []string{"a", "b"} {
		eventually(t, "the card of "+id+" is known", func() bool { ask("/agents/"+id, &of); return of.Card })
	}

	for _, tt := range []struct {
		agent, centre string
		refused       bool
	}{
		{"a", "cc-42", false},
		{"a", "42", true},     // the schema forbids it
		{"b", "cc-42", false}, // denied there: what belongs to it is taken out
	} {
		if call(tt.agent, tt.centre) != tt.refused {
			t.Errorf("%+v", tt)
		}
	}

	var registry extensions.Registry
	ask("", &registry)
	if len(registry.Extensions) < 2 || registry.Since.IsZero() {
		t.Fatalf("%+v", registry)
	}
	one := registry.Extensions[0]
	if one.URI != demo.CostCentre || one.Status != "allowed" || one.Kind != "profile" || one.Calls != (extensions.Negotiated{Activated: 1, Inactive: 1, Refused: 1}) ||
		!slices.Equal(one.Violations, []extensions.Violation{{Fault: "schema", Enforced: true, Count: 1}, {Fault: "unrequested", Enforced: true, Count: 1}}) {
		t.Errorf("%+v", one)
	}
	if two := registry.Extensions[1]; two.Status != "deprecated" || two.Sunset != "2099-03-31" || two.Calls != (extensions.Negotiated{}) {
		t.Errorf("%+v", two)
	}

	var page extensions.AdoptionPage
	ask("/agents", &page)
	var got []string
	for _, a := range page.Agents {
		for _, x := range a.Extensions {
			got = append(got, fmt.Sprint(a.Agent, " ", a.Card, " ", x.Standing, " ", x.Declared))
		}
	}
	if want := []string{"a true required true", "b true denied true"}; !slices.Equal(got, want) || len(page.Agents) != 3 || page.Agents[2].Card {
		t.Errorf("%q of %+v, want %q", got, page, want)
	}
	ask("/agents?limit=1", &page)
	if len(page.Agents) != 1 || page.Next == "" {
		t.Errorf("%+v", page)
	}
	ask("/agents/b", &of)
	if len(of.Extensions) != 1 || of.Extensions[0].Standing != "denied" || len(of.Extensions[0].Why) == 0 {
		t.Errorf("%+v", of)
	}
}
