package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// run measures every workload that was chosen, through every subject that was. What was
// measured before an error comes with it.
func run(ctx context.Context, o options, progress io.Writer) (*record, error) {
	st, err := newStage(ctx, o, progress)
	if err != nil {
		return nil, err
	}
	defer st.close()
	rec := newRecord(o)
	defer func() { rec.Versions, rec.LeftOut, rec.Notes = st.versions, st.leftOut, st.notes }()
	for _, w := range workloads {
		if !o.takes(w) {
			continue
		}
		st.say("%s: %s", w.name, w.what)
		measure := st.measure
		if w.growth != nil {
			measure = st.grow
		}
		if err := measure(w, rec); err != nil {
			return rec, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return rec, nil
}

// takes reports whether a workload was chosen: those that were named, or else all of one
// kind, since both kinds together take long.
func (o *options) takes(w workload) bool {
	if o.workloads != nil {
		return slices.Contains(o.workloads, w.name)
	}
	return (w.growth != nil) == o.growth
}

// measure goes round-robin over the subjects: what disturbs the machine disturbs
// all alike.
func (st *stage) measure(w workload, rec *record) error {
	rounds := st.options.rounds
	if w.rounds > 0 {
		rounds = min(rounds, w.rounds)
	}
	for range rounds {
		for _, s := range st.options.all() {
			if !w.through(s) || st.options.subjects != nil && !slices.Contains(st.options.subjects, s.name) {
				continue
			}
			if err := st.ctx.Err(); err != nil {
				return err
			}
			f, err := st.round(w, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if f != nil {
				rec.add(w.name, s.name, f)
			}
		}
	}
	return nil
}

func (st *stage) round(w workload, s subject) (figures, error) {
	if err := st.only(nil); err != nil {
		return nil, err
	}
	if w.alone != nil {
		return w.alone(st)
	}
	r, err := st.run(w, s)
	if err != nil || r == nil {
		return nil, err
	}
	if err := st.only(r); err != nil {
		return nil, err
	}
	if w.fresh && r.stop != nil {
		defer r.stop()
	}
	l := &lane{stage: st, workload: w, subject: s, running: r}
	wait := l.profile(st.options.profiles, s.name)
	f, err := w.round(l)
	r.called = true
	return f, errors.Join(err, wait())
}

func newRecord(o options) *record {
	commit, _ := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	return &record{
		Date:   time.Now().UTC().Truncate(time.Second),
		Commit: strings.TrimSpace(string(commit)),
		Machine: machine{
			CPU: processes.model(), Cores: runtime.NumCPU(), Kernel: processes.kernel(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		},
		Settings: settings{
			Rounds: o.rounds, Time: o.time.String(), Connections: o.connections, Rate: o.rate, Streams: o.streams, Idle: o.idle,
		},
	}
}
