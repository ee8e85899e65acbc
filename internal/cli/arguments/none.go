package arguments

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// None is for commands that take flags alone. A word that stands where no flag asks for it is told with
// the flag that it was meant for, where there is one: a directory with --dir, a file with --config, and a name that is no
// file with --id or --agent.
func None(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, name := range meant(args[0]) {
		if f := cmd.Flags().Lookup(name); f != nil {
			return fmt.Errorf("%s takes flags and no arguments: was %s meant as --%s %s?", cmd.CommandPath(), verb.Cell(args[0]), name, verb.Cell(args[0]))
		}
	}
	return fmt.Errorf("%s takes no arguments, and %s is one", cmd.CommandPath(), verb.Cell(args[0]))
}

// meant are the flags that a word may have been meant for, the likeliest first.
func meant(word string) []string {
	info, err := os.Stat(word)
	switch ext := filepath.Ext(word); {
	case err == nil && !info.IsDir(), ext == ".yaml", ext == ".yml":
		return []string{"config", "dir"}
	case err == nil, strings.ContainsAny(word, `/\.`):
		return []string{"dir", "config"}
	}
	return []string{"id", "agent", "dir", "config"}
}
