package authn

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Limits is authn.limits.
type Limits struct {
	// Token is the longest access token that the gateway accepts, in bytes of its text. Default:
	// 32KiB, which fits one with 200 groups three times over. The gateway refuses a longer one
	// unread, and names this limit. The whole request head has its own limit,
	// server.limits.header.
	Token quantity.Size `yaml:"token,omitempty"`
}

// Bounds of authn.limits.token.
const (
	usualToken = 32 << 10
	leastToken = 1 << 10
	// LongestToken is the highest limit that authn.limits.token may set, in bytes.
	LongestToken = 1 << 20
)

// TokenBytes is the effective limit of a token.
func (l Limits) TokenBytes() quantity.Size {
	if l.Token == 0 {
		return usualToken
	}
	return l.Token
}

func (l Limits) Validate() error {
	if l.Token != 0 && (l.Token < leastToken || l.Token > LongestToken) {
		return keypath.At(fmt.Errorf("%s is not between %s and %s", l.Token, quantity.Size(leastToken), quantity.Size(LongestToken)), "authn", "limits", "token")
	}
	return nil
}
