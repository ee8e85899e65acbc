// Package discovery finds the instances of an agent: from a list, in DNS, in
// Kubernetes, in a file.
//
// It says where instances are and nothing of how they are: whether one answers, and
// which one a call goes to, is for package upstream. It may import internal/secret,
// internal/pattern and below.
package discovery

import (
	"context"
	"errors"
	"log/slog"
)

// Source finds instances.
type Source interface {
	// Run calls found with all instances there are, each as Canonical makes it,
	// whenever they have changed and once at the start, until ctx ends; the calls come
	// one after another. A source that cannot be asked says so in the log and does not
	// call: what it found last stays. No instances at all are an answer like any other.
	Run(ctx context.Context, found func(instances []string))
}

// Options are what sources use beside their configuration.
type Options struct {
	// Log says, where it is set, that a source cannot be asked, or answers again.
	Log *slog.Logger
}

// New makes the sources that c names, without asking them. There are none where c
// names none.
func New(c Config, _ Options) ([]Source, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var sources []Source
	if len(c.Static) > 0 {
		sources = append(sources, newStatic(c.Static))
	}
	if c.DNS != nil || c.Kubernetes != nil || c.File != "" {
		return sources, errors.New("instances: only static is understood so far")
	}
	return sources, nil
}

// static is a list that never changes.
type static []string

func newStatic(list []string) static {
	s := make(static, 0, len(list))
	for _, text := range list {
		if instance, err := Canonical(text); err == nil { // validated before
			s = append(s, instance)
		}
	}
	return s
}

// Run implements Source.
func (s static) Run(ctx context.Context, found func([]string)) {
	found(s)
	<-ctx.Done()
}
