//go:build !minimal

package cli

import (
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/democmd"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

var _ = feature.Register(feature.Demo)

// demoCommand is the verb `demo`.
func demoCommand(version string) *cobra.Command { return democmd.Command(version) }
