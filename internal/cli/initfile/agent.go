package initfile

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/findcard"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/validatecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// look fetches the card and reads it as the gateway will: by the same client, with the CA and the
// proxy that the configuration is going to have. What only the card says (name, version, skills)
// goes into comments of the file; the id is made of the name where no flag gives one.
//
// The first interface that the gateway would use decides in which version the sample call is
// written.
func (b *beginning) look(ctx context.Context, egress *tunnel.Proxy) error {
	up, err := upstream.New(upstream.Config{TLS: upstream.TLS{CA: b.CA}}, upstream.Options{Egress: egress})
	if err != nil {
		return verb.Usage(fmt.Errorf("--ca: %w", err))
	}
	defer up.Close()
	found, err := findcard.Find(ctx, up.Client(), b.CardURL)
	if err != nil {
		return verb.Failed(untrusted(err))
	}
	c := found.Card
	b.CardURL = found.At.Reveal()
	if found.Note != "" {
		b.Notes = append(b.Notes, found.Note)
	}
	b.Name, b.Version = verb.Cell(c.Name), verb.Cell(c.Version)
	for i := range c.Skills {
		b.Skills = append(b.Skills, verb.Cell(c.Skills[i].ID))
	}
	// --id was not given.
	if b.ID == "" {
		b.ID = named(c.Name)
	}
	// usable are at the card's own origin, or at none that the card may choose; refused at others.
	usable, refused := c.Endpoints(secret.URL(b.CardURL), nil)
	if len(usable) == 0 && len(refused) == 0 {
		return verb.Failed(errors.New("the card names no endpoint"))
	}
	// By the card's own words: whether an answer says so too is shown by tried.
	b.Secured = secured(c.Raw)
	if len(usable) == 0 {
		return b.elsewhere(ctx, c, refused, up)
	}
	b.Old = usable[0].Version != wire.V10
	b.Found = tried(ctx, usable, up).texts
	return nil
}

// untrusted says what can be done about a CA that is not known here. It is the usual end of a
// first try with an agent inside a company.
func untrusted(err error) error {
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) {
		return err
	}
	return fmt.Errorf("%w: nobody who is trusted vouches for the agent's certificate: name its CA with --ca FILE, which the configuration has under agents[].tls.ca", err)
}

// askIssuer tries the issuer as `validate --online` does: discovery and the key set. What is wrong
// is told and no more: the issuer may be one that only the gateway reaches.
func (b *beginning) askIssuer(ctx context.Context, egress *tunnel.Proxy) {
	if b.Issuer == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, validatecmd.OnlineTimeout)
	defer cancel()
	if err := validatecmd.Reach(ctx, jwt.Issuer{Issuer: b.Issuer}, egress).Of("authn.oidc[0]").Err; err != nil {
		b.Found, b.Doubtful = append(b.Found, verb.Legible(err.Error())), true
	}
}

// answered is what an agent does over some interfaces when it is asked for a task that is not
// there.
type answered struct {
	texts   []string
	answers bool // one of them is an agent's, by all that can be told: it may want credentials
	first   int  // the one
}

// tried asks over all interfaces at once. That an agent fails is told and no more.
func tried(ctx context.Context, over []card.Interface, up *upstream.Upstream) (at answered) {
	at.texts = make([]string, len(over))
	found := make([]proxy.Finding, len(over))
	var asking sync.WaitGroup
	for n, i := range over {
		// Each writes to its own place, so that no lock is needed.
		asking.Go(func() { found[n], at.texts[n] = validatecmd.AskedOver(ctx, up, i) })
	}
	asking.Wait()
	at.first = slices.IndexFunc(found, func(f proxy.Finding) bool { return !f.Fails || f.Refuses })
	at.answers = at.first >= 0
	return at
}

// notInID is what an id of an agent may not hold.
var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// named makes an id of a card's name: "Billing Agent (EU)" becomes billing-agent-eu. It has at
// most 32 characters, as it stands in every URL and record; "agent" where nothing is left, as of a
// name in another script.
func named(name string) string {
	id := strings.Trim(notInID.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(id) > 32 {
		id = strings.TrimRight(id[:32], "-")
	}
	if id == "" {
		return "agent"
	}
	return id
}

// origins are those of interfaces, as agents[].endpoints has them: scheme, host and port, each
// once and in the order of the card.
func origins(of []card.Interface) (list []string) {
	known := map[string]bool{}
	for _, i := range of {
		scheme, rest, _ := strings.Cut(spelled(i.URL), "://")
		host, _, _ := strings.Cut(rest, "/")
		if origin := scheme + "://" + host; !known[origin] {
			known[origin] = true
			list = append(list, origin)
		}
	}
	return list
}

// secured reports whether a card asks for credentials: security in 0.3, securityRequirements in
// 1.0. The written file then has a line about the gateway's own credentials, commented out.
func secured(raw []byte) bool {
	var c struct {
		Security             []json.RawMessage `json:"security"`
		SecurityRequirements []json.RawMessage `json:"securityRequirements"`
	}
	return json.Unmarshal(raw, &c) == nil && len(c.Security)+len(c.SecurityRequirements) > 0
}
