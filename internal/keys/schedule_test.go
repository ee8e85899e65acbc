package keys

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// epoch is the beginning of an hour; all times of the tests count from it.
var epoch = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// at lists keys that sign from so many hours after epoch.
func at(algorithm string, hours ...float64) []*generated {
	var list []*generated
	for _, h := range hours {
		k := &generated{key: &key{}, from: epoch.Add(time.Duration(h * float64(time.Hour)))}
		k.public.Algorithm = algorithm
		list = append(list, k)
	}
	return list
}

func TestNext(t *testing.T) {
	t.Parallel()
	s := schedule{algorithm: es256, rotate: 10 * time.Hour, retain: time.Hour}
	for name, test := range map[string]struct {
		keys []*generated
		now  time.Duration
		want float64 // hours after epoch; -1: none
	}{
		"first":                    {nil, 59 * time.Minute, 0},
		"first, at the hour":       {nil, time.Hour, 1},
		"young":                    {at(es256, 0), 8*time.Hour - 1, -1},
		"two hours before":         {at(es256, 0), 8 * time.Hour, 10},
		"an hour before":           {at(es256, 0), 9 * time.Hour, 10},
		"less than an hour before": {at(es256, 0), 9*time.Hour + 1, 11},
		"late":                     {at(es256, 0), 30*time.Hour + 30*time.Minute, 32},
		"late, at the hour":        {at(es256, 0), 30 * time.Hour, 32},
		"one waits":                {at(es256, 0, 10), 9*time.Hour + 30*time.Minute, -1},
		"one took over":            {at(es256, 0, 10), 10 * time.Hour, -1},
		"off the hour":             {at(es256, 0.5), 9 * time.Hour, 10.5},
		"other algorithm":          {at(edDSA, 0), time.Minute, 2},
		"other algorithm, waiting": {at(edDSA, 0, 2), time.Minute, -1},
		"clock far back":           {at(es256, 0), -1000 * time.Hour, -1},
	} {
		got := -1.0
		if from, wanted := s.next(test.keys, epoch.Add(test.now)); wanted {
			got = from.Sub(epoch).Hours()
		}
		if got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestArrange(t *testing.T) {
	t.Parallel()
	s := schedule{algorithm: es256, rotate: 10 * time.Hour, retain: time.Hour}
	for name, test := range map[string]struct {
		keys             []float64
		now              time.Duration
		publish, expired []float64
	}{
		"none":                  {nil, 0, nil, nil},
		"one":                   {[]float64{0}, time.Minute, []float64{0}, nil},
		"one, old":              {[]float64{0}, 1000 * time.Hour, []float64{0}, nil},
		"next is published":     {[]float64{0, 10}, 9 * time.Hour, []float64{0, 10}, nil},
		"next takes over":       {[]float64{0, 10}, 10 * time.Hour, []float64{10, 0}, nil},
		"retained to the end":   {[]float64{0, 10}, 11*time.Hour - 1, []float64{10, 0}, nil},
		"expired":               {[]float64{0, 10}, 11 * time.Hour, []float64{10}, []float64{0}},
		"a row":                 {[]float64{0, 10, 10.5, 20, 21}, 10*time.Hour + 45*time.Minute, []float64{10.5, 21, 20, 10, 0}, nil},
		"a row, later":          {[]float64{0, 10, 10.5, 20}, 11 * time.Hour, []float64{10.5, 20, 10}, []float64{0}},
		"only one to come":      {[]float64{10}, 9 * time.Hour, []float64{10}, nil},
		"only two to come":      {[]float64{10, 20}, 9 * time.Hour, []float64{10, 20}, nil},
		"clock far ahead":       {[]float64{0, 10}, 1e5 * time.Hour, []float64{10}, []float64{0}},
		"clock back at nothing": {[]float64{0, 10}, -1e5 * time.Hour, []float64{0, 10}, nil},
	} {
		publish, expired := s.arrange(at(es256, test.keys...), epoch.Add(test.now))
		if diff := cmp.Diff(test.publish, hours(publish)); diff != "" {
			t.Errorf("%s: published (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.expired, hours(expired)); diff != "" {
			t.Errorf("%s: expired (-want +got):\n%s", name, diff)
		}
	}
}

func hours(keys []*generated) []float64 {
	var list []float64
	for _, k := range keys {
		list = append(list, k.from.Sub(epoch).Hours())
	}
	return list
}

// TestScheduleHolds lets time pass in steps, with gateways that are sometimes down: a
// key that signs has been published for an hour unless it is the first, and what was
// signed is verifiable for as long as retain says.
func TestScheduleHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := schedule{
			algorithm: es256,
			rotate:    time.Duration(rapid.Int64Range(int64(minRotate), int64(40*time.Hour)).Draw(t, "rotate")).Truncate(time.Second),
			retain:    time.Duration(rapid.Int64Range(int64(minRetain), int64(40*time.Hour)).Draw(t, "retain")),
		}
		begin := epoch.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start")))
		now := begin
		var list []*generated
		made, signed := map[*generated]time.Time{}, map[*generated]time.Time{}
		for range 200 {
			if from, wanted := s.next(list, now); wanted {
				if n := len(list); n > 0 && !from.After(list[n-1].from) {
					t.Fatalf("at %s the next signs from %s, not after %s", now, from, list[n-1].from)
				}
				k := &generated{key: &key{}, from: from}
				k.public.Algorithm = es256
				list, made[k] = append(list, k), now
			}
			publish, expired := s.arrange(list, now)
			signing := publish[0]
			if now.Sub(made[signing]) < lead && !made[signing].Equal(begin) {
				t.Fatalf("at %s a key signs that is published since %s", now, made[signing])
			}
			signed[signing] = now
			for k, last := range signed {
				if now.Sub(last) < s.retain && !slices.Contains(publish, k) {
					t.Fatalf("at %s a key is gone that signed at %s", now, last)
				}
			}
			if len(publish)+len(expired) != len(list) {
				t.Fatalf("%d keys became %d and %d", len(list), len(publish), len(expired))
			}
			list = list[len(expired):]
			now = now.Add(time.Duration(rapid.Int64Range(1, int64(5*time.Hour)).Draw(t, "pass")))
		}
	})
}
