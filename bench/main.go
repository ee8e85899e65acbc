// Command bench sends the same A2A work through every proxy there is on this
// machine and prints what each took of it: direct, a bare reverse proxy in Go,
// nginx, HAProxy and Caddy as plain proxies, and the gateway with everything on.
//
//	go run -C bench .                                     all comparisons, about a quarter of an hour
//	go run -C bench . -growth                             how cost grows with agents, rules, keys, callers, streams
//	go run -C bench . -workloads unary -subjects floor,gateway
//	go run -C bench . -list                               what can be chosen
//
// The figure to read is CPU: user and system time of the proxy's own processes
// for each request, as a ratio to the bare proxy's in the same run. README.md
// says more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // stop only forgets the signals
	}
}

// options are what a run is asked for.
type options struct {
	rounds      int
	time        time.Duration // of a round
	connections int           // of closed loops
	rate        int           // requests in a second, of the open loop
	streams     int           // active ones
	idle        int           // idle ones
	growth      bool          // how cost grows, and not how it compares
	largest     int           // size of what grows; 0 for all that are in the table
	workloads   []string      // empty: all of the kind
	subjects    []string      // empty: all
	gateway     string        // binary; built when empty
	peers       []subject     // that files describe
	profiles    string        // folder for profiles of the gateway; none are taken when empty
}

func command(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 1 && args[0] == "role" {
		return role(args[1], args[2:])
	}
	o, do, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case do.list:
		return list(out, o)
	case do.benchmarks != "":
		return recorded(do.benchmarks, func(r *record) error { return r.benchmarks(out) })
	case do.docs != "":
		return document(do.docs)
	}
	rec, err := run(ctx, o, progress)
	if rec != nil {
		err = errors.Join(err, rec.text(out))
	}
	if err != nil || do.json == "" { // half a run is to be seen, and is no record
		return err
	}
	return rec.save(do.json)
}

// actions are what is done beside a run, or in its place.
type actions struct {
	json, benchmarks, docs string
	list                   bool
}

func parse(args []string) (o options, do actions, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.IntVar(&o.rounds, "rounds", 5, "rounds; the median counts")
	set.DurationVar(&o.time, "time", 2*time.Second, "length of a round")
	set.IntVar(&o.connections, "c", 64, "kept-alive connections of closed loops")
	set.IntVar(&o.rate, "rate", 1000, "requests a second of the open loop")
	set.IntVar(&o.streams, "streams", 1000, "active streams")
	set.IntVar(&o.idle, "idle", 10_000, "idle streams; fewer where the limit on descriptors is low")
	set.StringVar(&o.gateway, "gateway", "", "gateway `binary`; built when empty")
	set.BoolVar(&o.growth, "growth", false, "measure how the gateway's cost grows: the workloads whose names begin with growth")
	set.IntVar(&o.largest, "largest", 0, "leave out larger sizes of what grows; 0 for none")
	set.Func("peer", "measure the proxy that a file describes too, as `NAME=FILE`; may be given more than once", func(value string) error {
		s, err := readPeer(value, o.all())
		o.peers = append(o.peers, s)
		return err
	})
	set.StringVar(&o.profiles, "profiles", "", "write CPU and allocation profiles of the gateway's latest round to this `folder`; its figures then count the profiling too")
	only := set.String("workloads", "", "run only these, a `list` with commas")
	through := set.String("subjects", "", "run only these, a `list` with commas")
	set.BoolVar(&do.list, "list", false, "print the workloads and subjects, and end")
	set.StringVar(&do.json, "json", "", "write what was measured to this `file`")
	set.StringVar(&do.benchmarks, "benchmarks", "", "print the run in this `file`, or the newest of a folder, as Go benchmarks for benchstat, and end")
	set.StringVar(&do.docs, "docs", "", "write the newest run of the folder with the name of this `page` into it, and end")
	if err := set.Parse(args); err != nil {
		return o, do, err
	}
	if set.NArg() > 0 {
		return o, do, fmt.Errorf("unexpected %q", set.Arg(0))
	}
	if min(o.rounds, o.connections, o.rate, o.streams, o.idle) < 1 || o.time < 100*time.Millisecond {
		return o, do, errors.New("-rounds, -c, -rate, -streams and -idle are 1 or more, -time is 100ms or more")
	}
	if o.workloads, err = chosen(*only, workloads, func(w workload) string { return w.name }); err != nil {
		return o, do, fmt.Errorf("-workloads: %w", err)
	}
	if o.subjects, err = chosen(*through, o.all(), func(s subject) string { return s.name }); err != nil {
		return o, do, fmt.Errorf("-subjects: %w", err)
	}
	return o, do, nil
}

// chosen are the names in a list with commas, each of which has to be in the table.
func chosen[T any](list string, table []T, name func(T) string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
		if !slices.ContainsFunc(table, func(t T) bool { return name(t) == names[i] }) {
			return nil, fmt.Errorf("no %q; -list prints what there is", names[i])
		}
	}
	return names, nil
}

func list(out io.Writer, o options) error {
	var b strings.Builder
	b.WriteString("workloads\n")
	for _, w := range workloads {
		_, _ = fmt.Fprintf(&b, "  %-14s %s\n", w.name, w.what)
	}
	b.WriteString("subjects\n")
	for _, s := range o.all() {
		_, _ = fmt.Fprintf(&b, "  %-20s %s\n", s.name, s.what)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
