package apikey

import (
	"slices"
	"sort"
	"strings"
	"time"
)

// Shown is an API key as the gateway has it in memory; it holds nothing secret.
type Shown struct {
	Spec

	// LastUsed is when this gateway last saw it, in whole seconds; zero where that is not
	// known.
	LastUsed time.Time
}

// List is at most limit of the API keys in force, by the bytes of their ids, behind the
// id after. With part they are those in whose id, subject, tenant or owner it is, in letters
// of any case. Without the scheme there are none.
// It is a page of the console's list: after is the last id of the page before.
func (a *Scheme) List(part, after string, limit int) []Shown {
	if a == nil {
		return nil
	}
	t := a.file.table.Load()
	order := t.order()
	from := sort.Search(len(order), func(i int) bool { return t.keys[order[i]].id() > after })
	part = strings.ToLower(part)
	var list []Shown
	for _, i := range order[from:] {
		if len(list) == limit {
			break
		}
		if k := t.keys[i].shown(); k.has(part) {
			list = append(list, k)
		}
	}
	return list
}

// Find is the API key of an id; false where there is none.
func (a *Scheme) Find(id string) (Shown, bool) {
	if a == nil {
		return Shown{}, false
	}
	t := a.file.table.Load()
	order := t.order()
	i, found := sort.Find(len(order), func(i int) int { return strings.Compare(id, t.keys[order[i]].id()) })
	if !found {
		return Shown{}, false
	}
	return t.keys[order[i]].shown(), true
}

// Count is how many API keys are in force.
func (a *Scheme) Count() int {
	if a == nil {
		return 0
	}
	return len(a.file.table.Load().keys)
}

// shown unpacks a key for people.
func (k *storedKey) shown() Shown {
	s := Shown{Spec: k.spec()}
	if at := k.used.Load(); at != 0 {
		s.LastUsed = time.Unix(int64(at), 0).UTC()
	}
	return s
}

// has reports whether one of the names has a part that is in small letters.
func (k *Shown) has(part string) bool {
	return part == "" || slices.ContainsFunc([]string{k.ID, k.Subject, k.Tenant, k.Owner}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), part)
	})
}

// sort is the indexes of the keys in the order of their ids. It takes a second for a
// million of them, and is done for a table once, if ever.
func (t *keyTable) sort() []uint32 {
	order := make([]uint32, len(t.keys))
	for i := range order {
		order[i] = uint32(i) //nolint:gosec // a file of 2^32 keys cannot be read
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(t.keys[a].id(), t.keys[b].id()) })
	return order
}
