package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// beginning is what `init` is told, and what it finds out for the file that it writes.
type beginning struct {
	CardURL   string
	ID        string
	Address   string
	PublicURL string

	Name, Version string   // of the agent, in its own words, escaped
	Skills        []string // likewise
	Origins       []string // of endpoints that only the operator can vouch for
	Secured       bool     // the agent asks for credentials
	Found         []string // by asking it for a task that is not there
}

func initCommand() *cobra.Command {
	var b beginning
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration for an agent, from its card",
		Long: "Fetch an agent's card and write a configuration with which the gateway serves it to whoever has an\n" +
			"API key. The agent is asked for a task that is not there, and what it answers is printed, with the\n" +
			"commands that come next. A file that exists is left alone.",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&b.CardURL, "card", "", "`URL` of the agent's card; required")
	f.StringVar(&b.ID, "id", "", "`name` of the agent in URLs, rules and records; default: made of the card's name")
	f.StringVar(&b.Address, "address", "127.0.0.1:8080", "`address` to listen on")
	f.StringVar(&b.PublicURL, "public-url", "", "`URL` that clients reach the gateway by; default: http://localhost and the port of --address")
	path := f.StringP("config", "c", "config.yaml", "`file` to write")
	_ = cmd.MarkFlagRequired("card") // there is such a flag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := os.Lstat(*path); !errors.Is(err, fs.ErrNotExist) {
			return usage(fmt.Errorf("%s exists, and is left as it is: choose another file with --config", *path))
		}
		if err := b.addresses(); err != nil {
			return usage(err)
		}
		if err := b.look(cmd.Context()); err != nil {
			return failed(err)
		}
		if err := b.write(*path); err != nil {
			return err
		}
		return b.next(cmd.OutOrStdout(), *path)
	}
	return cmd
}

// Behind reports whether something in front of the gateway has to end TLS: the file begins
// without certificates.
func (b *beginning) Behind() bool { return strings.HasPrefix(b.PublicURL, "https://") }

// addresses fills in what the address says of the URL.
func (b *beginning) addresses() error {
	_, port, err := net.SplitHostPort(b.Address)
	if err != nil {
		return fmt.Errorf("--address: %q is not host:port", b.Address)
	}
	if port == "0" {
		port = "8080" // any number: the bound port takes its place
	}
	if b.PublicURL == "" {
		b.PublicURL = "http://localhost:" + port
	}
	return nil
}

// look fetches the card, and reads it as the gateway will.
func (b *beginning) look(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}, Timeout: 30 * time.Second}
	c, err := card.Fetch(ctx, client, secret.URL(b.CardURL), 0)
	if err != nil {
		return err
	}
	b.Name, b.Version = cell(c.Name), cell(c.Version)
	for i := range c.Skills {
		b.Skills = append(b.Skills, cell(c.Skills[i].ID))
	}
	if b.ID == "" {
		b.ID = named(c.Name)
	}
	usable, refused := c.Endpoints(secret.URL(b.CardURL), nil)
	if len(usable) == 0 && len(refused) == 0 {
		return errors.New("the card names no endpoint")
	}
	if len(usable) == 0 {
		b.Origins = origins(refused)
	}
	if b.Found, err = tried(ctx, usable); err != nil {
		return err
	}
	b.Secured = secured(c.Raw)
	return nil
}

// tried is what an agent does over each interface when it is asked for a task that is not there.
// That it fails is told and no more: it may want credentials.
func tried(ctx context.Context, usable []card.Interface) ([]string, error) {
	up, err := upstream.New(upstream.Config{}, upstream.Options{})
	if err != nil {
		return nil, err
	}
	defer up.Close()
	list := make([]string, 0, len(usable))
	for _, i := range usable {
		_, text := askedOver(ctx, up, i)
		list = append(list, text)
	}
	return list, nil
}

var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// named makes an id of a card's name.
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

