package anomaly

import "time"

// pointer is how a detector has counts of type T.
// It lets callers hold values in its table, and call their methods without an interface per value.
type pointer[T any] interface {
	*T
	counted
}

// callers holds counts for callers. Those with a name and those without are remembered
// apart: addresses cost nothing, and must not have others forgotten. Agents, where something is
// counted for those, are in the table of names.
// tables[0] and tables[1] are chosen by key.table. An attacker without a credential can fill only
// the one of addresses.
type callers[T any, P pointer[T]] struct {
	detector
	size   int
	tables [2]table[T]
}

func (d *callers[T, P]) open(name string, w *Watch, size int) {
	d.detector.open(name, w)
	d.size = size
}

// configure puts other settings in force. Counts by other windows mean nothing then.
// The tables are made anew even where only the threshold changed: what was counted was judged by
// another.
func (d *callers[T, P]) configure(set settings, now moment) {
	d.mu.Lock()
	defer d.unlock()
	if d.set == set {
		return
	}
	d.endAll(reconfigured, now)
	d.set = set
	d.tables = [2]table[T]{newTable[T](d.size), newTable[T](d.size)}
}

// of finds the counts of a caller, or begins with them.
// The place may have been another caller's, whose anomaly then ends as forgotten. Under the lock.
func (d *callers[T, P]) of(k key, now moment) P {
	v, had := d.tables[k.table].take(k.hash, now.since)
	if !had {
		d.end(P(v), forgotten, now)
		var none T
		*v = none
	}
	return P(v)
}

// check is for how long calls of a caller are refused.
// 0 is "not refused". The caller is only looked for and not remembered: a check must not displace
// anybody.
func (d *callers[T, P]) check(k key, now moment) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off() {
		return 0
	}
	v := d.tables[k.table].find(k.hash)
	if v == nil {
		return 0
	}
	return d.refuses(*P(v).episode(), now)
}

// rates counts how often callers do something, or how often something is done to agents.
// Denials, cancels, agentCancels and cards are of this type.
type rates struct {
	callers[tally, *tally]
}

// see counts one more. That the detector is off is asked under the lock, since a reload may switch it.
func (d *rates) see(s *sighting) {
	d.mu.Lock()
	defer d.unlock()
	if d.off() {
		return
	}
	t := d.of(s.key, s.now)
	d.judge(t, t.add(d.slice(s.now)), s)
}

// settled ends what goes on of a key, because a person has looked at it: what was counted until then
// must not begin it anew with the next change.
func (d *rates) settled(k key, now moment) {
	d.mu.Lock()
	defer d.unlock()
	if d.off() {
		return
	}
	if t := d.tables[k.table].find(k.hash); t != nil {
		t.ring = ring{}
		d.end(t, settled, now)
	}
}

// kinds counts how many different things callers do.
// nameProbing is of this type: its things are ids of tasks.
type kinds struct {
	callers[sketch, *sketch]
}

// see counts a thing, if it is another one. Asking a hundred times for one task of somebody else's is
// a client that retries; asking for a hundred is somebody who looks around.
func (d *kinds) see(thing uint64, s *sighting) {
	d.mu.Lock()
	defer d.unlock()
	if d.off() {
		return
	}
	t := d.of(s.key, s.now)
	d.judge(t, t.add(thing, d.slice(s.now)), s)
}
