package statetest

import (
	"fmt"
	"maps"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// used is the model of a store in which no time passes: units by key, and holders of
// each key's places.
type used struct {
	units map[string]int64
	held  map[string]map[string]bool
}

// limitsModel compares a store with one that is easy to understand. Each key keeps its
// kind and its limit.
func limitsModel(rt *rapid.T, l state.Limits) {
	m := &used{units: map[string]int64{}, held: map[string]map[string]bool{}}
	until := ExampleDraw(state.Quota).Until
	one := rapid.Custom(func(rt *rapid.T) state.Draw {
		k := rapid.SampledFrom(kinds()).Draw(rt, "kind")
		n := rapid.IntRange(1, 4).Draw(rt, "bucket")
		d := of(k, fmt.Sprint(k, n), int64(n))
		if k == state.Hold {
			d.Holder = rapid.StringMatching("[ab]{1,2}").Draw(rt, "holder")
		} else {
			d.Cost, d.Until = rapid.Int64Range(1, 3).Draw(rt, "cost"), until
		}
		d.Soft = rapid.IntRange(0, 3).Draw(rt, "soft") == 0
		return d
	})
	apart := func(d state.Draw) string { return d.Key + d.Holder }
	rt.Repeat(map[string]func(*rapid.T){
		"draw": func(rt *rapid.T) {
			draws := rapid.SliceOfNDistinct(one, 1, 6, apart).Draw(rt, "draws")
			var got []state.Drawn
			for _, g := range draw(rt, l, draws...) {
				got = append(got, state.Drawn{OK: g.OK, Left: g.Left})
			}
			if diff := cmp.Diff(m.draw(draws), got); diff != "" {
				rt.Fatalf("Draw(%+v) (-want +got):\n%s", draws, diff)
			}
		},
		"release": func(rt *rapid.T) {
			holds := rapid.SliceOfN(one.Filter(isHold), 1, 4).Draw(rt, "holds")
			for _, d := range holds {
				delete(m.held[d.Key], d.Holder)
			}
			release(rt, l, holds...)
		},
	})
}

func isHold(d state.Draw) bool { return d.Kind == state.Hold }

func (m *used) draw(draws []state.Draw) []state.Drawn {
	before := &used{units: maps.Clone(m.units), held: map[string]map[string]bool{}}
	for key, holders := range m.held {
		before.held[key] = maps.Clone(holders)
	}
	got, all := make([]state.Drawn, len(draws)), true
	for i, d := range draws {
		got[i].OK = m.take(d)
		all = all && (got[i].OK || d.Soft)
	}
	if !all {
		*m = *before
	}
	for i, d := range draws {
		got[i].Left = d.Limit - m.units[d.Key] - int64(len(m.held[d.Key]))
	}
	return got
}

func (m *used) take(d state.Draw) bool {
	switch {
	case d.Kind != state.Hold && m.units[d.Key]+d.Cost > d.Limit,
		d.Kind == state.Hold && !m.held[d.Key][d.Holder] && int64(len(m.held[d.Key])) >= d.Limit:
		return false
	case d.Kind != state.Hold:
		m.units[d.Key] += d.Cost
		return true
	}
	if m.held[d.Key] == nil {
		m.held[d.Key] = map[string]bool{}
	}
	m.held[d.Key][d.Holder] = true
	return true
}
