// Package initfile has the verb that writes a first configuration, `init`: what it asks of the
// agent and of the identity provider, and the file that comes of it.
//
// The order of its work, each step of which may end it before anything is written:
//
//	agentAt, addresses, provide  what the flags say; wrong usage is exit code 2
//	look                         the card (findcard), and a question to the agent over each interface
//	write                        the configuration, after the gateway's own checks of it
//	beside                       the JSON Schema, and the key file with a first key
//	askIssuer                    the issuer's keys, where --oidc names one; a failure is told only
//	next                         what was found, the commands that come next, and a call to try
//
// An agent whose card cannot be had ends it with exit code 1, since there is nothing to write. An
// agent that does not answer does not: it may be one that only the gateway's network reaches, so
// that the file is written and `validate --online` is named as the next command. Nothing asks a
// running gateway.
//
// Names in a card are a stranger's text. They are escaped twice: for the terminal as they are read
// (verb.Cell), and for YAML as the file is written (quote).
package initfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/findcard"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/keyscmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// beginning is what `init` is told, and what it finds out for the file that it writes. Each
// step of init fills in some of its fields, and text.go writes them down.
type beginning struct {
	CardURL   string
	ID        string
	Address   string
	PublicURL string

	CA            string   // of the agent, as it was given
	Proxy         string   // on the way to the agent, as it was given
	Name, Version string   // of the agent, in its own words, escaped
	Skills        []string // likewise
	Origins       []string // of endpoints that only the operator can vouch for
	Doubtful      bool     // no agent answered, or no issuer
	Secured       bool     // the agent asks for credentials
	Found         []string // by asking it for a task that is not there
	Notes         []string // where the card is, if not at the URL that was given, and the agent, if not there
	Old           bool     // it is to be called in 0.3

	Interfaces []card.Interface // in place of the card's, which nobody reaches

	KeyID string // of the API key to make; "" for none
	Key   string // that was made

	Issuer, Audience string    // of tokens, in place of API keys
	Provider         *provider // that issues them; nil: any

	ConsoleAddress, StatusAddress string // of the other listeners
	DataDir                       string // as the file has it; "" where the environment says it
	Token                         string // the file of the console's
}

// Command is `a2a-gateway init`, which internal/cli mounts. A file that exists is never replaced:
// the lines that it lacks are printed, for an agent that was named. O_EXCL keeps the promise where the
// file appears meanwhile.
func Command() *cobra.Command {
	var b beginning
	cmd := &cobra.Command{
		Use:   "init [URL]",
		Short: "Write a configuration for an agent, based on its card",
		Long: "Fetch an agent's card and write a configuration for it. Callers need an API key. init looks for the\n" +
			"card at the URL, at the well-known paths below it and at those of its origin. It asks the agent for\n" +
			"a task that does not exist and prints the answer, the next commands and a first call. It creates an\n" +
			"API key for that call and shows the key only this once. Beside the configuration, it writes the key\n" +
			"file and a JSON Schema for editors. It never overwrites an existing configuration.",
		Args: arguments.Count(0, 1),
	}
	f := cmd.Flags()
	f.StringVar(&b.CardURL, "card", "", "base `URL` of the agent, or of its card; may be given without the flag")
	f.StringVar(&b.CA, "ca", "", "PEM `file` of the CA of the agent's certificate, instead of the system's CAs")
	f.StringVar(&b.ID, "id", "", "`name` of the agent in URLs, rules and records; default: derived from the card's name")
	f.StringVar(&b.Address, "address", "127.0.0.1:8080", "`address` to listen on")
	f.StringVar(&b.PublicURL, "public-url", "", "`URL` under which clients reach the gateway; default: http://localhost and the port of --address")
	f.StringVar(&b.KeyID, "key", "first", "`name` of the API key to create; \"\" creates none")
	f.StringVar(&b.Issuer, "oidc", "", "`issuer` whose tokens the gateway accepts instead of API keys, as in iss")
	f.StringVar(&b.Audience, "audience", "", "`audience` of those tokens, as in aud")
	provider := f.String("provider", "", "`name` of the identity provider, which decides the claims of groups and scopes: keycloak, entra, auth0 or okta")
	cmd.MarkFlagsRequiredTogether("oidc", "audience")
	verb.AddProxy(f)
	path := f.StringP("config", "c", "config.yaml", "`file` to write")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := os.Lstat(*path); !errors.Is(err, fs.ErrNotExist) {
			if egress, err := verb.EgressOf(cmd); err == nil && b.agentAt(args) == nil {
				b.lines(cmd.Context(), cmd.ErrOrStderr(), egress, *path)
			}
			return verb.Usage(fmt.Errorf("%s exists, and is left as it is: choose another file with --config", *path))
		}
		// All that is wrong with the flags is told at once.
		if err := errors.Join(b.agentAt(args), b.addresses(), b.provide(*provider)); err != nil {
			return verb.Usage(err)
		}
		egress, err := verb.EgressOf(cmd)
		if err != nil {
			return err
		}
		// The configuration gets the same way out that was used to find the agent.
		b.Proxy = cmd.Flag("proxy").Value.String()
		// Before look, which reads nothing of it, since write needs all of it.
		b.keepIn(*path)
		if err := b.look(cmd.Context(), egress); err != nil {
			return err
		}
		if err := b.write(*path); err != nil {
			return err
		}
		if err := b.beside(*path); err != nil {
			return verb.Failed(err)
		}
		// Last, as the file is good without an answer.
		b.askIssuer(cmd.Context(), egress)
		return b.next(cmd.OutOrStdout(), *path)
	}
	return cmd
}

