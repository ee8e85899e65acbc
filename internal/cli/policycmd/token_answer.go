package policycmd

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// resolved is who a credential stands for.
// Agents has every agent of the configuration, or the one that was asked for, in its order.
type resolved struct {
	identity
	Workload *identity   `json:"workload,omitempty"`
	Agents   []authority `json:"agents"`
}

// identity is a principal without what its credential is made of.
// The credential, its claims and the evidence of the key that it is bound to are left out: the
// answer is pasted into tickets.
type identity struct {
	Subject  string    `json:"subject"`
	Issuer   string    `json:"issuer"`
	Method   string    `json:"method"`
	Key      string    `json:"key,omitempty"` // id of the API key, or of the issuer's key
	Client   string    `json:"client,omitempty"`
	Tenant   string    `json:"tenant,omitempty"`
	Owner    string    `json:"owner,omitempty"`
	Groups   []string  `json:"groups,omitempty"`
	Scopes   []string  `json:"scopes,omitempty"`
	Actors   []string  `json:"actors,omitempty"`
	Proof    string    `json:"proof,omitempty"`
	ACR      string    `json:"acr,omitempty"`
	AMR      []string  `json:"amr,omitempty"`
	AuthTime time.Time `json:"auth_time,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
}

// authority is what the rules say of a caller on one agent.
type authority struct {
	Agent   string   `json:"agent"`
	Visible bool     `json:"visible"`
	Skills  []string `json:"skills,omitempty"` // of those that the configuration lists
	Rules   []string `json:"rules,omitempty"`  // whose conditions on the caller hold, "allow NAME"
}

// identify takes over the names of a principal.
func identify(p *authn.Principal) identity {
	i := identity{
		Subject: p.Subject, Issuer: p.Issuer, Method: p.Method, Key: p.KeyID, Client: p.Client, Tenant: p.Tenant,
		Owner: p.Owner, Groups: p.Groups, Scopes: p.Scopes, Proof: p.Proof, ACR: p.ACR, AMR: p.AMR,
		AuthTime: p.AuthTime, Expires: p.Expires,
	}
	for _, a := range p.Actors {
		i.Actors = append(i.Actors, a.String())
	}
	return i
}

// describe asks the rules about one agent, or all.
// Skills are those that the configuration lists: cards are not fetched here.
func describe(p *authn.Principal, cfg *config.Config, rules *policy.Set, only string) *resolved {
	r := &resolved{identity: identify(p), Agents: []authority{}}
	if p.Workload != nil {
		w := identify(p.Workload)
		r.Workload = &w
	}
	// Rules are asked about SendMessage, the call that skills are for.
	send, _ := wire.ByName(wire.V10, wire.SendMessage)
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		if only != "" && a.ID != only {
			continue
		}
		// A credential that is bound to other agents sees none of this one, whatever the rules
		// say.
		au := authority{Agent: a.ID, Visible: p.MayUse(a.ID) && rules.Sees(p, a.ID)}
		var listed []string
		for _, s := range a.Skills {
			listed = append(listed, s.ID)
		}
		if au.Visible {
			au.Skills = rules.Skills(p, a.ID, listed)
		}
		au.Rules = applying(rules, policy.Request{
			Principal: p, Agent: a.ID, Method: send, Skills: listed, Now: time.Now(),
		})
		// Rules are listed also where the agent is not visible: they show why.
		r.Agents = append(r.Agents, au)
	}
	return r
}

// applying lists the rules that may decide calls of the caller's, in the order of the
// file, whatever the method and the skill: those are for the call to say.
//
// A rule that fails for its method or its skills counts, as another call could meet those. So does
// one that fails for something that another sign-in brings, with what it lacks.
func applying(rules *policy.Set, q policy.Request) []string {
	steps := rules.Trace(q)
	// Each listed skill is tried, since a rule about one skill fails for all others.
	for _, q.Skill = range q.Skills {
		for i, step := range rules.Trace(q) {
			if steps[i].Failed == "skills" {
				steps[i] = step // of the skill that the rule is about, in the end
			}
		}
	}
	var all []string
	for _, s := range steps {
		text := s.Effect + " " + s.Rule
		if s.Shadow {
			text += " (shadow)"
		}
		// Failed is authentication.maxAge or consent.scope, for example: the part before the dot
		// names the condition.
		if s.Obtainable {
			condition, _, _ := strings.Cut(s.Failed, ".")
			text += " (lacks " + condition + ")"
		}
		if s.Obtainable || s.Failed == "" || s.Failed == "methods" || s.Failed == "skills" {
			all = append(all, text)
		}
	}
	return all
}

// print is the answer for people, a table of two columns.
func (r *resolved) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	r.identity.print(t, "")
	if r.Workload != nil {
		_, _ = fmt.Fprintln(t, "workload")
		r.Workload.print(t, "  ")
	}
	for _, a := range r.Agents {
		_, _ = fmt.Fprintf(t, "agent\t%s\n", a.Agent)
		if !a.Visible {
			_, _ = fmt.Fprintln(t, "  allowed\tnothing")
		}
		row(t, "  skills", strings.Join(a.Skills, ", "))
		row(t, "  rules", strings.Join(a.Rules, ", "))
	}
	_ = t.Flush()
}

// print adds the rows of an identity. One that does not end says so: an API key without an end is
// worth a look.
func (i *identity) print(w io.Writer, indent string) {
	for _, r := range [][2]string{
		{"subject", i.Subject}, {"issuer", i.Issuer}, {"method", i.Method}, {"key", i.Key}, {"client", i.Client},
		{"tenant", i.Tenant}, {"owner", i.Owner}, {"groups", strings.Join(i.Groups, ", ")},
		{"scopes", strings.Join(i.Scopes, ", ")}, {"actors", strings.Join(i.Actors, ", ")}, {"proof", i.Proof},
		{"acr", i.ACR}, {"amr", strings.Join(i.AMR, ", ")}, {"authenticated", stamp(i.AuthTime)},
	} {
		row(w, indent+r[0], r[1])
	}
	expires := stamp(i.Expires)
	if expires == "" {
		expires = "never"
	}
	row(w, indent+"expires", expires)
}

// row prints a row unless there is nothing to say.
func row(w io.Writer, name, value string) {
	if value != "" {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, value)
	}
}

// stamp is a time in RFC 3339 and UTC; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// clientState is the connection of a client with the certificate in a file, verified by
// the CAs of the configuration as a handshake would.
//
// Without server.tls.clientCA nothing is verified, and no principal comes of the certificate
// alone; a token that is bound to it (RFC 8705 §3) can still be held to it.
func clientState(cfg *config.Config, path string) (*tls.ConnectionState, error) {
	certs, err := readCertificates(path)
	if err != nil {
		return nil, fmt.Errorf("--certificate: %w", err)
	}
	state := &tls.ConnectionState{HandshakeComplete: true, PeerCertificates: certs}
	if cfg.Server.TLS == nil || len(cfg.Server.TLS.ClientCA) == 0 {
		return state, nil // good for bound tokens
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	// The files are read anew, as the listener reads them when the gateway starts.
	for _, file := range cfg.Server.TLS.ClientCA {
		cas, err := readCertificates(file)
		if err != nil {
			return nil, fmt.Errorf("server.tls.clientCA: %w", err)
		}
		for _, ca := range cas {
			roots.AddCert(ca)
		}
	}
	for _, c := range certs[1:] {
		between.AddCert(c)
	}
	// The first certificate is the client's, the others may be intermediates (RFC 8446 §4.4.2).
	state.VerifiedChains, err = certs[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, fmt.Errorf("--certificate: no CA of server.tls.clientCA vouches for it: %w", err)
	}
	return state, nil
}

// readCertificates reads all certificates of a PEM file, in their order. Other blocks, such as a
// key that is kept beside, are passed over.
func readCertificates(path string) ([]*x509.Certificate, error) {
	rest, err := os.ReadFile(path) //nolint:gosec // a path of the command line
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("%s holds no certificate", path)
	}
	return certs, nil
}
