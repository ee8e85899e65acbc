package limits

import "time"

// Applies is one bound that a call would be counted in.
type Applies struct {
	Limit  string        // name
	Shadow bool          // only recorded
	What   string        // rate, quota, concurrency, openTasks or bytes
	Units  int64         // in Window; places; bytes
	Window time.Duration // rate and quota
	Burst  int64         // rate
	Cost   int64         // rate and quota: of this call; 0 is free
	Key    string        // what it is counted by, as "principal=alice@api-keys agent=billing"; "" for all together, and of bytes
}

// Explain says what would be counted for a call, in the order of the configuration,
// without counting it. Only who calls what has to be set. A limit with several bounds is
// there with each.
func (l *Limiter) Explain(c *Call) []Applies {
	if l == nil {
		return nil
	}
	p := principal(c)
	w := callOf(c, p)
	var list []Applies
	for _, m := range l.agent(c.Agent).limits {
		if !m.applies(c, p) {
			continue
		}
		for i := range m.bounds {
			b := &m.bounds[i]
			if b.what == boundTasks && !sends(c.Method) {
				continue
			}
			list = append(list, m.explain(b, c, &w, l.options.Now()))
		}
		if m.src.Bytes > 0 {
			list = append(list, Applies{Limit: m.src.Name, Shadow: m.shadow, What: "bytes", Units: int64(m.src.Bytes)})
		}
	}
	return list
}

// explain is a bound with what a call would take of it, and under which key.
func (m *limit) explain(b *bound, c *Call, w *who, now time.Time) Applies {
	a := Applies{Limit: m.src.Name, Shadow: m.shadow, What: b.what, Units: b.max, Key: w.values(m.parts)}
	switch b.what {
	case boundRate:
		a.Units, a.Window, a.Burst = b.units, b.window, b.max
		a.Cost = m.costs.ofCall(c)
	case boundQuota:
		a.Window, a.Cost = b.span(now), m.costs.ofCall(c)
	}
	return a
}
