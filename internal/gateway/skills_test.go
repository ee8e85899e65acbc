package gateway_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// A caller with one of several skills is given URLs that name it, in whichever
// card, and every unmodified client then stays within it.
func TestCardsNameTheOnlySkill(t *testing.T) {
	t.Parallel()
	f := gatewaytest.Flavours()[1]
	agent := gatewaytest.Start(t, f)
	w := newWorld(t)
	g := w.start(w.yaml(plain, twoCallers+fleet(agent)))
	base := g.URL() + "/agents/" + agent.ID
	tests := []struct {
		name   string
		header http.Header
		url    string
		want   string // URL of the card's interfaces; "" for no card
		skills string
	}{
		{"stranger", nil, base, base, "work,rest"},
		{"all skills", w.token("x", "all"), base, base, "work,rest"},
		{"all skills, by one's card", w.token("x", "all"), base + "/skills/rest", base + "/skills/rest", "rest"},
		{"one skill", w.token("x", "one"), base, base + "/skills/work", "work"},
		{"one skill, by its card", w.token("x", "one"), base + "/skills/work", base + "/skills/work", "work"},
		{"one skill, by another's card", w.token("x", "one"), base + "/skills/rest", "", ""},
		{"no skill", w.token("x", "nobody"), base, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				status, _ := fetch(t, tt.url+"/.well-known/agent-card.json", tt.header)
				if status != http.StatusNotFound {
					t.Errorf("status %d", status)
				}
				return
			}
			hc := gatewaytest.HTTPClient(t, tt.header, nil)
			client, card := gatewaytest.Dial(t, gatewaytest.Go10, hc, tt.url, f.Version, f.Binding)
			host := strings.TrimPrefix(g.URL(), "http://")
			tenant := strings.TrimPrefix(tt.want, g.URL()+"/agents/") // where no path can say it
			for _, i := range card.SupportedInterfaces {
				if i.ProtocolBinding == a2a.TransportProtocolGRPC {
					if i.URL != host || i.Tenant != tenant {
						t.Errorf("the card names %s and tenant %q, want %s and %q", i.URL, i.Tenant, host, tenant)
					}
				} else if i.URL != tt.want || i.Tenant != "" {
					t.Errorf("the card names %s and tenant %q, want %s", i.URL, i.Tenant, tt.want)
				}
			}
			var skills []string
			for _, s := range card.Skills {
				skills = append(skills, s.ID)
			}
			if got := strings.Join(skills, ","); got != tt.skills {
				t.Errorf("the card has skills %s, want %s", got, tt.skills)
			}
			if tt.header == nil {
				return
			}
			rpc, _ := gatewaytest.Dial(t, gatewaytest.Go10, hc, tt.url, f.Version, a2a.TransportProtocolGRPC)
			for _, client := range []gatewaytest.Client{client, rpc} {
				for _, err := range client.SendStreamingMessage(t.Context(), say("stream")) {
					if err != nil {
						t.Errorf("stream: %v", err)
					}
				}
			}
		})
	}
}

// A rule about a skill that turns out not to exist is warned of, once, when the
// card is known; one that the file itself disproves is not loaded.
func TestRulesAboutSkillsThatAreNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil) // has a skill "work"
	yaml := w.yaml(plain, `policy: {rules: [{name: dream, effect: allow, agents: [a], skills: [fly]}]}
`+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL)))
	g := w.start(yaml)
	const warning = `none of its agents has a skill`
	eventually(t, "the warning", func() bool { return strings.Contains(w.log.String(), warning) })
	if n := strings.Count(w.log.String(), warning); n != 1 {
		t.Errorf("warned %d times: %s", n, w.log.String())
	}
	err := w.reload(g, strings.Replace(yaml, "id: a,", "id: a, skills: [{id: work}],", 1))
	if err == nil || !strings.Contains(err.Error(), `rule "dream": none of its agents has a skill "fly"`) {
		t.Errorf("reload: %v", err)
	}
}

// Follow ties the parts together: file, load, reload, and the signal that also
// reopens the audit log.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := newCounter(t, nil), newCounter(t, nil)
	yaml := func(agents ...string) string {
		return w.yaml(plain, openPolicy+"agents:\n"+strings.Join(agents, ""))
	}
	line := func(id string, c *counter) string {
		return fmt.Sprintf("  - {id: %s, card: %s}\n", id, everyBinding(c.CardURL))
	}
	g := w.start(yaml(line("a", a)))
	hup := make(chan os.Signal, 1)
	follow(t, g, w.path, hup)
	credential := w.token("caller")

	w.write(yaml(line("a", a), line("b", b)))
	eventually(t, "the new agent is served", func() bool {
		status, _ := call(t, g, "b", credential)
		return status == http.StatusOK
	})
	w.write("server: [")
	eventually(t, "the bad file is reported", func() bool {
		_, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil)
		return strings.Contains(ready, "config: failed")
	})
	if status, _ := call(t, g, "b", credential); status != http.StatusOK {
		t.Errorf("after a bad file a call is answered %d", status)
	}
	w.write(yaml(line("a", a)))
	eventually(t, "the agent is gone", func() bool {
		status, _ := call(t, g, "b", credential)
		return status == http.StatusNotFound
	})
	reloads := metric(t, g, `a2a_gateway_config_reloads_total{result="ok"}`)
	hup <- os.Interrupt // whatever the signal, it is the channel that counts
	eventually(t, "the signal reloads", func() bool {
		return metric(t, g, `a2a_gateway_config_reloads_total{result="ok"}`) != reloads
	})
}
