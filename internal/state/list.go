package state

// list returns the tasks that q asks for and keep lets pass, in the order that
// Ledger promises, behind q.After. It lets others in from time to time; what they
// add meanwhile may be missing. known is q.After itself where it is still held, or
// nil: on its own shelf the list can go on from there without a search.
func (x *index) list(q Query, known *entry, keep func(*entry) bool) []*entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.agents[q.Agent]
	if l == nil {
		return nil
	}
	rows := l.rows(q)
	var (
		found []*entry
		open  tops // the next task of each shelf that may have the next of all
	)
	if !q.After.Created.IsZero() || q.After.ID != "" {
		open = x.behind(rows, q.After, known)
	}
	for passed := 1; len(found) < q.Limit; passed++ {
		pause := passed%x.stretch == 0
		for i := range rows {
			rows[i].open(&open, pause)
		}
		if len(open) == 0 {
			break
		}
		if keep(open[0]) {
			found = append(found, open[0])
		}
		open.pass()
		if pause {
			x.pause()
		}
	}
	return found
}

// count is how many tasks list would return of q without an end. It walks, as
// nobody counts what runs out.
func (x *index) count(q Query, keep func(*entry) bool) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.agents[q.Agent]
	if l == nil {
		return 0
	}
	n, passed := 0, 0
	for _, e := range newest(l.rows(q)) {
		for ; e != nil; e = e.older {
			if keep(e) {
				n++
			}
			if passed++; passed%x.stretch == 0 {
				x.pause()
			}
		}
	}
	return n
}

// behind opens all shelves of rows at the first task that comes after another in
// the order of lists.
func (x *index) behind(rows []row, after Record, known *entry) tops {
	// The key of an entry is its id here: before looks at nothing else of it.
	mark := &entry{text: after.ID, key: uint32(len(after.ID)), created: after.Created.UnixNano()} //nolint:gosec // ids are bounded
	if known != nil && known.created != mark.created {
		known = nil // the id has begun a new life
	}
	var open tops
	passed := 0
	for _, e := range newest(rows) {
		if known != nil && known.shares(e) {
			e = known
		}
		for ; e != nil && !mark.before(e); e = e.older {
			if passed++; passed%x.stretch == 0 {
				x.pause()
			}
		}
		if e != nil {
			open.push(e)
		}
	}
	return open
}

// pause lets others in. A task that goes meanwhile still says what was older.
// Shelves that go or are raised do not say what was next; hence all that matter
// have to be open by now.
func (x *index) pause() {
	x.mu.Unlock()
	x.mu.Lock()
}

// newest opens all shelves of rows, which then have no next any more.
func newest(rows []row) []*entry {
	var list tops
	for i := range rows {
		rows[i].open(&list, true)
	}
	return list
}

// rows are the shelves that q asks for, none of them twice.
func (l *library) rows(q Query) []row {
	if q.Everyone {
		return []row{{axis: byAgent, next: l.all}}
	}
	var rows []row
	if q.Owner != "" {
		rows = append(rows, row{axis: byOwner, next: l.owners[q.Owner]})
	}
	if q.Tenant != "" {
		rows = append(rows, row{axis: byTenant, next: l.tenants[q.Tenant], without: q.Owner})
	}
	return rows
}

// row is a walk along shelves.
type row struct {
	axis    axis
	next    *shelf
	without string // whose shelves are passed by, because another row has them
}

// open adds to tops the shelves that may hold a task newer than those there, or
// as new; or all of them.
func (r *row) open(t *tops, all bool) {
	for ; r.next != nil; r.next = r.next.next[r.axis] {
		if r.without != "" && r.next.owner == r.without {
			continue
		}
		if !all && len(*t) > 0 && (*t)[0].created > r.next.latest {
			return
		}
		t.push(r.next.newest)
	}
}
