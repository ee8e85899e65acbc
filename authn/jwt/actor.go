package jwt

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Actors is authn.actors.
type Actors struct {
	// Depth is how long the chain of actors in a token may be (RFC 8693 act claim). The gateway
	// refuses a token with more; with 0, none may act for another. Default: 5; at most 16.
	Depth *int `yaml:"depth,omitempty"`
}

// Bounds of Actors.Depth. What an agent is told grows with it.
const (
	defaultDepth = 5
	maxDepth     = 16
)

// Validate names the entry that is wrong.
func (a Actors) Validate() error {
	if n := a.depth(); n < 0 || n > maxDepth {
		return keypath.At(fmt.Errorf("%d is not between 0 and %d", n, maxDepth), "authn", "actors", "depth")
	}
	return nil
}

// depth is the effective bound.
func (a Actors) depth() int {
	if a.Depth == nil {
		return defaultDepth
	}
	return *a.Depth
}

// readActors reads the claim act: the party that made the call, and within it those
// that it acts for in turn. A chain that cannot be read whole is refused, since rules
// look at all of it. may_act says what is allowed to others, nothing of this call.
// RFC 8693 §4.1: {"sub":"alice","act":{"sub":"agent-b","act":{"sub":"agent-a"}}} is a call
// of agent-b, to which agent-a has passed on the request of alice. The depth bounds the loop.
func readActors(claims map[string]any, issuer string, depth int) ([]authn.Actor, error) {
	var actors []authn.Actor
	for {
		v, ok := claims["act"]
		if !ok {
			return actors, nil
		}
		if len(actors) == depth {
			return nil, fmt.Errorf("claim act: more than %d actors (authn.actors.depth)", depth)
		}
		if claims, ok = v.(map[string]any); !ok {
			return nil, errors.New("claim act is not an object")
		}
		c := claimReader{claims: claims}
		a := authn.Actor{Subject: c.name("", "sub"), Issuer: c.name("", "iss")}
		switch {
		case c.err != nil:
			return nil, fmt.Errorf("claim act: %w", c.err)
		case a.Subject == "":
			return nil, errors.New("claim act: no sub")
		}
		if a.Issuer == "" {
			a.Issuer = issuer
		}
		actors = append(actors, a)
	}
}
