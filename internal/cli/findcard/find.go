// Package findcard finds the card of an agent of which somebody knows only where it is.
//
// A2A puts the card at /.well-known/agent-card.json (RFC 8615) of the agent's origin, older
// versions at /.well-known/agent.json, and many agents below a path of their own. `init` is given
// whatever a person has copied, and `validate --online` says of a card that is not where the
// configuration has it where it is instead. The first that answers with a card wins; what is tried
// is at most seven small GETs.
package findcard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// wellKnown are the paths of a card below an agent's base URL: of A2A 0.3 and 1.0, and of
// the versions before.
var wellKnown = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// Found is a card that a URL led to.
type Found struct {
	*card.Card

	At   secret.URL
	Note string // where it is, if not at the URL; "" if it is
}

// Find fetches the card that a URL leads to: its own, or the base URL of the agent. When there
// is none, the error says what was asked for and what is there.
func Find(ctx context.Context, client *http.Client, raw string) (Found, error) {
	base, err := BaseOf(raw)
	if err != nil {
		return Found{}, err
	}
	// first is about the URL that was given. telling is the first error that is more than "not
	// there", such as a document that is no card.
	var first, telling error
	var asked []string
	for _, at := range places(raw, base) {
		c, err := card.Fetch(ctx, client, at, 0)
		if err == nil {
			return Found{c, at, noted(raw, base, at)}, nil
		}
		if asked = append(asked, at.String()); first == nil {
			first = err
		}
		var failed interface{ Timeout() bool } // of the network: the other paths fail alike
		// Nobody listens there, or nothing resolves: six more attempts would wait for the same.
		if errors.As(err, &failed) {
			return Found{}, err
		}
		if telling == nil && !errors.Is(err, card.ErrAbsent) {
			telling = err
		}
	}
	if telling != nil {
		return Found{}, telling
	}
	// Something is there, and speaks another protocol: that is more of a help than a list of 404.
	if is := spoken(ctx, client, base); is != "" {
		return Found{}, errors.New(is)
	}
	return Found{}, fmt.Errorf("%w; no card is at any of %s: give the URL of the card itself", first, strings.Join(asked, ", "))
}

// Misplaced adds to the error about a card that is not where the configuration says where it is,
// or what is there in the place of an agent.
func Misplaced(ctx context.Context, client *http.Client, at secret.URL, err error) error {
	if !errors.Is(err, card.ErrAbsent) {
		return err
	}
	found, other := Find(ctx, client, at.Reveal())
	if other != nil {
		return other
	}
	return fmt.Errorf("%w; a card is at %s: if it is the agent's, write that under card", err, found.At)
}

// BaseOf is the base URL that a card's URL, or a base URL itself, is about, without a slash at
// its end.
func BaseOf(raw string) (*url.URL, error) {
	if !strings.Contains(raw, "://") {
		return nil, fmt.Errorf("%q is no URL: it lacks the scheme, as in http://%s", raw, raw)
	}
	u, err := secret.URL(raw).Parse()
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the card's URL: %w", secret.NotAbsolute(err))
	}
	// Without query and fragment, which belong to a card's URL alone.
	base := &url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path}
	if before, _, ok := strings.Cut(base.Path, "/.well-known/"); ok {
		base.Path = before
	} else if strings.HasSuffix(base.Path, ".json") {
		base.Path = base.Path[:strings.LastIndex(base.Path, "/")]
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	return base, nil
}

// places are where a card is looked for, each once and the likeliest first: at the URL itself
// where it looks like that of a card (a well-known path, .json or a query), at the well-known
// paths below the base URL, at the URL as it was given, and at the well-known paths of the origin.
func places(raw string, base *url.URL) []secret.URL {
	var list []secret.URL
	add := func(at string) {
		if !slices.Contains(list, secret.URL(at)) {
			list = append(list, secret.URL(at))
		}
	}
	if strings.Contains(raw, "/.well-known/") || strings.HasSuffix(raw, ".json") || strings.Contains(raw, "?") {
		add(raw)
	}
	for _, path := range wellKnown {
		add(base.String() + path)
	}
	add(raw)
	for _, path := range wellKnown {
		add(originOf(base) + path)
	}
	return list
}

// originOf is a URL's scheme, credentials and host, without a path.
func originOf(base *url.URL) string {
	return (&url.URL{Scheme: base.Scheme, User: base.User, Host: base.Host}).String()
}

// noted says where a card is that was found at another URL than the given one.
func noted(raw string, base *url.URL, at secret.URL) string {
	switch {
	case at.Reveal() == raw:
		return ""
	case base.Path != "" && !strings.HasPrefix(at.Reveal(), base.String()+"/"):
		return fmt.Sprintf("there is no card below %s: this is the one at the origin, %s; is it the agent that is meant?",
			secret.URL(base.String()), at)
	}
	return "the card is at " + at.String()
}

// spoken says what is at a base URL that has no card, where it answers like something known; ""
// else. People take MCP servers for agents: both speak JSON-RPC over HTTP, and an error that says
// so saves an hour. /mcp is the usual path of those.
func spoken(ctx context.Context, client *http.Client, base *url.URL) string {
	for _, path := range []string{"", "/mcp"} {
		at := secret.URL(base.String() + path)
		switch status, header, body := ping(ctx, client, at); {
		case status == 0 || status == http.StatusNotFound:
		case card.SpeaksMCP(header, body) || pinged(body):
			return fmt.Sprintf("an MCP server is at %s, and no card of an agent: that is another protocol than A2A", at)
		case bytes.Contains(body, []byte(`"jsonrpc"`)):
			return fmt.Sprintf("JSON-RPC is spoken at %s, and there is no card at the usual paths: give the URL of the card", at)
		}
	}
	return ""
}

// ping asks what is at a URL as a client of MCP would, which a JSON-RPC server of any other kind
// answers too, if with an error. It changes nothing there. It follows no redirect, waits 5 s and
// reads 4 KiB of the answer; status is 0 where there was none.
func ping(ctx context.Context, client *http.Client, at secret.URL) (status int, header http.Header, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Reveal(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return 0, nil, nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	// A copy, as the client is shared and goes on following redirects of cards.
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(r)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()                                // only read from
	body, _ = io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what came counts
	return resp.StatusCode, resp.Header, body
}

// pinged reports whether an answer to ping is the one of MCP: nothing.
func pinged(body []byte) bool {
	text := string(body)
	if _, data, ok := strings.Cut(text, "data:"); ok && !strings.HasPrefix(strings.TrimSpace(text), "{") {
		text, _, _ = strings.Cut(data, "\n")
	}
	var answer struct {
		JSONRPC string          `json:"jsonrpc"`
		Result  *map[string]any `json:"result"`
	}
	return json.Unmarshal([]byte(text), &answer) == nil && answer.JSONRPC != "" && answer.Result != nil && len(*answer.Result) == 0
}
