// Command a2a-gateway is a reverse proxy in front of a fleet of A2A agents.
//
// This package owns flags, signals and exit codes, one file per verb, and
// nothing else. Exit codes: 0 done, 1 a check failed or serving did, 2 wrong
// usage or configuration.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	_ "time/tzdata" // zones of rules, on machines and in images that have none

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes beside 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// failure is an error with the exit code it ends the program with.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage marks an error as the operator's to mend: arguments, configuration.
func usage(err error) error { return &failure{code: exitUsage, err: err} }

// failed marks an error of what was asked for, not of how it was asked.
func failed(err error) error { return &failure{code: exitFailed, err: err} }

// run is main without the process: tests call it with their own streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "a2a-gateway:", printable(err.Error()))
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return exitUsage // cobra's own errors are about flags and arguments
}

// rootCommand is all there is of the command line.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "a2a-gateway",
		Short:         "A reverse proxy that governs fleets of A2A agents",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.AddCommand(serveCommand(), initCommand(), demoCommand(), validateCommand(), explainCommand(), policyCommand(), tokenCommand(), keysCommand(),
		pushCommand(), cardCommand(), agentsCommand(), auditCommand(), adminCommand(), schemaCommand(), healthcheckCommand(), versionCommand(), manCommand(root))
	completeAll(root)
	addShells(root)
	return root
}

// released is set by the release build; otherwise the module's version counts.
var released string

func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
