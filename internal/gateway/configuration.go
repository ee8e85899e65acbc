package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
)

// configuration is the one in force, or the one to start with while there is none.
type configuration struct {
	current *snapshot.Current
	begun   *config.Config
	version string // of the binary
}

// inForce is never nil: listeners are opened before the first snapshot is built, and go by
// the configuration that the gateway starts with.
func (c *configuration) inForce() *config.Config {
	if s := c.current.Load(); s != nil {
		return s.Config
	}
	return c.begun
}

// server is what listeners go by.
func (c *configuration) server() *server.Config { return &c.inForce().Server }

// tokenLimits bound the tokens that the console takes.
func (c *configuration) tokenLimits() authn.Limits { return c.inForce().Authn.Limits }
