package anomaly

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestRingIsAList holds the ring to a list of the slices in which something was counted.
func TestRingIsAList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		var list []int64
		at := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at += rapid.Int64Range(0, 2*parts).Draw(t, "pass")
			if len(list) > 0 && rapid.Bool().Draw(t, "take") {
				i := rapid.IntRange(0, len(list)-1).Draw(t, "which")
				r.take(list[i], at)
				list = append(list[:i:i], list[i+1:]...)
			} else {
				r.add(at)
				list = append(list, at)
			}
			want := 0
			for _, slice := range list {
				if at-slice < parts {
					want++
				}
			}
			if r.turn(at); int(r.sum) != want {
				t.Fatalf("%d are in the window, want %d", r.sum, want)
			}
		}
	})
}

// TestSketchIsAMap holds the sketch to a map of when things were last seen, as long as they
// are no more than it is made for.
func TestSketchIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s sketch
		last := map[uint64]int64{}
		at := int64(0)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			at += max(0, rapid.Int64Range(-20, parts+2).Draw(t, "pass"))
			thing := rapid.Uint64Range(0, 60).Draw(t, "thing")
			hash := thing | thing<<48
			last[thing] = at
			want := 0
			for _, slice := range last {
				if at-slice < parts {
					want++
				}
			}
			if got := s.add(hash, at); got != want {
				t.Fatalf("there are %d things, want %d", got, want)
			}
		}
	})
}

// TestSketchTellsHowMany is about the error that a sketch may have.
func TestSketchTellsHowMany(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) // the same in every run
	for _, n := range []int{1, 5, 20, maxSketch} {
		off := 0
		for range 200 {
			var s sketch
			got := 0
			for range n {
				thing := random.Uint64()
				for range 3 { // the same again is not another
					got = s.add(thing, 5)
				}
			}
			off += n - got
		}
		if off > 200*n/100 || n <= 20 && off > 2 {
			t.Errorf("%d different things are %d too few for 200 sketches", n, off)
		}
	}
}

// TestSketchIsFull: what there is no room for has others forgotten, and is counted no less.
func TestSketchIsFull(t *testing.T) {
	t.Parallel()
	var s sketch
	for i := range uint64(100 * places) {
		s.add(i*0x9e3779b97f4a7c15, int64(i/places))
	}
	if n := s.count(s.at); n != places {
		t.Errorf("a full sketch has %d", n)
	}
	if n := s.count(s.at + parts); n != 0 {
		t.Errorf("%d are left after the window", n)
	}
}
