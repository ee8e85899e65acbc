package guard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// Selection are the guards that look at one call.
type Selection []*guard

// On are those of them that look at a phase.
func (s Selection) On(p Phase) (on Selection) {
	for _, g := range s {
		if slices.Contains(g.on, p) {
			on = append(on, g)
		}
	}
	return on
}

// Names are those of the guards, with " (shadow)" behind those that only record.
func (s Selection) Names() (names []string) {
	for _, g := range s {
		name := g.name
		if g.shadow {
			name += " (shadow)"
		}
		names = append(names, name)
	}
	return names
}

// Offline are those that ask no service.
func (s Selection) Offline() (list Selection) {
	for _, g := range s {
		if _, asks := g.finder.(serviceFinder); !asks {
			list = append(list, g)
		}
	}
	return list
}

// Streams reports whether any of them can find what is split over the chunks of an artifact.
func (s Selection) Streams() bool {
	return slices.ContainsFunc(s, func(g *guard) bool { _, ok := g.finder.(streamer); return ok })
}

// Finding is what a guard found in one part, for the record: never the text.
type Finding struct {
	Guard  string
	On     Phase
	Kind   string // of the guard's use; unavailable where its service gave no answer
	Part   int    // index of the part in its message or artifact; -1 for none
	Count  int
	Action string // report, redact or refuse; passed where a service gave no answer and nothing came of it
	Shadow bool   // nothing came of it
}

// KindUnavailable stands in the place of a kind where a service gave no answer.
const KindUnavailable = "unavailable"

// passed is the action of what onFailure lets pass.
const passed = "passed"

// Result is what came of a document.
type Result struct {
	Findings []Finding
	// Cuts are what is to be redacted, by the index of the text: in order, and apart from each other.
	Cuts map[int][]detect.Finding
	// Whole are the messages of a task's history of which everything is to be redacted, and for which kind:
	// what was found there has no place. All of their texts are among the Cuts.
	Whole map[int]string
	// Refused is the first that refuses the document; nil where none does.
	Refused *Refused
}

// Refused is the error of a document that a guard refuses. Its text is for the log.
type Refused struct {
	Guard string
	Kind  string
	Part  int
	On    Phase
	Err   error // why its service could not be asked; nil where it found something
}

// Error is for the log.
func (r *Refused) Error() string {
	if r.Err != nil {
		return "guard " + r.Guard + " could not look at the " + string(r.On) + ": " + r.Err.Error()
	}
	text := "guard " + r.Guard + " found " + r.Kind + " in the " + string(r.On)
	if r.Part >= 0 {
		text += ", part " + strconv.Itoa(r.Part)
	}
	return text
}

// TooLarge reports whether the document is more than is sent to services, which it will be again.
func (r *Refused) TooLarge() bool { return errors.Is(r.Err, service.ErrTooLarge) }

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

// Inspect has the guards look at a document. All of them do, so that the record has what each found.
func (s Selection) Inspect(ctx context.Context, c *Content) *Result {
	r := &Result{}
	for _, g := range s {
		found, err := g.finder.find(ctx, c)
		if err != nil {
			r.unavailable(g, c.Phase, err)
			continue
		}
		for i := range found {
			r.add(g, c.Phase, &found[i])
		}
	}
	r.cutWhole(c)
	for i, list := range r.Cuts {
		r.Cuts[i] = apart(list)
	}
	return r
}

// unavailable is what becomes of a document that a service has not looked at.
func (r *Result) unavailable(g *guard, on Phase, err error) {
	f := Finding{Guard: g.name, On: on, Kind: KindUnavailable, Part: -1, Count: 1, Action: refuse, Shadow: g.shadow}
	s, _ := g.finder.(serviceFinder)
	if s.Service != nil && s.Passes(err) {
		f.Action = passed
	}
	r.Findings = append(r.Findings, f)
	if f.Action == refuse && !g.shadow && r.Refused == nil {
		r.Refused = &Refused{Guard: g.name, Kind: KindUnavailable, Part: -1, On: on, Err: err}
	}
}

// cutWhole redacts all texts of the messages that are to be redacted as a whole.
func (r *Result) cutWhole(c *Content) {
	if len(r.Whole) == 0 {
		return
	}
	for i := range c.Texts {
		if t := &c.Texts[i]; t.Old {
			if kind, ok := r.Whole[t.Of]; ok {
				r.cut(i, detect.Finding{End: len(t.Value), Kind: kind})
			}
		}
	}
}

// cut has something redacted in a text.
func (r *Result) cut(text int, f detect.Finding) {
	if r.Cuts == nil {
		r.Cuts = map[int][]detect.Finding{}
	}
	r.Cuts[text] = append(r.Cuts[text], f)
}

// add notes what was found, and what comes of it. What is to be redacted and has no place is refused. What
// is old cannot be taken back, and is not refused but redacted: everything else of the task would be lost
// with it. Without a place, all of its message is.
func (r *Result) add(g *guard, on Phase, p *place) {
	action := g.action
	switch {
	case p.old && action == refuse:
		action = redact
	case !p.old && action == redact && p.End == 0:
		action = refuse
	}
	r.count(Finding{Guard: g.name, On: on, Kind: p.Kind, Part: p.part, Count: 1, Action: action, Shadow: g.shadow})
	if g.shadow {
		return
	}
	switch action {
	case refuse:
		if r.Refused == nil {
			r.Refused = &Refused{Guard: g.name, Kind: p.Kind, Part: p.part, On: on}
		}
	case redact:
		switch {
		case p.End > 0:
			r.cut(p.text, p.Finding)
		case r.Whole[p.of] == "":
			if r.Whole == nil {
				r.Whole = map[int]string{}
			}
			r.Whole[p.of] = p.Kind
		}
	}
}

// likeNewest is how many of the newest findings one is compared with: those of one guard in one part stand
// together, and a document may have tens of thousands.
const likeNewest = 64

// count adds a finding to those that are like it.
func (r *Result) count(f Finding) {
	for i := len(r.Findings) - 1; i >= max(0, len(r.Findings)-likeNewest); i-- {
		one := &r.Findings[i]
		n := one.Count
		if one.Count = f.Count; *one == f {
			one.Count = n + 1
			return
		}
		one.Count = n
	}
	r.Findings = append(r.Findings, f)
}

// apart puts places in order. Those that overlap become one, of the kind that begins first.
func apart(list []detect.Finding) []detect.Finding {
	if len(list) == 0 {
		return list
	}
	slices.SortStableFunc(list, func(a, b detect.Finding) int { return cmp.Compare(a.Begin, b.Begin) })
	out := list[:1]
	for _, next := range list[1:] {
		if last := &out[len(out)-1]; next.Begin < last.End {
			last.End = max(last.End, next.End)
		} else {
			out = append(out, next)
		}
	}
	return out
}

// Mark is what stands in the place of what was redacted.
func Mark(kind string) string { return "[redacted: " + kind + "]" }
