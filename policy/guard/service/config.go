package service

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is `service:` of a guard.
type Config struct {
	// URL of the service, below which the gateway posts (docs/guards.md): that of Presidio's analyzer
	// (https://presidio.example), of an API like OpenAI's (https://api.openai.com/v1), of an endpoint of Google,
	// AWS or Azure; with use hook, the address itself. http is only for services on this machine (localhost,
	// 127.0.0.1, ::1).
	URL secret.URL `yaml:"url"`
	// Timeout is how long an answer may take; default 1s, at most 10s.
	Timeout quantity.Duration `yaml:"timeout"`
	// OnFailure says what a question without a usable answer means: "deny" (default): the gateway refuses
	// what it was about; or "allow": it passes, and the record says so. What a caller could provoke is refused
	// either way: texts that are larger than the gateway sends (256 KiB), and failures at what takes more than
	// one question or has more than 10,000 bytes.
	OnFailure string `yaml:"onFailure" jsonschema:"enum=deny,enum=allow"`
	// Cache is how long the gateway reuses an answer about the same texts, of which it keeps digests;
	// default 0: not at all. At most 1h.
	Cache quantity.Duration `yaml:"cache" zero:"kept"`
	// Token is a bearer token that the gateway sends.
	Token secret.Value `yaml:"token"`
	// TokenFile is a file with a bearer token, which the gateway reads for every question, as somebody else
	// renews it.
	TokenFile string `yaml:"tokenFile" file:"read"`
	// APIKey is what the gateway sends as Ocp-Apim-Subscription-Key, for contentSafety and promptShields.
	APIKey secret.Value `yaml:"apiKey"`
	// AWS is what the gateway signs questions with, for bedrock.
	AWS AWS `yaml:"aws"`
	// TLS says how the gateway verifies the service and identifies itself.
	TLS TLS `yaml:"tls"`
	// Language of the texts, for presidio; default en.
	Language string `yaml:"language"`
	// Entities that presidio looks for, such as PERSON; default all that it knows.
	Entities []string `yaml:"entities"`
	// Score is how sure presidio has to be, in percent; default 50.
	Score int `yaml:"score" zero:"kept"`
	// Model that the service asks, for moderation (default what the service chooses), llamaGuard and
	// shieldGemma (required).
	Model string `yaml:"model"`
	// Categories that count, by the name of what is found, such as harassment, for moderation, modelArmor,
	// bedrock, contentSafety and llamaGuard; default all.
	Categories []string `yaml:"categories"`
	// Template of Model Armor, for modelArmor: projects/PROJECT/locations/LOCATION/templates/TEMPLATE.
	Template string `yaml:"template"`
	// Guardrail is the id or the ARN of a guardrail, for bedrock.
	Guardrail string `yaml:"guardrail"`
	// Version of the guardrail, for bedrock; default DRAFT.
	Version string `yaml:"version"`
	// Severity from which on a text is found, 1 to 7, for contentSafety; default 4, which is medium.
	Severity int `yaml:"severity"`
	// Policy that texts have to keep to, for shieldGemma, in the words of its model card: '"No Harassment":
	// The prompt shall not contain…'. At most 8 KiB.
	Policy string `yaml:"policy"`
}

// AWS is `aws:` of a service. The gateway signs with Signature Version 4.
type AWS struct {
	// Region of the service, such as eu-central-1.
	Region string `yaml:"region"`
	// AccessKeyID and SecretAccessKey are the keys that the gateway signs with.
	AccessKeyID     secret.Value `yaml:"accessKeyID"`
	SecretAccessKey secret.Value `yaml:"secretAccessKey"`
	// SessionToken goes with keys that are temporary.
	SessionToken secret.Value `yaml:"sessionToken"`
}

// TLS is `tls:` of a service. The gateway reads the files at load.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files that the gateway presents to the service.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in the service's certificate; default the host of URL.
	ServerName string `yaml:"serverName"`
}

const (
	failDeny       = "deny"
	failAllow      = "allow"
	defaultTimeout = time.Second
	longestTimeout = 10 * time.Second
	longestCache   = time.Hour
	usualScore     = 50
)

// IsZero reports whether nothing is said.
func (c *Config) IsZero() bool { return reflect.ValueOf(c).Elem().IsZero() }

