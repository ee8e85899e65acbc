package anomaly

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestHabitsAreAsTheModel: a call is unusual when its caller has been known for the time of
// learning and has not used the skill within it, or began to within the window.
func TestHabitsAreAsTheModel(t *testing.T) {
	t.Parallel()
	const learning, window = 1000 * time.Second, 100 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		now := int64(5000)
		h := &habits{since: now, seen: now}
		since, seen := now, now
		type used struct{ last, fresh int64 }
		model := map[uint64]used{}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now += rapid.OneOf(rapid.Int64Range(0, 60), rapid.Int64Range(0, 1300)).Draw(t, "pass")
			skill := rapid.Uint64Range(1, 8).Draw(t, "skill")
			if now-seen > 1000 {
				since = now
			}
			u, ok := model[skill]
			known := ok && now-u.last <= 1000
			if !known {
				u.fresh = -1
			}
			want := false
			switch learned := now-since >= 1000; {
			case learned && !known:
				want, u.fresh = true, now
			case learned && u.fresh >= 0 && now-u.fresh < 100:
				want = true
			default:
				u.fresh = -1
			}
			u.last, seen = now, now
			model[skill] = u
			if got := h.note(skill, now, learning, window); got != want {
				t.Fatalf("skill %d at %d is unusual: %t, want %t", skill, now, got, want)
			}
		}
	})
}

// TestManySkillsAreNoHabit: who uses more skills than are remembered is never unusual, until
// it has kept to fewer for the time of learning.
func TestManySkillsAreNoHabit(t *testing.T) {
	t.Parallel()
	const learning, window = 1000 * time.Second, 100 * time.Second
	h := &habits{}
	now := int64(0)
	for ; now < 3000; now += 10 {
		if h.note(uint64(now/10%(usesKept+5)+1), now, learning, window) {
			t.Fatalf("unusual at %d", now)
		}
	}
	for ; now < 4500; now += 10 {
		h.note(1, now, learning, window)
	}
	if !h.note(99, now, learning, window) {
		t.Error("nothing is unusual for who has used one skill only for long")
	}
}

// TestWhatIsNewMakesPlaceForWhatIsNew: who tries everything once has nothing forgotten that
// it always did.
func TestWhatIsNewMakesPlaceForWhatIsNew(t *testing.T) {
	t.Parallel()
	const learning, window = 1000 * time.Second, 100 * time.Second
	h := &habits{}
	now := int64(0)
	for ; now <= 1000; now += 50 {
		for skill := range uint64(usesKept - 1) {
			h.note(skill+1, now, learning, window)
		}
	}
	for skill := range uint64(500) {
		if !h.note(1000+skill, now, learning, window) {
			t.Fatalf("the new skill %d is not unusual", skill)
		}
	}
	for skill := range uint64(usesKept - 1) {
		if h.fresh(skill+1, now, learning, window) {
			t.Errorf("skill %d has become unusual", skill+1)
		}
	}
}

// FuzzHabits: whatever is in the store is read, or learned anew.
func FuzzHabits(f *testing.F) {
	h := &habits{since: 1, seen: 2, crowded: 3}
	h.uses[0] = use{skill: 7, last: 9}
	f.Add(h.encode())
	f.Add([]byte{})
	f.Add([]byte{storedForm})
	f.Add(append([]byte{2}, make([]byte, headSize)...))
	f.Add(append([]byte{storedForm}, make([]byte, headSize-1+useSize*(usesKept+1))...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var h habits
		if h.decode(data) != nil {
			return
		}
		var again habits
		out := h.encode()
		if err := again.decode(out); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.encode(), out) {
			t.Error("what was read is written otherwise")
		}
	})
}
