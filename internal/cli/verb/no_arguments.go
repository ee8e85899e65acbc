package verb

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NoArguments is for commands that take flags alone. A word that stands where no flag asks for it is told with
// the flag that it was meant for, where there is one: a directory with --dir, a file with --config.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, name := range []string{"dir", "config"} {
		if f := cmd.Flags().Lookup(name); f != nil {
			return fmt.Errorf("%s takes flags and no arguments: was %s meant as --%s %s?", cmd.CommandPath(), Cell(args[0]), name, Cell(args[0]))
		}
	}
	return fmt.Errorf("%s takes no arguments, and %s is one", cmd.CommandPath(), Cell(args[0]))
}
