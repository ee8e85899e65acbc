package anomaly

import "time"

// usesKept is how many skills of agents are known of a caller. Who uses more has no habit
// that anything could depart from.
const usesKept = 32

// use is a skill of an agent that a caller uses.
type use struct {
	skill       uint64 // by its hash; 0 for none
	first, last int64  // Unix time; first is 0 where it was learned
}

// habits are what one caller does.
// It has a fixed size, some 800 bytes, so that the memory for all callers is known when the gateway
// starts.
type habits struct {
	ring // calls of what is new
	on   *episode

	id      identity
	since   int64 // Unix time: when learning began
	seen    int64 // the last call
	crowded int64 // until when there is more than is known
	saved   int64 // what of seen is in the store
	changed bool  // what is known is not what the store has
	uses    [usesKept]use
}

func (h *habits) count(at int64) int {
	h.turn(at)
	return int(h.sum)
}

func (h *habits) episode() **episode { return &h.on }

// fresh reports whether a skill is unusual for somebody of whom enough is known: not used
// within the time of learning, but for what began just now.
// It says nothing about callers who are still being learned, who were away for as long as learning
// takes, or who use more than can be known.
func (h *habits) fresh(skill uint64, now int64, learning, window time.Duration) bool {
	span := seconds(learning)
	if now-h.since < span || now-h.seen > span || now < h.crowded {
		return false
	}
	if u := h.find(skill); u != nil && now-u.last <= span {
		return u.first != 0 && now-u.first < seconds(window)
	}
	return true
}

func (h *habits) find(skill uint64) *use {
	for i := range h.uses {
		if h.uses[i].skill == skill {
			return &h.uses[i]
		}
	}
	return nil
}

// note remembers that a skill is used, and reports whether that is unusual.
// now is Unix time in seconds.
func (h *habits) note(skill uint64, now int64, learning, window time.Duration) bool {
	span := seconds(learning)
	u := h.find(skill)
	if u != nil && u.first == 0 && now-u.last <= span {
		u.last, h.seen = now, now
		return false // as nearly always
	}
	if now-h.seen > span { // of who was away that long nothing is known
		h.since = now
	}
	fresh := h.fresh(skill, now, learning, window)
	if u == nil {
		u = h.place(now, span)
	}
	switch {
	case u.skill != skill || now-u.last > span:
		*u, h.changed = use{skill: skill}, true
		if fresh {
			u.first = now
		}
	case !fresh:
		u.first = 0
	}
	u.last, h.seen = now, now
	return fresh
}

// place finds where another skill is remembered: in place of what is not used any
// more, of what was new itself, or of what was not used for longest. In the last case more
// is used than is known, and nothing can be called unusual until all of it is forgotten.
func (h *habits) place(now, span int64) *use {
	worst, rank := &h.uses[0], -1
	for i := range h.uses {
		u := &h.uses[i]
		var r int
		switch {
		case u.skill == 0 || now-u.last > span:
			r = 2
		case u.first != 0:
			r = 1
		}
		if r > rank || r == rank && u.last < worst.last {
			worst, rank = u, r
		}
	}
	// What is in use was overwritten: of this caller nothing can be told until its uses fit again.
	if rank == 0 {
		h.crowded = now + span
	}
	return worst
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// skills knows what callers use, and tells when they use something else. Only callers with a name
// have habits: behind an address may be anybody.
type skills struct {
	detector
	room   int
	table  table[habits]
	learnt map[identity][]byte // of callers not heard of since the gateway started
	salt   []byte              // of identities
}

// configure puts other settings in force. What is known stays, as it took weeks to learn; what was
// counted of it was counted by another window.
func (d *skills) configure(set settings, now moment) {
	d.mu.Lock()
	defer d.unlock()
	if d.set == set {
		return
	}
	d.endAll(reconfigured, now)
	d.set = set
	d.table.each(func(h *habits) { h.ring = ring{} })
}

// see is told of a call that was allowed.
// The usual case, a skill that the caller uses every day, writes two numbers and allocates nothing.
func (d *skills) see(s *sighting) {
	d.mu.Lock()
	defer d.unlock()
	if d.off() {
		return
	}
	h, had := d.table.take(s.key.hash, s.now.since)
	if !had {
		d.end(h, forgotten, s.now)
		d.meet(h, s)
	}
	if h.note(hashPair(s.agent, s.skill), s.now.unix, d.set.learning, d.set.window) {
		d.judge(h, h.add(d.slice(s.now)), s)
	}
}

// meet begins with a caller, by what was known of it when the gateway started. What was known is
// used once and then forgotten here, as the table is where it stands from then on.
func (d *skills) meet(h *habits, s *sighting) {
	*h = habits{id: identify(d.salt, &s.Caller), since: s.now.unix, seen: s.now.unix, changed: true}
	if data, ok := d.learnt[h.id]; ok {
		h.restore(data)
		delete(d.learnt, h.id)
	}
}

// check is for how long a caller's calls of a skill are refused.
func (d *skills) check(k key, agent, skill string, now moment) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off() {
		return 0
	}
	h := d.table.find(k.hash)
	if h == nil || h.on == nil || !h.fresh(hashPair(agent, skill), now.unix, d.set.learning, d.set.window) {
		return 0
	}
	return d.refuses(h.on, now)
}

// hashPair is the same in every process, as it is stored (FNV-1a). Nobody chooses what
// skills are called.
// Two skills with one hash would make the newer of them seem usual; with 64 bits nobody will see
// that.
func hashPair(agent, skill string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for i := range len(agent) {
		h = (h ^ uint64(agent[i])) * prime
	}
	h = (h ^ 0xff) * prime // in no text
	for i := range len(skill) {
		h = (h ^ uint64(skill[i])) * prime
	}
	return max(h, 1)
}
