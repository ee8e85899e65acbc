package callcmd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// statusError is an answer that is none of A2A's.
type statusError struct {
	code         int
	status, text string
}

func (e *statusError) Error() string { return "HTTP " + e.status + e.text }

// refused is the error of a call in words, with what to do about it.
func (t *target) refused(ctx context.Context, err error) error {
	var e *wire.Error
	var s *statusError
	switch {
	case errors.As(err, &e):
		text := fmt.Sprintf("%s (%s)", e.Text(), e.Reason)
		if hint := t.hint(ctx, e); hint != "" {
			text += ": " + hint
		}
		return verb.Failed(errors.New(text))
	case errors.As(err, &s) && s.code == http.StatusUnauthorized:
		return verb.Failed(fmt.Errorf("%w: %s", err, t.credentialHint()))
	}
	return verb.Failed(err)
}

// hint is what can be done about a refusal, "" where its own words have to do.
func (t *target) hint(ctx context.Context, e *wire.Error) string {
	switch e.Reason {
	case wire.Unauthenticated.Reason:
		return t.credentialHint()
	case wire.Denied.Reason:
		if t.id == "" {
			return "the agent does not let this caller do that"
		}
		return "no rule of the gateway lets this caller do that; its operator sees why with a2a-gateway audit tail --why, or a2a-gateway explain"
	case wire.ExtensionRequired.Reason:
		if needs := e.Meta["extensions"]; needs != "" {
			return "ask for it with --extension " + needs
		}
		return "ask for it with --extension URI"
	case wire.VersionUnsupported.Reason:
		return "--version asks for another one"
	case wire.UnknownAgent.Reason:
		return strings.TrimLeft(t.unknownAgent(ctx, &http.Client{Transport: t.show}), ",: ")
	case wire.TaskNotFound.Reason:
		return "a task is known to the caller who began it, while the agent keeps it"
	case wire.RateLimited.Reason, wire.Unavailable.Reason:
		if after := e.Header.Get("Retry-After"); after != "" {
			return "try again in " + after + " s"
		}
	}
	return ""
}

// credentialHint is what to do where a caller is not known.
func (t *target) credentialHint() string {
	if t.shown.value.IsZero() {
		return "give an API key in $" + envKey + " or --key-file, or a token in $" + envToken + " or --token-file"
	}
	kind := "API key"
	if t.shown.token {
		kind = "token"
	}
	return fmt.Sprintf("the %s of %s is not accepted there: it may be another one's, revoked or expired", kind, t.shown.from)
}

// noCard is the error of a card that could not be read; nil where the agent of a gateway may be
// called all the same.
func (t *target) noCard(ctx context.Context, client *http.Client, err error) error {
	switch {
	// card's own words are for whoever configures a gateway.
	case strings.Contains(err.Error(), "answered 401"):
		return verb.Failed(fmt.Errorf("the card at %s is for callers who say who they are: %s", t.base, t.credentialHint()))
	case t.id != "" && errors.Is(err, card.ErrAbsent):
		hint := t.unknownAgent(ctx, client)
		if hint == "" {
			return nil
		}
		return verb.Failed(fmt.Errorf("the gateway at %s has no agent %q for this caller%s", originOf(t.base), t.id, hint))
	}
	return verb.Failed(trusted(err))
}

// unknownAgent asks the gateway which agents this caller may call, and says which was meant, or
// which there are; "" where that cannot be known.
func (t *target) unknownAgent(ctx context.Context, client *http.Client) string {
	if t.id == "" {
		return ""
	}
	before, _, _ := strings.Cut(t.base.String(), "/agents/"+t.id)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, before+"/agents", nil)
	if err != nil {
		return ""
	}
	resp, err := client.Do(r)
	if err != nil {
		return ""
	}
	defer resp.Body.Close() // only read from
	var list struct{ Agents []struct{ ID string } }
	body, err := io.ReadAll(io.LimitReader(resp.Body, largest))
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(body, &list) != nil {
		return ""
	}
	var ids []string
	for _, a := range list.Agents {
		ids = append(ids, a.ID)
	}
	if slices.Contains(ids, t.id) {
		return ""
	}
	if hint := spelling.Hint(t.id, ids); hint != "" {
		return hint
	}
	const most = 10
	switch {
	case len(ids) == 0:
		return ": it has none; who calls may matter: " + t.credentialHint()
	case len(ids) > most:
		return fmt.Sprintf(": it has %s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return ": it has " + strings.Join(ids, ", ")
}

// unreached is the error of a call that got no answer.
func unreached(i card.Interface, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("call %s: %w", secret.URL(i.URL), trusted(secret.URL(i.URL).Hide(err)))
}

// trusted adds to the error of a handshake what to do about it.
func trusted(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: name the CA of the certificate with --ca FILE", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w: the URL has to have a name that is in the certificate", err)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("%w: no TLS is spoken there: is the URL one with http?", err)
	}
	return err
}
