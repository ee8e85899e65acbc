package policycmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

//nolint:gosec // a text about credentials, which are none
const tokenLong = `Show which caller a credential identifies at this gateway, until when it is valid, and which
rules apply to the caller: on every agent, or on the one that --agent names.

The command reads the credential from standard input: a token, an API key, or a whole header
field ("X-API-Key: …"). A second line is a second credential, for authn.combinations.
--certificate adds a client certificate; standard input may then be empty. The command never
prints credentials. It contacts only the issuer, for its keys and for introspection.

A token bound to a DPoP key needs a proof, which this command cannot make. If only the proof
is missing, the refusal says so.

Exit 0 if the credential is accepted, 1 if it is refused, 2 if the question or the
configuration is wrong.`

const tokenExamples = `  a2a-gateway token -c config.yaml < token.txt
  pass show billing-key | a2a-gateway token -c config.yaml --agent billing
  a2a-gateway token -c config.yaml --certificate client.crt < /dev/null`

// bearings is what the flags of token say.
// The credential itself is read from standard input, as arguments of a command can be read by
// every process of the machine.
type bearings struct {
	agent, certificate string
}

// TokenCommand is the command that internal/cli mounts.
//
// It makes an HTTP request that carries the credentials, has the configured schemes authenticate
// it as they do in the gateway, and asks the rules about the principal that comes of it.
func TokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "Show which caller a credential identifies, and what that caller may do",
		Long:    tokenLong,
		Example: tokenExamples,
		Args:    arguments.None,
	}
	path := verb.ConfigFlag(cmd)
	var b bearings
	cmd.Flags().StringVar(&b.agent, "agent", "", "`id` of the only agent to show rules for")
	cmd.Flags().StringVar(&b.certificate, "certificate", "", "PEM `file` of a client certificate and its intermediates")
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return verb.Unread(*path, err)
		}
		r, err := b.request(cfg, cmd.InOrStdin())
		if err != nil {
			return verb.Usage(err)
		}
		found, err := b.resolve(cmd.Context(), cfg, r)
		if err != nil {
			return err
		}
		return verb.Show(cmd.OutOrStdout(), *output, found, func(w io.Writer) { found.print(w) })
	}
	return cmd
}

// maxCredentials is how much is read of them: far more than headers may hold.
const maxCredentials = 64 << 10

// request is a request that carries the credentials.
//
// Each line of in is a credential. Two lines with the same header are two values of it, as a
// client would send them, and are refused or combined as authn.combinations says.
func (b *bearings) request(cfg *config.Config, in io.Reader) (*http.Request, error) {
	if b.agent != "" && !slices.Contains(cfg.AgentIDs(), b.agent) {
		return nil, fmt.Errorf("--agent: %q is none of %s%s", b.agent, strings.Join(cfg.AgentIDs(), ", "), spelling.Hint(b.agent, cfg.AgentIDs()))
	}
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/"}, Header: http.Header{}}
	// Audiences of tokens and DPoP proofs name the public URL of the gateway.
	if public, err := url.Parse(cfg.Server.PublicURL); err == nil {
		r.Host = public.Host
	}
	text, err := io.ReadAll(io.LimitReader(in, maxCredentials))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	// Blank lines are passed over, as the one that an editor leaves at the end.
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			name, value := field(&cfg.Authn, line)
			r.Header.Add(name, value)
		}
	}
	if b.certificate == "" {
		return r, nil
	}
	r.TLS, err = clientState(cfg, b.certificate)
	return r, err
}

// field is the header field that a line is, or that a bare credential travels in.
// A token has dots and no colon, so that what is in front of a colon is the name of a header. An
// API key is told by its prefix, which decides the header it travels in. Everything else is a
// bearer token (RFC 6750 §2.1) unless it begins with the name of a scheme.
func field(c *schemes.Config, line string) (name, value string) {
	if name, value, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(name, " .") {
		return name, strings.TrimSpace(value)
	}
	for _, r := range schemes.Of(c) {
		if r.Header == nil {
			continue
		}
		if name := r.Header(c, line); name != "" {
			return name, line
		}
	}
	if scheme, _, ok := strings.Cut(line, " "); ok && (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "dpop")) {
		return "Authorization", line
	}
	return "Authorization", "Bearer " + line
}

// resolve asks who it is, and what the rules say.
//
// Errors are verb.Failed where the credential is refused or cannot be judged, verb.Usage where
// there is none or the configuration is wrong.
// The rules are compiled only once the credential is good, since a refusal needs none.
func (b *bearings) resolve(ctx context.Context, cfg *config.Config, r *http.Request) (*resolved, error) {
	// The scheme of the public URL is that of addresses in DPoP proofs.
	public, err := url.Parse(cfg.Server.PublicURL)
	if err != nil {
		return nil, verb.Usage(err)
	}
	egress, err := tunnel.New(cfg.Egress)
	if err != nil {
		return nil, verb.Usage(fmt.Errorf("egress: %w", err))
	}
	// The schemes ask whether a connection's certificate is trusted for users; the gateway's
	// listener has done that before.
	trusted := func(*tls.ConnectionState) error { return nil } // clientState has verified it
	// Nothing is logged: what a credential is refused for is the answer.
	chain, err := schemes.New(ctx, cfg.Authn, schemes.Options{
		Logger: slog.New(slog.DiscardHandler), Egress: egress, Scheme: public.Scheme, Trusted: trusted,
	})
	if err != nil {
		return nil, verb.Usage(err)
	}
	defer chain.Close()
	// Keys of issuers are fetched in this time, and an introspection endpoint asked.
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	// An issuer that cannot be reached matters only if the credential is one of its.
	warm := chain.Warm(ctx)
	p, err := chain.Authenticate(r.WithContext(ctx))
	switch {
	case errors.Is(err, authn.ErrNoCredentials):
		return nil, verb.Usage(errors.New("standard input holds no credential"))
	case errors.Is(err, authn.ErrUnavailable):
		return nil, verb.Failed(errors.Join(err, warm))
	case err != nil:
		return nil, verb.Failed(fmt.Errorf("refused: %w", err))
	}
	book, err := cfg.Extensions.Compile()
	if err != nil {
		return nil, verb.Usage(err)
	}
	defer book.Close()
	// Warnings about rules are left to the verb validate.
	rules, _, err := policy.Compile(cfg.Policy.Config, cfg.RuleAgents(), book.Extra().Methods()...)
	if err != nil {
		return nil, verb.Usage(err)
	}
	return describe(p, cfg, rules, b.agent), nil
}
