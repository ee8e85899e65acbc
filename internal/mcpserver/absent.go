//go:build minimal

package mcpserver

import (
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// Options are what a Server is made of.
type Options struct {
	Version string // of the gateway
	Current func() (p *proxy.Proxy, release func())
}

// Server is the server that this build has not got.
type Server struct{}

// New makes one that refuses: internal/config has refused server.mcp before.
func New(Options) *Server { return &Server{} }

// ServeTools is never called, for want of a path.
func (*Server) ServeTools(*proxy.Visit) error { return feature.Need(feature.MCP) }

// Close has nothing to end.
func (*Server) Close() {}
