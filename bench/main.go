// Command bench compares the gateway, with everything on, with a bare reverse
// proxy and with no proxy at all: the same A2A calls over the same number of
// kept-alive connections, one after the other in one run on one machine.
//
//	go run ./bench                     all subjects
//	go run ./bench -n 20000 -rounds 5  shorter
//
// The figure to read is CPU: the proxy process's own user and system time per
// request. Unlike requests per second it hardly depends on what the load
// generator and the agent take of the same cores. README.md says more.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		if err := role(os.Args[2], os.Args[3:]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "bench:", os.Args[2]+":", err)
			os.Exit(1)
		}
		return
	}
	o := options{}
	flag.IntVar(&o.requests, "n", 40_000, "requests a round")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds; the median counts")
	flag.IntVar(&o.connections, "c", 64, "kept-alive connections")
	flag.StringVar(&o.binary, "gateway", "", "gateway `binary`; built when empty")
	flag.StringVar(&o.only, "only", "", "run one `subject` only")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	requests, rounds, connections int
	binary, only                  string
}

// subject is something requests are sent through.
type subject struct {
	name   string
	target string // URL of the JSON-RPC endpoint
	pid    int    // of the process whose time counts; 0 for none
	h2     bool
	old    bool // the calls are of A2A 0.3, and the agent's of 1.0
}

// call is what is sent, and the version it is in.
func (s subject) call() (body []byte, version string) {
	if s.old {
		return request03(), "0.3"
	}
	return request(), "1.0"
}

// result is one subject's figures, one value a round.
type result struct {
	cpu, rps, p50, p99 []float64 // µs, 1/s, µs, µs
	rss                int       // KiB at the end
}

func run(o options, out io.Writer) error {
	stage, err := newStage(o)
	if err != nil {
		return err
	}
	defer stage.close()
	subjects, err := stage.subjects()
	if err != nil {
		return err
	}
	results := make([]result, len(subjects))
	// Round-robin over subjects: what disturbs the machine disturbs all alike.
	for range o.rounds {
		for i, s := range subjects {
			if o.only != "" && s.name != o.only {
				continue
			}
			if err := stage.round(s, &results[i]); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return report(out, o, subjects, results)
}

// round sends one round of requests and notes what they took.
func (st *stage) round(s subject, r *result) error {
	body, version := s.call()
	client := newClient(st.options.connections, s.h2, version, &tls.Config{RootCAs: st.roots, MinVersion: tls.VersionTLS13})
	defer client.close()
	if err := client.warm(s.target, st.token, body); err != nil {
		return err
	}
	before, err := cpuTime(s.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	latencies, err := client.load(s.target, st.token, body, st.options.requests)
	if err != nil {
		return err
	}
	wall := time.Since(began)
	after, err := cpuTime(s.pid)
	if err != nil {
		return err
	}
	n := float64(st.options.requests)
	slices.Sort(latencies)
	r.cpu = append(r.cpu, float64((after-before).Microseconds())/n)
	r.rps = append(r.rps, n/wall.Seconds())
	r.p50 = append(r.p50, float64(latencies[len(latencies)/2].Microseconds()))
	r.p99 = append(r.p99, float64(latencies[len(latencies)*99/100].Microseconds()))
	r.rss, err = rss(s.pid)
	return err
}

func report(out io.Writer, o options, subjects []subject, results []result) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(out, "%d rounds of %d requests, %d connections, 700 B call, 600 B answer; medians\n\n",
		o.rounds, o.requests, o.connections)
	_, _ = fmt.Fprintln(w, "subject\tCPU µs/req\t× floor\treq/s\tp50 µs\tp99 µs\tRSS MiB\t")
	floor, cpu := map[bool]float64{}, map[string]float64{}
	for i, s := range subjects {
		cpu[s.name] = median(results[i].cpu)
		if s.name == "floor" || s.name == "floor h2" {
			floor[s.h2] = cpu[s.name]
		}
	}
	for i, s := range subjects {
		r := results[i]
		if len(r.cpu) == 0 {
			continue
		}
		ratio := "-"
		if f := floor[s.h2]; f > 0 && s.pid != 0 {
			ratio = fmt.Sprintf("%.2f", median(r.cpu)/f)
		}
		_, _ = fmt.Fprintf(w, "%s\t%.1f\t%s\t%.0f\t%.0f\t%.0f\t%d\t\n", s.name, median(r.cpu), ratio,
			median(r.rps), median(r.p50), median(r.p99), r.rss/1024)
	}
	if err := w.Flush(); err != nil || cpu["gateway"] == 0 || cpu[translated] == 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "\na translated call takes %.2f × the CPU of one that is not\n", cpu[translated]/cpu["gateway"])
	return err
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
