package state_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestMemoryLimitsConform(t *testing.T) {
	t.Parallel()
	statetest.Limits(t, func(t testing.TB) state.Limits { return open(t, state.Config{}) })
}

// exact is a token bucket that counts in fractions and knows nothing of GCRA.
type exact struct {
	limit, refill int64
	period        time.Duration
	units         *big.Rat
	at            time.Time
}

func (e *exact) draw(cost int64, now time.Time) state.Drawn {
	perNano := big.NewRat(e.refill, int64(e.period))
	gained := new(big.Rat).Mul(perNano, new(big.Rat).SetInt64(int64(now.Sub(e.at))))
	e.units.Add(e.units, gained)
	e.at = now
	full, want := new(big.Rat).SetInt64(e.limit), new(big.Rat).SetInt64(cost)
	if e.units.Cmp(full) > 0 {
		e.units.Set(full)
	}
	var d state.Drawn
	if d.OK = e.units.Cmp(want) >= 0; d.OK {
		e.units.Sub(e.units, want)
	} else if cost <= e.limit {
		d.Wait = e.nanos(want.Sub(want, e.units), perNano)
	}
	d.Left = new(big.Int).Quo(e.units.Num(), e.units.Denom()).Int64()
	d.Reset = e.nanos(full.Sub(full, e.units), perNano)
	return d
}

// nanos is how long units take to come back, rounded up.
func (e *exact) nanos(units, perNano *big.Rat) time.Duration {
	units.Quo(units, perNano)
	n, rest := new(big.Int).QuoRem(units.Num(), units.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return time.Duration(n.Int64())
}

// A rate is exact to the nanosecond, over any times and costs: neither more nor less than
// what a bucket of fractions admits.
func TestMemoryRateIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e := &exact{
			limit:  rapid.Int64Range(1, 20).Draw(rt, "limit"),
			refill: rapid.Int64Range(1, 1000).Draw(rt, "refill"),
			period: time.Duration(rapid.Int64Range(1, 2000).Draw(rt, "period")),
		}
		type step struct {
			Sleep time.Duration
			Cost  int64
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{time.Duration(rapid.Int64Range(0, 300).Draw(rt, "sleep")), rapid.Int64Range(1, 22).Draw(rt, "cost")}
		}), 1, 50).Draw(rt, "steps")
		e.units = new(big.Rat).SetInt64(e.limit)
		synctest.Test(t, func(t *testing.T) {
			m := open(t, state.Config{})
			e.at = time.Now()
			for i, s := range steps {
				time.Sleep(s.Sleep)
				d := state.Draw{Key: "k", Kind: state.Rate, Limit: e.limit, Refill: e.refill, Period: e.period, Cost: s.Cost}
				got, err := m.Draw(t.Context(), []state.Draw{d})
				if want := e.draw(s.Cost, time.Now()); err != nil || got[0] != want {
					rt.Errorf("draw %d of %+v: %+v, %v; want %+v", i, steps, got, err, want)
				}
			}
		})
	})
}

// What stands as if it had never been drawn on takes no room.
func TestMemoryLimitsForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{})
		begin := time.Now()
		hold := state.Draw{Key: "hold", Kind: state.Hold, Limit: 3, Holder: "a", TTL: 3 * time.Minute}
		for _, d := range []state.Draw{
			{Key: "rate", Kind: state.Rate, Limit: 60, Refill: 1, Period: time.Second, Cost: 60},
			{Key: "quota", Kind: state.Quota, Limit: 60, Until: time.Now().Add(2 * time.Minute), Cost: 1},
			{Key: "hold", Kind: state.Hold, Limit: 3, Holder: "b", TTL: 90 * time.Second},
			{Key: "free", Kind: state.Hold, Limit: 3, Holder: "b", TTL: time.Hour},
			{Key: "none", Kind: state.Hold, Limit: 0, Holder: "b", TTL: time.Hour},
			hold,
		} {
			if _, err := m.Draw(t.Context(), []state.Draw{d}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Release(t.Context(), []state.Draw{{Key: "free", Holder: "b"}}); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			after time.Duration
			want  int // buckets and places
		}{
			{0, 6},
			{59 * time.Second, 5}, // nobody got into "none"
			{80 * time.Second, 4}, // "rate" is full
			{120 * time.Second, 3},
			{200 * time.Second, 1},
			{61 * time.Minute, 1}, // others' clocks may be behind
			{63 * time.Minute, 0},
		} {
			time.Sleep(tc.after - time.Since(begin))
			synctest.Wait()
			if got := m.Counted(); got != tc.want {
				t.Errorf("%v later %d buckets and places are held, want %d", tc.after, got, tc.want)
			}
		}
	})
}

// Counts have a bound of their own, which takes no room from records, nor they from it.
func TestMemoryLimitsRefuseWhenFull(t *testing.T) {
	t.Parallel()
	m := open(t, state.Config{Memory: state.MemoryConfig{Records: 5}})
	rate := func(key string) state.Draw {
		return state.Draw{Key: key, Kind: state.Rate, Limit: 9, Refill: 1, Period: time.Hour, Cost: 1}
	}
	hold := func(holder string) state.Draw {
		return state.Draw{Key: "hold", Kind: state.Hold, Limit: 9, Holder: holder, TTL: time.Hour}
	}
	for _, tc := range []struct {
		draws []state.Draw
		want  error
		size  int
	}{
		{[]state.Draw{rate("a"), hold("a")}, nil, 3},
		{[]state.Draw{rate("a"), hold("b"), hold("c")}, nil, 5},
		{[]state.Draw{rate("a"), rate("b")}, state.ErrFull, 5},
		{[]state.Draw{rate("a"), hold("d")}, state.ErrFull, 5},
		{[]state.Draw{rate("a"), hold("b")}, nil, 5},
	} {
		if _, err := m.Draw(t.Context(), tc.draws); !errors.Is(err, tc.want) {
			t.Errorf("Draw(%+v) = %v, want %v", tc.draws, err, tc.want)
		}
		if got := m.Counted(); got != tc.size {
			t.Errorf("after %+v: %d buckets and places are held, want %d", tc.draws, got, tc.size)
		}
	}
	got, err := m.Draw(t.Context(), []state.Draw{rate("a")})
	if err != nil || got[0].Left != 5 {
		t.Errorf("draws with an error took units: %+v, %v", got, err)
	}
	for i := range 5 {
		if _, err := m.Claim(t.Context(), owned(i)); err != nil {
			t.Errorf("record %d of 5: %v", i, err)
		}
	}
	if err := m.Release(t.Context(), []state.Draw{hold("a"), hold("b"), hold("c")}); err != nil || m.Counted() != 1 {
		t.Errorf("after all places were given back %d buckets are held, %v; want 1", m.Counted(), err)
	}
}

func BenchmarkMemoryDraw(b *testing.B) {
	for _, n := range []int{1, 3} {
		for _, keys := range []int{1, 100_000} {
			b.Run(fmt.Sprintf("buckets=%d/keys=%d", n, keys), func(b *testing.B) {
				m, draws := open(b, state.Config{}), make([]state.Draw, n)
				names := make([]string, n*keys)
				for i := range names {
					names[i] = fmt.Sprintf("per-caller/r/31:https://login.example.com/realm14:alice-%08d", i)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					for j := range draws {
						draws[j] = state.Draw{
							Key: names[i%keys*n+j], Kind: state.Rate, Limit: 1 << 40, Cost: 1,
							Refill: 1 << 20, Period: time.Second,
						}
					}
					if _, err := m.Draw(b.Context(), draws); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
