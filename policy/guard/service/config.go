package service

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is `service:` of a guard.
type Config struct {
	// URL of the service: that of Presidio's analyzer (https://presidio.example), below which the gateway
	// posts to /analyze, or of an API like OpenAI's (https://api.openai.com/v1), below which it posts to
	// /moderations. http is only for services on this machine (localhost, 127.0.0.1, ::1).
	URL secret.URL `yaml:"url"`
	// Timeout is how long an answer may take; default 1s, at most 10s.
	Timeout quantity.Duration `yaml:"timeout"`
	// OnFailure says what a question without a usable answer means: "deny" (default): the gateway refuses
	// what it was about; or "allow": it passes, and the record says so. Texts that are larger than the
	// gateway sends (256 KiB) are refused either way, because a caller could provoke that.
	OnFailure string `yaml:"onFailure" jsonschema:"enum=deny,enum=allow"`
	// Cache is how long the gateway reuses an answer about the same texts, of which it keeps digests;
	// default 0: not at all. At most 1h.
	Cache quantity.Duration `yaml:"cache" zero:"kept"`
	// Token is a bearer token that the gateway sends.
	Token secret.Value `yaml:"token"`
	// TLS says how the gateway verifies the service and identifies itself.
	TLS TLS `yaml:"tls"`
	// Language of the texts, for presidio; default en.
	Language string `yaml:"language"`
	// Entities that presidio looks for, such as PERSON; default all that it knows.
	Entities []string `yaml:"entities"`
	// Score is how sure presidio has to be, in percent; default 50.
	Score int `yaml:"score" zero:"kept"`
	// Model for moderation; default what the service chooses.
	Model string `yaml:"model"`
	// Categories that count, for moderation, such as harassment; default all that the service flags.
	Categories []string `yaml:"categories"`
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

// Kind is a protocol.
type Kind string

// The kinds; they are the words of a guard's use.
const (
	Presidio   Kind = "presidio"
	Moderation Kind = "moderation"
)

const (
	failDeny       = "deny"
	failAllow      = "allow"
	defaultTimeout = time.Second
	longestTimeout = 10 * time.Second
	longestCache   = time.Hour
	usualScore     = 50
)

// IsZero reports whether nothing is said.
func (c *Config) IsZero() bool {
	return c.URL == "" && c.Timeout == 0 && c.OnFailure == "" && c.Cache == 0 && c.Token.IsZero() && c.TLS == TLS{} &&
		c.Language == "" && c.Entities == nil && c.Score == 0 && c.Model == "" && c.Categories == nil
}

// Validate reports what New would refuse, each by the path of its key; it reads no files.
func (c *Config) Validate(kind Kind) error {
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
	if strings.ContainsFunc(c.Token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		wrong("token", "holds characters that cannot stand in a header")
	}
	if c.Score < 0 || c.Score > 100 {
		wrong("score", "%d is not between 0 and 100", c.Score)
	}
	switch {
	case (c.TLS.Certificate == "") != (c.TLS.Key == ""):
		wrong("tls", "certificate and key go together")
	case c.TLS != TLS{} && strings.HasPrefix(c.URL.Reveal(), "http:"):
		wrong("tls", "the url has the scheme http, which is without")
	}
	for key, list := range map[string][]string{"entities": c.Entities, "categories": c.Categories} {
		if list != nil && (len(list) == 0 || slices.Contains(list, "")) {
			wrong(key, "the list is empty or has an empty entry; leave it out for all")
		}
	}
	if kind != Presidio && (c.Language != "" || c.Entities != nil || c.Score != 0) {
		wrong("entities", "language, entities and score are for use presidio")
	}
	if kind != Moderation && (c.Model != "" || c.Categories != nil) {
		wrong("categories", "model and categories are for use moderation")
	}
	return errors.Join(errs...)
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
