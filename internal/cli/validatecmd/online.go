package validatecmd

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/findcard"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// atOnce is how many agents and services are asked at the same time. A fleet of a thousand agents
// would otherwise run out of descriptors on a laptop.
const atOnce = 16

// OnlineTimeout is for one agent, service or specification. All of them are asked at once, so
// that one that does not answer keeps nobody waiting.
const OnlineTimeout = 30 * time.Second

// outcome is what one check has to say: what is in order (standard output), what is odd (a
// warning) and what is wrong (exit code 1).
type outcome struct {
	good, odd, wrong []string
	Err              error // likewise wrong
}

// Online does what `validate --online` does beyond validate, for that and for doctor. say is told what was found that
// is in order, and warn what is odd. The error joins all that is wrong.
//
// Everything is asked with one attempt and without credentials of callers. What rules and the
// registry say of skills and extensions is compared last, as it takes the cards: the skills of an
// agent whose card could not be fetched are not known, and rules on them are left alone.
func Online(ctx context.Context, cfg *config.Config, say, warn func(string)) error {
	// validate has compiled the registry already, so that an error here is a file that changed
	// meanwhile.
	book, err := cfg.Extensions.Compile()
	if err != nil {
		return err
	}
	defer book.Close()
	egress, err := tunnel.New(cfg.Egress)
	if err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	// Each check writes to its own place, so that no lock is needed.
	skills := make([][]string, len(cfg.Agents)) // nil where there is no card
	var checks []func(context.Context) outcome
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		checks = append(checks, func(ctx context.Context) outcome {
			t, c := checkAgent(ctx, a, book, egress)
			if c != nil {
				skills[i] = skillsOf(a, c)
			}
			return t.Of("agent " + a.ID)
		})
	}
	checks = append(checks, services(cfg, egress)...)
	for i := range cfg.Extensions {
		checks = append(checks, func(ctx context.Context) outcome {
			err := checkSpecification(ctx, &cfg.Extensions[i], egress)
			if err != nil {
				err = fmt.Errorf("extensions[%d].%w", i, err)
			}
			return outcome{Err: err}
		})
	}
	errs := sayAll(inOrder(ctx, checks), say, warn)
	return errors.Join(append(errs, unknownSkills(cfg, book, skills)...)...)
}

// sayAll says what is in order, warns of what is odd, and returns what is wrong, nil among it. It
// is called when all checks have ended, so that the output is in the order of the file each time.
func sayAll(all []outcome, say, warn func(string)) (errs []error) {
	for _, t := range all {
		for _, text := range t.good {
			say(text)
		}
		for _, text := range t.odd {
			warn(text)
		}
		for _, text := range t.wrong {
			errs = append(errs, errors.New(text))
		}
		errs = append(errs, t.Err)
	}
	return errs
}

// Of has everything begin with what it is about.
func (t outcome) Of(what string) outcome {
	for _, list := range [][]string{t.good, t.odd, t.wrong} {
		for i := range list {
			list[i] = what + ": " + list[i]
		}
	}
	if t.Err != nil {
		t.Err = fmt.Errorf("%s: %w", what, t.Err)
	}
	return t
}

// inOrder makes all checks at once, at most atOnce of them at the same time, each within
// OnlineTimeout, and returns what they say in their own order.
func inOrder(ctx context.Context, checks []func(context.Context) outcome) []outcome {
	all := make([]outcome, len(checks))
	turn := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i, check := range checks {
		running.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			ctx, cancel := context.WithTimeout(ctx, OnlineTimeout)
			defer cancel()
			all[i] = check(ctx)
		})
	}
	running.Wait()
	return all
}

// checkAgent fetches an agent's card as the gateway would (TLS, credentials, proxy), says what is
// odd about it, and asks the agent for a task that nobody has (GetTask), over each interface that
// calls may go to. A2A has no call that does nothing; this one changes nothing at the agent, and
// its error shows that version and binding are understood. The card is nil where there is none.
func checkAgent(ctx context.Context, a *agents.Config, book *ext.Book, egress *tunnel.Proxy) (outcome, *card.Card) {
	// The agent's own client, as calls to it have it: TLS, credentials, the way out.
	up, err := upstream.New(a.Config, upstream.Options{Egress: egress})
	if err != nil {
		return outcome{Err: err}, nil
	}
	defer up.Close()
	c, err := card.Fetch(ctx, up.Client(), a.Card.URL, 0)
	if err != nil {
		return outcome{Err: vouched(a, findcard.Misplaced(ctx, up.Client(), a.Card.URL, err))}, nil
	}
	// What the registry says of the extensions that the card declares.
	t := outcome{odd: book.Lint(c.Extensions)}
	// The interfaces that calls may go to, by the card and the agent's section.
	usable, _ := a.Usable(c)
	switch {
	case len(usable) == 0:
		t.Err = errors.New("the card names no endpoint of its own origin; list them under endpoints, or write them down under interfaces")
	// A name in DNS, or a service of Kubernetes, which this machine may not be able to look up.
	case len(a.Load.Instances) > 0:
		t.good = append(t.good, "its instances are not asked: the running gateway finds them")
	default:
		t.probe(ctx, up, usable)
	}
	return t, c
}

