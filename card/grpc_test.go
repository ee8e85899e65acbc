package card_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	client03 "github.com/a2aproject/a2a-go/a2aclient"
	resolver03 "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	pb03 "github.com/a2aproject/a2a-go/a2apb"
	conv03 "github.com/a2aproject/a2a-go/a2apb/pbconv"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	compat "github.com/a2aproject/a2a-go/v2/a2apb/v0/pbconv"
	pb10 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	conv10 "github.com/a2aproject/a2a-go/v2/a2apb/v1/pbconv"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// fatal is a test or one input of a fuzz target.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// message makes the Protobuf message of a version from a gRPC form.
func message(t fatal, v wire.Version, body []byte) proto.Message {
	t.Helper()
	var m proto.Message = &pb03.AgentCard{}
	if v == wire.V10 {
		m = &pb10.AgentCard{}
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, m); err != nil {
		t.Fatalf("not the message of %s: %v: %s", v, err, body)
	}
	return m
}

// TestGRPCForms: both gRPC forms of every golden card have nothing their message
// could not hold, and the official Go clients read from it what they read from
// the JSON forms.
func TestGRPCForms(t *testing.T) {
	t.Parallel()
	for path, a := range archives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c := mustParse(t, string(part(a, "agent.json")))
			for _, form := range forms {
				if form.side.Binding != wire.GRPC {
					continue
				}
				body := []byte(mustRender(t, c, form.view(c)))
				m := message(t, form.side.Version, body)
				if err := protojson.Unmarshal(body, proto.Clone(m)); err != nil {
					t.Errorf("%s: unknown members: %v", form.name, err)
				}
				switch m := m.(type) {
				case *pb10.AgentCard:
					checkMessage10(t, c, m)
				case *pb03.AgentCard:
					checkMessage03(t, c, m)
				}
			}
		})
	}
}

func checkMessage10(t *testing.T, c *card.Card, m *pb10.AgentCard) {
	t.Helper()
	got, err := conv10.FromProtoAgentCard(m)
	if err != nil {
		t.Fatal(err)
	}
	checkModern(t, c, got)
	want := a2a.SecurityRequirementsOptions{{"oidc": nil}, {"oidcBearer": nil}, {"apiKey": nil}}
	if diff := cmp.Diff(want, got.SecurityRequirements); diff != "" {
		t.Errorf("requirements: %s", diff)
	}
}

func checkMessage03(t *testing.T, c *card.Card, m *pb03.AgentCard) {
	t.Helper()
	old, err := conv03.FromProtoAgentCard(m)
	if err != nil {
		t.Fatal(err)
	}
	checkLegacy(t, c, old)
	got, err := compat.FromProtoAgentCard(m)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != c.Name || len(got.Skills) != len(c.Skills) || len(got.SecuritySchemes) != 3 ||
		len(got.SecurityRequirements) != 3 {
		t.Errorf("compatible: read %+v", got)
	}
}

// TestGRPCRequirements: Protobuf has one shape of requirements, whatever the
// operator chose for JSON.
func TestGRPCRequirements(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test"}`)
	for _, version := range []wire.Version{wire.V10, wire.V03} {
		var first proto.Message
		for _, shape := range []card.Requirements{"", "auto", "omit", "spec", "go"} {
			v := formed(c, wire.Side{Version: version, Binding: wire.GRPC})
			v.Requirements, v.Schemes.Anonymous = shape, true
			m := message(t, version, []byte(mustRender(t, c, v)))
			if first == nil {
				first = m
			}
			if !proto.Equal(first, m) {
				t.Errorf("%s, %q: %v", version, shape, m)
			}
		}
		var alternatives int
		switch m := first.(type) {
		case *pb10.AgentCard:
			alternatives = len(m.GetSecurityRequirements())
		case *pb03.AgentCard:
			alternatives = len(m.GetSecurity())
		}
		if alternatives != 4 {
			t.Errorf("%s: %d alternatives: %v", version, alternatives, first)
		}
	}
}

// errChosen ends the making of a client once it has chosen an interface.
var errChosen = errors.New("chosen")

