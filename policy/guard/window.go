package guard

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
)

// Window finds what is split over the chunks of artifacts that stream. It keeps the newest of what each
// artifact says, and whoever passes the chunks on asks it what has to be said behind one before it may
// go (Behind), and what is to be redacted in it by then (Cuts).
//
//	chunk 1   "the key is AKIAIOSF"       nothing is found; it waits
//	chunk 2   "ODNN7EXAMPLE, use it"      a key is found, of which both have a part
//
// It is for one stream and one goroutine.
type Window struct {
	guards    Selection // those that can be asked about a text that grows
	bytes     int
	artifacts map[string]*artifact
}

// What a Window keeps at most.
const (
	// mostArtifacts are looked at together; the chunks of others are looked at one by one.
	mostArtifacts = 64
	// longestKept is how far back a finding is followed that goes on and on.
	longestKept = 64 << 10
)

// artifact is what the window keeps of one.
type artifact struct {
	text     string // the newest of it
	base     int    // how much there was before
	open     int    // where the first chunk begins that has not gone
	over     bool   // nothing more comes
	cuts     []detect.Finding
	reported map[reportedAt]bool
}

// reportedAt tells findings apart: what grows with the next chunk is the same.
type reportedAt struct {
	guard string
	begin int
}

// Chunk is one text of an artifact in a Window.
type Chunk struct {
	of         *artifact
	begin, end int
}

// Window makes one for the guards that look at a stream, and says how long an event may wait for what
// comes behind it; nil where none of the guards can be asked about a text that grows.
func (s *Set) Window(guards Selection) (*Window, time.Duration) {
	w := &Window{bytes: int(s.hold.Bytes), artifacts: map[string]*artifact{}}
	for _, g := range guards {
		if _, ok := g.finder.(streamer); ok {
			w.guards = append(w.guards, g)
		}
	}
	if w.guards == nil {
		return nil, 0
	}
	return w, s.hold.Time.Std()
}

// Begin says that an artifact begins, or begins anew: what was said of it before is complete.
func (w *Window) Begin(id string) {
	w.End(id)
	delete(w.artifacts, id)
}

// End says that nothing more comes of an artifact.
func (w *Window) End(id string) {
	if a := w.artifacts[id]; a != nil {
		a.over = true
	}
}

// EndAll says so of all.
func (w *Window) EndAll() {
	if w == nil {
		return
	}
	for _, a := range w.artifacts {
		a.over = true
	}
}

// Add appends a text to an artifact. The result has what is found in the text, and in what stands
// before it and goes on in it; of its Refused the stream ends. Its cuts are asked for by Cuts.
func (w *Window) Add(id string, text Text) (Chunk, *Result) {
	a := w.artifacts[id]
	if a == nil {
		a = &artifact{reported: map[reportedAt]bool{}}
		if a.over = len(w.artifacts) >= mostArtifacts; !a.over {
			w.artifacts[id] = a
		}
	}
	begin := a.base + len(a.text)
	if len(a.text) == 0 {
		a.open = begin
	}
	a.text += text.Value
	chunk := Chunk{a, begin, a.base + len(a.text)}
	r := &Result{}
	for _, g := range w.guards {
		s, _ := g.finder.(streamer)
		// By itself too: with the next text behind it a number may be none.
		for _, f := range s.within(text.Value) {
			a.found(g, r, text, detect.Finding{Begin: begin + f.Begin, End: begin + f.End, Kind: f.Kind})
		}
		if begin == a.base {
			continue
		}
		for _, f := range s.within(a.text) {
			f.Begin, f.End = f.Begin+a.base, f.End+a.base
			if f.Begin < begin && f.End > begin {
				a.found(g, r, text, f)
			}
		}
	}
	return chunk, r
}

// found notes a finding, and what is to be redacted.
func (a *artifact) found(g *guard, r *Result, text Text, f detect.Finding) {
	key := reportedAt{g.name, f.Begin}
	known := a.reported[key]
	a.reported[key] = true
	one := Result{}
	one.add(g, Event, &place{Finding: f, part: text.Part})
	if !known {
		for _, finding := range one.Findings {
			r.count(finding)
		}
	}
	if one.Refused != nil && r.Refused == nil {
		r.Refused = one.Refused
	}
	for _, cut := range one.Cuts[0] {
		ordered := len(a.cuts) == 0 || cut.Begin >= a.cuts[len(a.cuts)-1].End
		if a.cuts = append(a.cuts, cut); !ordered {
			a.cuts = apart(a.cuts)
		}
	}
}

// Behind reports whether enough stands behind a chunk, or nothing more comes.
func (w *Window) Behind(c Chunk) bool {
	return c.of.over || c.of.base+len(c.of.text)-c.end >= w.bytes
}

// Cuts are what is to be redacted of a chunk, by what is known now; mark says of each whether its mark
// stands here, or stood in a chunk before.
func (w *Window) Cuts(c Chunk) (cuts []detect.Finding, marked []bool) {
	for _, f := range c.of.cuts {
		from, to := max(f.Begin, c.begin), min(f.End, c.end)
		if from >= to {
			continue
		}
		cuts = append(cuts, detect.Finding{Begin: from - c.begin, End: to - c.begin, Kind: f.Kind})
		marked = append(marked, from == f.Begin)
	}
	return cuts, marked
}

// Release says that a chunk has gone: of what was said up to its end only the newest is kept, and what
// belongs to a finding that may go on.
func (w *Window) Release(c Chunk) {
	a := c.of
	a.open = max(a.open, c.end)
	end := a.base + len(a.text)
	keep := max(a.open-w.bytes, a.base)
	for _, f := range a.cuts {
		if f.End >= end && f.Begin < keep {
			keep = max(f.Begin, end-longestKept, a.base)
		}
	}
	if keep <= a.base {
		return
	}
	a.text, a.base = a.text[keep-a.base:], keep
	kept := a.cuts[:0]
	for _, f := range a.cuts {
		if f.End > keep {
			kept = append(kept, f)
		}
	}
	a.cuts = kept
	for key := range a.reported {
		if key.begin < keep {
			delete(a.reported, key)
		}
	}
}
