package keys

import (
	"slices"
	"time"
)

// lead is how long a key is published before it signs, at least: receivers that keep
// a key set for an hour know every key when they meet it.
const lead = time.Hour

// generated is a key in the directory.
type generated struct {
	*key
	name string
	from time.Time // when it takes over from the one before; the file's name says it
}

// schedule says what becomes of generated keys, by their times alone. Replicas with
// the same files and about the same clock come to the same answers.
//
// The life of one generated key, with rotate 30 days and retain 7 days:
//
//	made          two hours before it takes over at most: published, does not sign
//	from          signs, and stands first in the key set
//	from + 30 d   the next one signs; this one is still published
//	from + 37 d   removed: what it signed has expired at its receivers
type schedule struct {
	algorithm      string
	rotate, retain time.Duration
}

// next tells from when on the next key is to sign, and whether it is to be made now.
// keys are sorted by time. A time that was missed, since no gateway ran, is the
// beginning of an hour instead: replicas that start together find the same one.
//
// There are no elections among replicas. Each computes the same time from the same files, and who makes
// the key first wins the name; the others find it there.
func (s schedule) next(keys []*generated, now time.Time) (from time.Time, wanted bool) {
	if len(keys) == 0 {
		return now.Truncate(time.Hour), true
	}
	newest := keys[len(keys)-1]
	due := newest.from.Add(s.rotate)
	if newest.public.Algorithm != s.algorithm {
		due = now
	}
	switch {
	case newest.from.After(now), now.Before(due.Add(-2 * lead)):
		return time.Time{}, false
	case now.After(due.Add(-lead)):
		return now.Add(2 * lead).Truncate(time.Hour), true
	}
	return due, true
}

// arrange says which keys to publish, the signing one first, and which to remove.
// keys are sorted by time. The last that is due signs. If none is, since clocks were
// wrong or a key was withdrawn, the first signs: it has been published, after all.
//
//	keys a, b, c taking over on days 0, 30, 60; today is day 62, retain 7 days
//	publish c, b: b signed until two days ago. a is expired, and is removed.
func (s schedule) arrange(keys []*generated, now time.Time) (publish, expired []*generated) {
	if len(keys) == 0 {
		return nil, nil
	}
	signing := 0
	for i, k := range keys {
		if !k.from.After(now) {
			signing = i
		}
	}
	first := signing
	for first > 0 && now.Sub(keys[first].from) < s.retain {
		first-- // keys[first] took over so recently that the one before is still good
	}
	publish = append(publish, keys[signing])
	for i, k := range slices.Backward(keys) {
		if i >= first && i != signing {
			publish = append(publish, k)
		}
	}
	return publish, keys[:first]
}
