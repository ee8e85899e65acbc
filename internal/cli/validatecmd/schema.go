package validatecmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// SchemaCommand is `a2a-gateway schema`, which internal/cli mounts. It prints the JSON Schema
// (draft 2020-12) that is made from the Go types which read the file, so that it cannot be of
// another version. It reads no file and asks nobody.
func SchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration file",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema, err := config.Schema()
			if err != nil {
				return verb.Failed(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", schema)
			return err
		},
	}
}