// vouched adds to the error of a handshake with an agent the key that mends it, and the file that
// is there already.
func vouched(a *agents.Config, err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &unknown) && a.TLS.CA != "":
		return fmt.Errorf("%w: its CA is not in %s (agents[].tls.ca)", err, a.TLS.CA)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: name the file with its CA under agents[].tls.ca", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w: where another name is meant, write it under agents[].tls.serverName", err)
	}
	return err
}

// probe asks an agent over each of its interfaces. That calls would reach it over none is an
// error; over some, a warning, since the gateway chooses an interface for each call and may choose
// one that works.
func (t *outcome) probe(ctx context.Context, up *upstream.Upstream, usable []card.Interface) {
	var wrong []string
	for _, i := range usable {
		switch f, text := AskedOver(ctx, up, i); {
		case f.Fails:
			wrong = append(wrong, text)
		case f.Odd:
			t.odd = append(t.odd, text)
		default:
			t.good = append(t.good, text)
		}
	}
	// At least one answers.
	if len(wrong) < len(usable) {
		t.odd = append(t.odd, wrong...)
	} else {
		t.wrong = wrong
	}
}

// AskedOver is what an agent does over one interface, for people.
func AskedOver(ctx context.Context, up *upstream.Upstream, i card.Interface) (proxy.Finding, string) {
	f := proxy.Probe(ctx, up, i)
	return f, fmt.Sprintf("A2A %s %s at %s: %s", i.Version, i.Binding, verb.Cell(secret.URL(i.URL).String()), verb.Legible(f.Text))
}

// specificationLimit is what a specification may be at most, in bytes.
const specificationLimit = 16 << 20

// checkSpecification compares the specification of an extension that is a URL with its digest.
// Without a digest there is nothing to compare it with. A document that has changed since somebody
// read it is one that nobody has agreed to.
func checkSpecification(ctx context.Context, e *ext.Entry, egress *tunnel.Proxy) error {
	// A specification that is a file was compared by Check.
	if e.Digest == "" || !strings.Contains(e.Specification, "://") {
		return nil
	}
	sum, err := fetchDigest(ctx, e.Specification, egress)
	if err != nil {
		return fmt.Errorf("specification: %w", err)
	}
	if sum != e.Digest {
		return fmt.Errorf("digest: %s has changed: its digest is %s", secret.URL(e.Specification), sum)
	}
	return nil
}

// fetchDigest is the digest of what is at a URL, sha256: and hex digits as Entry.Digest has it. It
// follows up to five redirects, and none from https to http, and reads at most specificationLimit
// bytes.
func fetchDigest(ctx context.Context, raw string, egress *tunnel.Proxy) (string, error) {
	where := secret.URL(raw)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return "", fmt.Errorf("%s is no http or https URL, and cannot be compared with its digest", where)
	}
	transport := &http.Transport{DialContext: egress.Dialer(OnlineTimeout), ForceAttemptHTTP2: true, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		// Whoever is on the way could answer with any document.
		case r.URL.Scheme != "https" && via[0].URL.Scheme == "https":
			return errors.New("redirected to plaintext")
		case len(via) > 5:
			return errors.New("redirected more than five times")
		}
		return nil
	}}
	// Nothing of the configuration's credentials goes with it: a specification is public.
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the URL in it is not redacted
		}
		return "", fmt.Errorf("fetch %s: %w", where, where.Hide(err))
	}
	defer resp.Body.Close() // only read from
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("fetch %s: the server answered %s", where, resp.Status)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(resp.Body, specificationLimit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("fetch %s: %w", where, err)
	case n > specificationLimit:
		return "", fmt.Errorf("fetch %s: larger than %d bytes", where, specificationLimit)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
