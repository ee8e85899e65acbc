package main

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// look fetches the card, and reads it as the gateway will.
func (b *beginning) look(ctx context.Context, egress *tunnel.Proxy) error {
	found, err := findCard(ctx, fetching(egress), b.CardURL)
	if err != nil {
		return err
	}
	c := found.Card
	b.CardURL, b.Note = found.At.Reveal(), found.Note
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
	b.Old = len(usable) > 0 && usable[0].Version != wire.V10
	if b.Found, err = tried(ctx, usable, egress); err != nil {
		return err
	}
	b.Secured = secured(c.Raw)
	return nil
}

// tried is what an agent does over each interface when it is asked for a task that is not there.
// That it fails is told and no more: it may want credentials.
func tried(ctx context.Context, usable []card.Interface, egress *tunnel.Proxy) ([]string, error) {
	up, err := upstream.New(upstream.Config{}, upstream.Options{Egress: egress})
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
