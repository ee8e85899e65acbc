package doctorcmd

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/validatecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// What clocks may differ by. Tokens are judged with a tolerance of a minute (authn.oidc[].clockSkew),
// and a Date has whole seconds.
const (
	skewOdd   = 10 * time.Second
	skewWrong = time.Minute
)

// most is how many are asked for the time: a clock that is wrong differs from all of them.
const most = 5

// clock compares this machine's with those of issuers and agents, by the Date of an answer
// (RFC 9110 §6.6.1).
func (d *doctor) clock(ctx context.Context, cfg *config.Config) {
	asked := asksOf(cfg)
	offsets := make([]*time.Duration, len(asked))
	var running sync.WaitGroup
	for i, a := range asked {
		running.Go(func() { offsets[i] = offset(ctx, a.client, a.at) })
	}
	running.Wait()
	var compared []string
	odd := false
	for i, off := range offsets {
		asked[i].close()
		if off == nil {
			continue
		}
		compared = append(compared, asked[i].whose)
		level, side := levelWarning, "behind"
		by := *off
		if by < 0 {
			by, side = -by, "ahead of"
		}
		if by < skewOdd {
			continue
		}
		if odd = true; by >= skewWrong {
			level = levelError
		}
		d.add(level, "clock", "this machine's is %s %s that of %s: set it by NTP, or tokens and proofs are taken for expired or not valid yet",
			by.Round(time.Second), side, asked[i].whose)
	}
	switch {
	case len(compared) == 0:
		d.warn("clock", "nobody was there to compare it with: timedatectl says whether it is set by NTP")
	case !odd:
		d.ok("clock", "agrees with that of %s", strings.Join(compared, ", "))
	}
}

// ask is somebody who is asked for the time.
type ask struct {
	whose  string
	at     string
	client *http.Client
	close  func()
}

// asksOf are issuers, then agents, each by the client that the gateway has for it.
func asksOf(cfg *config.Config) (list []ask) {
	egress, err := tunnel.New(cfg.Egress)
	if err != nil {
		return nil // validate's checks say so
	}
	plain := &http.Client{Transport: &http.Transport{DialContext: egress.Dialer(most * time.Second), DisableKeepAlives: true}}
	for _, issuer := range validatecmd.Issuers(cfg) {
		list = append(list, ask{"the issuer " + issuer, strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration", plain, func() {}})
	}
	for i := range cfg.Agents {
		if len(list) >= most {
			break
		}
		a := &cfg.Agents[i]
		up, err := upstream.New(a.Config, upstream.Options{Egress: egress})
		if err != nil {
			continue // likewise
		}
		list = append(list, ask{"agent " + a.ID, a.Card.URL.Reveal(), up.Client(), up.Close})
	}
	return list[:min(len(list), most)]
}

// offset is by how much another clock is ahead of this one; nil where it cannot be told. The answer
// was dated at some time between question and answer: the middle is the best guess.
func offset(ctx context.Context, client *http.Client, at string) *time.Duration {
	ctx, cancel := context.WithTimeout(ctx, most*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, secret.URL(at).Reveal(), nil)
	if err != nil {
		return nil
	}
	before := time.Now()
	resp, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer resp.Body.Close() // the header has it
	date, err := http.ParseTime(resp.Header.Get("Date"))
	// A cache on the way has kept the answer, and its date.
	if err != nil || resp.Header.Get("Age") != "" {
		return nil
	}
	after := time.Now()
	off := date.Add(time.Second / 2).Sub(before.Add(after.Sub(before) / 2))
	return &off
}
