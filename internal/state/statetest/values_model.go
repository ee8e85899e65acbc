package statetest

import (
	"context"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// valueModel compares a store with a map under random operations.
func valueModel(rt *rapid.T, v state.Values) {
	type name struct{ space, key string }
	want := map[name]string{}
	text := rapid.StringOfN(rapid.RuneFrom([]rune("a:\x00")), 0, 2, -1)
	ttl := rapid.SampledFrom([]time.Duration{0, time.Hour, -time.Hour})
	rt.Repeat(map[string]func(*rapid.T){
		"put": func(rt *rapid.T) {
			n, data, life := name{text.Draw(rt, "space"), text.Draw(rt, "key")}, text.Draw(rt, "data"), ttl.Draw(rt, "ttl")
			put(rt, v, n.space, n.key, data, life)
			if want[n] = data; life < 0 {
				delete(want, n)
			}
		},
		"add": func(rt *rapid.T) {
			n, data, life := name{text.Draw(rt, "space"), text.Draw(rt, "key")}, text.Draw(rt, "data"), ttl.Draw(rt, "ttl")
			_, there := want[n]
			if added := add(rt, v, n.space, n.key, data, life); added == there {
				rt.Fatalf("added %v where a value is: %v", added, there)
			}
			if !there && life >= 0 {
				want[n] = data
			}
		},
		"replace": func(rt *rapid.T) {
			n, data, life := name{text.Draw(rt, "space"), text.Draw(rt, "key")}, text.Draw(rt, "data"), ttl.Draw(rt, "ttl")
			_, there := want[n]
			if replaced := replace(rt, v, n.space, n.key, data, life); replaced != there {
				rt.Fatalf("replaced %v where a value is: %v", replaced, there)
			}
			if want[n] = data; !there || life < 0 {
				delete(want, n)
			}
		},
		"delete": func(rt *rapid.T) {
			n := name{text.Draw(rt, "space"), text.Draw(rt, "key")}
			remove(rt, v, n.space, n.key)
			delete(want, n)
		},
		"get": func(rt *rapid.T) {
			n := name{text.Draw(rt, "space"), text.Draw(rt, "key")}
			data, there := want[n]
			if got, ok := value(rt, v, n.space, n.key); ok != there || got != data {
				rt.Fatalf("Get(%q) is %q, %v; want %q, %v", n, got, ok, data, there)
			}
		},
		"list": func(rt *rapid.T) {
			space, after, limit := text.Draw(rt, "space"), text.Draw(rt, "after"), rapid.IntRange(0, 4).Draw(rt, "limit")
			var keys, got []string
			for n := range want {
				if n.space == space && n.key > after {
					keys = append(keys, n.key)
				}
			}
			slices.Sort(keys)
			list, err := v.List(context.Background(), space, after, limit)
			for _, e := range list {
				got = append(got, e.Key)
			}
			if !slices.Equal(got, keys[:min(limit, len(keys))]) || err != nil {
				rt.Fatalf("List(%q, %q, %d) is %q, %v; want %q", space, after, limit, got, err, keys)
			}
		},
	})
}
