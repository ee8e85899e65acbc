// Command a2a-gateway is a reverse proxy in front of a fleet of A2A agents.
//
// This package owns the version and the exit code of the process, and the tests that
// run it; the verbs are in internal/cli. Exit codes: 0 done, 1 a check failed or
// serving did, 2 wrong usage or configuration.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	_ "time/tzdata" // zones of rules, on machines and in images that have none

	"github.com/a2a-gateway/a2a-gateway/internal/cli"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: tests call it with their own streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := cli.Root(version())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "a2a-gateway:", verb.Printable(err.Error()))
	return verb.ExitCode(err)
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