// all is what a gateway with a gRPC listener offers.
func all() []card.Offered {
	var offer []card.Offered
	for _, version := range []wire.Version{wire.V03, wire.V10} { // 1.0 leads all the same
		for _, binding := range []wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC} {
			o := card.Offered{Version: version, Binding: binding}
			if binding == wire.GRPC {
				o.URL, o.Tenant = "grpc.gw.example.com:8443", "x"
			}
			offer = append(offer, o)
		}
	}
	return offer
}

// TestClientsChoose states which entry the official Go clients take, by what
// they can speak.
func TestClientsChoose(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","authentication":{"schemes":[]}}`)
	url := serve(t, c, func(v wire.Version) card.View {
		return card.View{BaseURL: base, Version: v, Offer: all()}
	})
	var tried []string
	take := func(kind string) a2aclient.TransportFactory {
		return a2aclient.TransportFactoryFn(
			func(_ context.Context, _ *a2a.AgentCard, i *a2a.AgentInterface) (a2aclient.Transport, error) {
				tried = append(tried, kind+" "+i.URL+" "+i.Tenant)
				return nil, errChosen
			})
	}
	modern := []a2aclient.FactoryOption{a2aclient.WithDefaultsDisabled()}
	old := []a2aclient.FactoryOption{a2aclient.WithDefaultsDisabled()}
	for _, b := range []a2a.TransportProtocol{a2a.TransportProtocolGRPC, a2a.TransportProtocolHTTPJSON,
		a2a.TransportProtocolJSONRPC} {
		modern = append(modern, a2aclient.WithTransport(b, take("1.0 "+string(b))))
		old = append(old, a2aclient.WithCompatTransport(a2av0.Version, b, take("0.3 "+string(b))))
	}
	const grpc = " GRPC grpc.gw.example.com:8443 "
	tests := []struct {
		name string
		opts []a2aclient.FactoryOption
		want []string // in the order in which they are tried
	}{
		{"1.0", modern, []string{"1.0 JSONRPC " + base + " ", "1.0 HTTP+JSON " + base + " ", "1.0" + grpc + "x"}},
		{"0.3", old, []string{"0.3 JSONRPC " + base + " ", "0.3 HTTP+JSON " + base + " ", "0.3" + grpc}},
		{"1.0 and 0.3", slices.Concat(old, modern), []string{
			"1.0 JSONRPC " + base + " ", "1.0 HTTP+JSON " + base + " ", "1.0" + grpc + "x",
			"0.3 JSONRPC " + base + " ", "0.3 HTTP+JSON " + base + " ", "0.3" + grpc,
		}},
	}
	for _, tt := range tests {
		for _, version := range []string{"", "1.0"} {
			header := agentcard.WithRequestHeader("A2A-Version", version)
			got, err := agentcard.DefaultResolver.Resolve(t.Context(), url, header)
			if err != nil {
				t.Fatal(err)
			}
			tried = nil
			if _, err := a2aclient.NewFromCard(t.Context(), got, tt.opts...); !errors.Is(err, errChosen) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tried); diff != "" {
				t.Errorf("%s, version %q: %s", tt.name, version, diff)
			}
		}
	}
}

// TestOldClientsChoose is TestClientsChoose for the 0.3 SDK, which may find the
// card under either name.
func TestOldClientsChoose(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","authentication":{"schemes":[]}}`)
	url := serve(t, c, func(v wire.Version) card.View {
		return card.View{BaseURL: base, Version: v, Offer: all()}
	})
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json"} {
		var tried []string
		opts := []client03.FactoryOption{client03.WithDefaultsDisabled()}
		for _, b := range []a2a03.TransportProtocol{a2a03.TransportProtocolGRPC, a2a03.TransportProtocolJSONRPC,
			a2a03.TransportProtocolHTTPJSON} {
			opts = append(opts, client03.WithTransport(b, client03.TransportFactoryFn(
				func(_ context.Context, url string, _ *a2a03.AgentCard) (client03.Transport, error) {
					tried = append(tried, string(b)+" "+url)
					return nil, errChosen
				})))
		}
		got, err := resolver03.DefaultResolver.Resolve(t.Context(), url, resolver03.WithPath(path))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client03.NewFromCard(t.Context(), got, opts...); !errors.Is(err, errChosen) {
			t.Fatal(err)
		}
		want := []string{"JSONRPC " + base, "JSONRPC " + base, "HTTP+JSON " + base, "GRPC grpc.gw.example.com:8443"}
		if diff := cmp.Diff(want, tried); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