// Behind reports whether something in front of the gateway has to end TLS: the file begins without
// certificates, and a public URL of https says that clients come by TLS.
func (b *beginning) Behind() bool { return strings.HasPrefix(b.PublicURL, "https://") }

// Proxied reports whether there is a proxy on the way out.
func (b *beginning) Proxied() bool { return b.Proxy != "" && b.Proxy != tunnel.None }

// agentAt takes the agent's address, which the command line has with a flag or without, and
// refuses what is no http or https URL before it is asked for. The error for a missing scheme says
// how the URL would be written.
func (b *beginning) agentAt(args []string) error {
	switch {
	case len(args) > 0 && b.CardURL != "":
		return errors.New("the agent's address is there twice: give it with --card or without")
	case len(args) > 0:
		b.CardURL = args[0]
	}
	if b.CardURL == "" {
		return errors.New("the agent's address is missing: a2a-gateway init --card URL")
	}
	_, err := findcard.BaseOf(b.CardURL)
	return err
}

// caFor is the path of a CA as the configuration has it. Relative paths of a configuration are
// relative to the file, and those of a command line to the working directory: the same word would
// mean another file as soon as --config names a directory. A CA that is beside the configuration
// or below stays relative, so that the directory can be moved; any other becomes absolute.
func caFor(ca, config string) (string, error) {
	if ca == "" || filepath.IsAbs(ca) {
		return ca, nil
	}
	at, err := filepath.Abs(ca)
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(filepath.Dir(config))
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(rel) {
		return rel, nil
	}
	return at, nil
}

// write makes the file, when the gateway would serve it: the text is parsed as `serve` parses it,
// and an error names the line of the file that would have been. It is readable by its owner alone
// (0600), as credentials are what its reader adds next.
func (b *beginning) write(path string) error {
	var err error
	if b.CA, err = caFor(b.CA, path); err != nil {
		return verb.Failed(err)
	}
	content := []byte(b.text())
	// The environment counts as it will for serve: a variable that the file names has to be there.
	cfg, err := config.Parse(path, content, os.LookupEnv)
	if err != nil {
		return verb.Usage(fmt.Errorf("this would not be served: %w", err))
	}
	b.Token = filepath.Join(cfg.Server.DataDir, console.TokenFile)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // a path of the command line
	if err != nil {
		return verb.Usage(fmt.Errorf("write the configuration: %w", err))
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return verb.Failed(fmt.Errorf("write the configuration: %w", err))
	}
	return nil
}

// schemaFile is the JSON Schema of the configuration, where the first line of a written one has
// editors with the YAML language server look for it. It is of this version of the program, and
// therefore beside the file and not at a URL.
const schemaFile = "a2a-gateway.schema.json"

// SchemaFile is its name beside the configuration.
func (*beginning) SchemaFile() string { return "./" + schemaFile }

// beside makes the files that belong to the configuration: the schema and the first key. A schema
// that is there already is left alone, as another configuration of the directory may use it.
func (b *beginning) beside(path string) error {
	dir := filepath.Dir(path)
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	at := filepath.Join(dir, schemaFile)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(at, append(schema, '\n'), 0o600); err != nil {
			return fmt.Errorf("write the schema: %w", err)
		}
	}
	return b.makeKey(filepath.Join(dir, keysFile))
}

// keysFile is what authn.apiKeys.file of the written configuration says.
const keysFile = "keys.yaml"

// makeKey makes the first key, unless there is one of the name, which init cannot show again: next
// then prints a command that makes another. Where tokens of an issuer are taken there are no keys.
func (b *beginning) makeKey(file string) error {
	if b.KeyID == "" || b.Issuer != "" {
		return nil
	}
	keys, err := apikey.Open(file)
	if err != nil {
		return err
	}
	// An error of reading is one of Create's too, but for a name that is taken.
	if keyscmd.Unused(keys, file, b.KeyID) != nil {
		return nil
	}
	_, b.Key, err = keys.Create(apikey.Spec{ID: b.KeyID})
	return err
}