// origins are those of interfaces, as agents[].endpoints has them.
func origins(of []card.Interface) (list []string) {
	known := map[string]bool{}
	for _, i := range of {
		url := i.URL
		if !strings.Contains(url, "://") {
			url = "grpcs://" + url
		}
		scheme, rest, _ := strings.Cut(url, "://")
		host, _, _ := strings.Cut(rest, "/")
		if origin := scheme + "://" + host; !known[origin] {
			known[origin] = true
			list = append(list, origin)
		}
	}
	return list
}

// secured reports whether a card asks for credentials, in any version's words.
func secured(raw []byte) bool {
	var c struct {
		Security             []json.RawMessage `json:"security"`
		SecurityRequirements []json.RawMessage `json:"securityRequirements"`
	}
	return json.Unmarshal(raw, &c) == nil && len(c.Security)+len(c.SecurityRequirements) > 0
}

// beginningText quotes whatever is not ours, so that nothing in a card becomes a key. A reference
// to a variable is none where it is escaped.
var beginningText = template.Must(template.New("config").Funcs(template.FuncMap{
	"quote": func(s string) (string, error) {
		text, err := json.Marshal(strings.ReplaceAll(s, "${", "$${")) // which is YAML
		return string(text), err
	},
	"list": func(of []string) string { return strings.Join(of, ", ") },
}).Parse(`# Whoever has an API key may use {{.Name}} {{.Version}}{{with .Skills}}, all of its skills: {{list .}}{{end}}.
# Every key there is: config.example.yaml. A change of this file is taken up at once.
{{- if .Behind}}
# Something in front of it ends TLS; or name certificates here (tls) and leave plaintext out.
{{- end}}
server: {address: {{quote .Address}}, publicURL: {{quote .PublicURL}}{{if .Behind}}, plaintext: true{{end}}}
authn:
  apiKeys: {file: keys.yaml}
policy:
  rules:
    - {name: everyone-with-a-key, effect: allow, agents: [{{quote .ID}}]}
agents:
  - id: {{quote .ID}}
    card: {{quote .CardURL}}
{{- with .Origins}}
    # The card is elsewhere than the agent, which only you can vouch for: is this its address?
    endpoints: [{{range $i, $o := .}}{{if $i}}, {{end}}{{quote $o}}{{end}}]
{{- end}}
{{- if .Secured}}
    # The agent asks for credentials; the gateway shows its own, not those of callers:
    # credentials: [{header: Authorization, value: "Bearer ${AGENT_TOKEN}"}]
{{- end}}
`))

// write makes the file, when the gateway would serve it.
func (b *beginning) write(path string) error {
	var text bytes.Buffer
	if err := beginningText.Execute(&text, b); err != nil {
		return failed(err)
	}
	if _, err := config.Parse(path, text.Bytes(), os.LookupEnv); err != nil {
		return usage(fmt.Errorf("this would not be served: %w", err))
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // a path of the command line
	if err != nil {
		return usage(fmt.Errorf("write the configuration: %w", err))
	}
	_, err = file.Write(text.Bytes())
	if err = errors.Join(err, file.Close()); err != nil {
		return failed(fmt.Errorf("write the configuration: %w", err))
	}
	return nil
}

// next says what to do now.
func (b *beginning) next(w io.Writer, path string) error {
	keys := filepath.Join(filepath.Dir(path), "keys.yaml")
	t := "%s: the agent %s is %s %s, skills: %s\n"
	_, err := fmt.Fprintf(w, t, path, b.ID, b.Name, b.Version, cell(strings.Join(b.Skills, ", ")))
	for _, text := range b.Found {
		_, _ = fmt.Fprintln(w, text)
	}
	for _, o := range b.Origins {
		_, _ = fmt.Fprintf(w, "look at endpoints: the card sends callers to %s, where it is not itself\n", cell(o))
	}
	if b.Behind() {
		_, _ = fmt.Fprintln(w, "look at server: something in front has to end TLS")
	}
	if b.Secured {
		_, _ = fmt.Fprintln(w, "look at credentials: the agent asks for some")
	}
	_, _ = fmt.Fprintf(w, "\nNext:\n  a2a-gateway keys create --file %s --id me\n  a2a-gateway serve -c %s\n"+
		"Then give clients %s/agents/%s/ and the key, in X-API-Key.\n", keys, path, b.PublicURL, b.ID)
	return err
}
