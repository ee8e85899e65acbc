// Command a2a-gateway is a reverse proxy in front of a fleet of A2A agents.
//
// This package owns flags, signals and exit codes, one file per verb, and
// nothing else. Exit codes: 0 done, 1 a check failed or serving did, 2 wrong
// usage or configuration.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	_ "time/tzdata" // zones of rules, on machines and in images that have none
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: tests call it with their own streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand(version())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "a2a-gateway:", printable(err.Error()))
	return exitCode(err)
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
