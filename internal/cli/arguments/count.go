package arguments

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// Count is for commands that take from least to most arguments, which their usage line names. Too few and
// too many are told with that line.
func Count(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, names, _ := strings.Cut(cmd.Use, " ")
		usage := cmd.CommandPath() + " " + names
		switch {
		case len(args) < least:
			return fmt.Errorf("an argument is missing: %s", usage)
		case len(args) > most:
			return fmt.Errorf("%s is one argument too many: %s", verb.Cell(args[most]), usage)
		}
		return nil
	}
}
