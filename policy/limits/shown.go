package limits

import (
	"slices"
	"time"
)

// Shown is a limit as it counts.
type Shown struct {
	Name   string
	Shadow bool     // only recorded
	Key    []string // what it is counted by; none for one count for all
	Bounds []ShownBound

	// The calls that it applies to; none for any.
	Agents, Skills, Methods, Subjects, Groups, Issuers []string
}

// ShownBound is one bound of a limit.
type ShownBound struct {
	What   string        // rate, quota, concurrency, openTasks or bytes
	Units  int64         // in Window; places; bytes
	Window time.Duration // of a rate
	Per    string        // of a quota: hour, day, week or month
	Burst  int64         // of a rate
}

// Show is every limit, in the order of the configuration, and what becomes of calls while
// nobody can count them: local, deny or allow. A nil Limiter has none.
func (l *Limiter) Show() (list []Shown, onLoss string) {
	if l == nil {
		return nil, lossLocal
	}
	for _, m := range l.limits {
		s := Shown{
			Name: m.src.Name, Shadow: m.shadow, Key: slices.Clone(m.parts), Agents: slices.Clone(m.src.Agents), Skills: slices.Clone(m.src.Skills),
			Methods: slices.Clone(m.src.Methods), Subjects: slices.Clone(m.src.Subjects), Groups: slices.Clone(m.src.Groups), Issuers: slices.Clone(m.src.Issuers),
		}
		for i := range m.bounds {
			b := &m.bounds[i]
			one := ShownBound{What: b.what, Units: b.max, Per: b.per}
			if b.what == boundRate {
				one.Units, one.Window, one.Burst = b.units, b.window, b.max
			}
			s.Bounds = append(s.Bounds, one)
		}
		if m.src.Bytes > 0 {
			s.Bounds = append(s.Bounds, ShownBound{What: "bytes", Units: int64(m.src.Bytes)})
		}
		list = append(list, s)
	}
	// The default, as it is shown.
	if l.onLoss == "" {
		return list, lossLocal
	}
	return list, l.onLoss
}
