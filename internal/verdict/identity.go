package verdict

import (
	"maps"
	"slices"
	"strings"
)

// Caller is what rules can ask of an authn.Principal.
// Keys and the evidence of a credential are left out, which rules do not ask for.
type Caller struct {
	Subject  string         `json:"subject"`
	Issuer   string         `json:"issuer"`
	Client   string         `json:"client,omitempty"`
	Workload string         `json:"workload,omitempty"`
	Tenant   string         `json:"tenant,omitempty"`
	Groups   []string       `json:"groups,omitempty"`
	Scopes   []string       `json:"scopes,omitempty"`
	Actors   []string       `json:"actors,omitempty"` // the one that calls first
	ACR      string         `json:"acr,omitempty"`
	AMR      []string       `json:"amr,omitempty"`
	AuthTime string         `json:"authTime,omitempty"` // RFC 3339
	Claims   map[string]any `json:"claims,omitempty"`
}

// String names the caller and what rules could ask of it.
func (c *Caller) String() string {
	if c.Issuer == "anonymous" {
		return "a caller without a credential"
	}
	text := c.Subject + " of " + c.Issuer
	for _, more := range []struct{ what, value string }{
		{"groups", strings.Join(c.Groups, " ")}, {"scopes", strings.Join(c.Scopes, " ")},
		{"client", c.Client}, {"workload", c.Workload}, {"tenant", c.Tenant},
		{"actors", strings.Join(c.Actors, " ")}, {"acr", c.ACR}, {"amr", strings.Join(c.AMR, " ")},
		{"signed in at", c.AuthTime}, {"claims", strings.Join(slices.Sorted(maps.Keys(c.Claims)), " ")},
	} {
		if more.value != "" {
			text += ", " + more.what + " " + more.value
		}
	}
	return text
}

// SignIn is a policy.StepUp.
// It is what a client asks of its authorization server (RFC 9470 §4): acr_values, and max_age in
// seconds.
type SignIn struct {
	ACR    []string `json:"acr,omitempty"`    // any of them
	AMR    []string `json:"amr,omitempty"`    // all of them
	MaxAge string   `json:"maxAge,omitempty"` // as in the configuration
}

// String is for people; "" where none is missing.
func (s *SignIn) String() string {
	if s == nil {
		return ""
	}
	var parts []string
	if s.ACR != nil {
		parts = append(parts, "acr "+strings.Join(s.ACR, " or "))
	}
	if s.AMR != nil {
		parts = append(parts, "amr "+strings.Join(s.AMR, " and "))
	}
	if s.MaxAge != "" {
		parts = append(parts, "at most "+s.MaxAge+" ago")
	}
	return strings.Join(parts, ", ")
}
