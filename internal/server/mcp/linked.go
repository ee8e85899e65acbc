//go:build !minimal

package mcp

import "github.com/a2a-gateway/a2a-gateway/internal/feature"

// The build that has no internal/mcpserver has no such file either.
var _ = feature.Register(feature.MCP)