// Validate reports what New would refuse, each by the path of its key; it reads no files.
func (c *Config) Validate(use string) error {
	errs := []error{c.checkURL()}
	wrong := func(key, format string, args ...any) {
		errs = append(errs, keypath.At(fmt.Errorf(format, args...), key))
	}
	if c.Timeout.Std() > longestTimeout {
		wrong("timeout", "%s is more than %s, and calls wait for it", c.Timeout, longestTimeout)
	}
	if c.Cache.Std() > longestCache {
		wrong("cache", "%s is more than %s", c.Cache, "1h")
	}
	if c.OnFailure != "" && c.OnFailure != failDeny && c.OnFailure != failAllow {
		wrong("onFailure", "%q is neither %q nor %q", c.OnFailure, failDeny, failAllow)
	}
	if c.Score < 0 || c.Score > 100 {
		wrong("score", "%d is not between 0 and 100", c.Score)
	}
	if c.Severity < 0 || c.Severity > mostSeverity {
		wrong("severity", "%d is not between 1 and %d", c.Severity, mostSeverity)
	}
	switch {
	case (c.TLS.Certificate == "") != (c.TLS.Key == ""):
		wrong("tls", "certificate and key go together")
	case c.TLS != TLS{} && strings.HasPrefix(c.URL.Reveal(), "http:"):
		wrong("tls", "the url has the scheme http, which is without")
	}
	c.checkLists(wrong)
	c.checkCredentials(wrong)
	p, _ := protocolOf(use)
	c.checkKeys(&p, wrong)
	if p.check != nil {
		p.check(c, wrong)
	}
	return errors.Join(errs...)
}

// checkLists reports lists that are of no use.
func (c *Config) checkLists(wrong func(key, format string, args ...any)) {
	for key, list := range map[string][]string{"entities": c.Entities, "categories": c.Categories} {
		if list != nil && (len(list) == 0 || slices.Contains(list, "")) {
			wrong(key, "the list is empty or has an empty entry; leave it out for all")
		}
	}
}

// checkCredentials reports credentials that no header can have, and more than one.
func (c *Config) checkCredentials(wrong func(key, format string, args ...any)) {
	said := ""
	for _, k := range []struct {
		key    string
		said   bool
		values []secret.Value
	}{
		{"token", !c.Token.IsZero(), []secret.Value{c.Token}},
		{"tokenFile", c.TokenFile != "", nil},
		{"apiKey", !c.APIKey.IsZero(), []secret.Value{c.APIKey}},
		{"aws", c.AWS != AWS{}, []secret.Value{c.AWS.AccessKeyID, c.AWS.SecretAccessKey, c.AWS.SessionToken}},
	} {
		switch {
		case k.said && said != "":
			wrong(k.key, "%s is there too; one of them has to do", said)
		case k.said:
			said = k.key
		}
		for _, v := range k.values {
			if strings.ContainsFunc(v.Reveal(), outsideHeader) {
				wrong(k.key, "%w", errHeader)
			}
		}
	}
}

// checkKeys reports keys that are for other uses.
func (c *Config) checkKeys(p *protocol, wrong func(key, format string, args ...any)) {
	for _, k := range []struct {
		key  string
		said bool
	}{
		{"language", c.Language != ""},
		{"entities", c.Entities != nil},
		{"score", c.Score != 0},
		{"model", c.Model != ""},
		{"categories", c.Categories != nil},
		{"template", c.Template != ""},
		{"guardrail", c.Guardrail != ""},
		{"version", c.Version != ""},
		{"aws", c.AWS != AWS{}},
		{"apiKey", !c.APIKey.IsZero()},
		{"severity", c.Severity != 0},
		{"policy", c.Policy != ""},
	} {
		if k.said && !slices.Contains(p.keys, k.key) {
			wrong(k.key, "%s is not for use %s, but for %s", k.key, p.Name, strings.Join(usesOf(k.key), ", "))
		}
	}
}

// checkURL reports what is wrong with the URL, and does not quote it: it may hold a password in the
// wrong place.
func (c *Config) checkURL() error {
	wrong := func(text string) error { return keypath.At(errors.New(text), "url") }
	u, err := c.URL.Parse()
	switch {
	case c.URL == "":
		return wrong("missing; say where the service is")
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return wrong("not an absolute https or http URL")
	case u.User != nil:
		return wrong("must not hold a user name or password; token is for credentials")
	case strings.ContainsAny(c.URL.Reveal(), "?#"):
		return wrong("must have neither query nor fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return wrong("http is for services on this machine (localhost, 127.0.0.1, ::1); use https, as whoever is on the way could read everything")
	}
	return nil
}

// loopback reports whether a host is this machine whatever the network does.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
