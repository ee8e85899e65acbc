package anomaly

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// identity is what habits are stored under, from which nobody learns whose they are.
type identity [16]byte

// identify makes the identity of a caller. The salt is the same over restarts (Options.Salt), so
// that habits are found again; who does not have it cannot try names. The length before the issuer
// keeps ("ab","c") apart from ("a","bc").
func identify(salt []byte, c *Caller) identity {
	text := make([]byte, 0, len(salt)+8+len(c.Issuer)+len(c.Subject))
	text = append(text, salt...)
	text = binary.BigEndian.AppendUint64(text, uint64(len(c.Issuer)))
	text = append(append(text, c.Issuer...), c.Subject...)
	sum := sha256.Sum256(text)
	return identity(sum[:16])
}

const (
	space     = "habits"
	saveEvery = time.Minute
	saveMost  = 512 // callers at a time
	saveStale = 60  // how many parts of the learning time the store may be behind in when a caller was seen
	pageSize  = 256
	startWait = 2 * time.Second // for what the store has
	storeWait = 5 * time.Second // for one look at it, later

	storedForm = 1
	headSize   = 1 + 8 + 8 + 8
	useSize    = 8 + 8
)

var errStored = errors.New("habits of another form")

// encode writes what outlasts the process. What is new just now is as good as known then.
// The form is one byte of version, three times of eight bytes, and sixteen bytes per skill,
// big-endian.
func (h *habits) encode() []byte {
	out := make([]byte, 1, headSize+useSize*usesKept)
	out[0] = storedForm
	for _, v := range []int64{h.since, h.seen, h.crowded} {
		out = binary.BigEndian.AppendUint64(out, uint64(v)) //nolint:gosec // all of the bits are kept
	}
	for _, u := range h.uses {
		if u.skill != 0 {
			out = binary.BigEndian.AppendUint64(out, u.skill)
			out = binary.BigEndian.AppendUint64(out, uint64(u.last)) //nolint:gosec // all of the bits are kept
		}
	}
	return out
}

// decode reads what encode wrote.
func (h *habits) decode(data []byte) error {
	uses := len(data) - headSize
	if uses < 0 || data[0] != storedForm || uses%useSize != 0 || uses/useSize > usesKept {
		return errStored
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(data[i:])) } //nolint:gosec // all of the bits are kept
	h.since, h.seen, h.crowded = at(1), at(9), at(17)
	for i := range uses / useSize {
		from := headSize + i*useSize
		h.uses[i] = use{skill: uint64(at(from)), last: at(from + 8)} //nolint:gosec // all of the bits are kept
	}
	return nil
}

// restore takes over what is stored of a caller. What cannot be read is learned anew, which errs to
// the side of saying nothing: a caller who is being learned does nothing unusual.
func (h *habits) restore(data []byte) {
	var old habits
	if old.decode(data) != nil {
		return
	}
	h.since, h.seen, h.crowded, h.uses = old.since, old.seen, old.crowded, old.uses
	h.saved, h.changed = old.seen, false
}

// load reads what was known when the gateway ended last.
// What cannot be read within startWait is learned anew: the gateway does not wait longer to start.
func (w *Watch) load(ctx context.Context) error {
	if w.options.Values == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	d := &w.skills
	for after := ""; len(d.learnt) < d.room; {
		page, err := w.options.Values.List(ctx, space, after, pageSize)
		if err != nil {
			return err
		}
		for _, v := range page {
			after = v.Key
			var id identity
			// Keys of another form are another version's, and are passed over.
			if n, err := hex.Decode(id[:], []byte(v.Key[:min(len(v.Key), 2*len(id))])); err == nil && n == len(id) {
				d.learnt[id] = v.Data
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
	return nil
}

// stored is what is to be written of a caller.
type stored struct {
	of   *habits
	key  string
	data []byte
}

// unsaved takes what is known and not stored, of at most so many callers.
// Being seen alone is written only once in a sixtieth of the learning time, so that a busy caller
// does not cost a write a minute.
func (d *skills) unsaved() ([]stored, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off() {
		return nil, 0
	}
	var list []stored
	stale := max(seconds(d.set.learning)/saveStale, 1)
	d.table.each(func(h *habits) {
		if len(list) == saveMost || !h.changed && h.seen-h.saved < stale {
			return
		}
		h.changed, h.saved = false, h.seen
		list = append(list, stored{h, hex.EncodeToString(h.id[:]), h.encode()})
	})
	return list, d.set.learning
}

// again has what could not be stored put into the state later, with the next minute. A place may be
// another caller's by now: then that one's is stored once too often.
func (d *skills) again(list []stored) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range list {
		s.of.changed = true
	}
}

// save stores what has changed.
// The lock is not held while the store is written to.
func (w *Watch) save(ctx context.Context) error {
	if w.options.Values == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	for {
		list, ttl := w.skills.unsaved()
		for i, s := range list {
			if err := w.options.Values.Put(ctx, space, s.key, s.data, ttl); err != nil {
				w.skills.again(list[i:])
				return err
			}
		}
		// A store that is slow is written to in parts, each of which counts when it is done.
		if len(list) < saveMost {
			return nil
		}
	}
}
