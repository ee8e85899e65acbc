package window

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestWindow(t *testing.T) {
	t.Parallel()
	night := Config{From: "22:00", To: "06:00", Days: []string{"fri"}}
	vienna := func(w Config) Config { w.Zone = "Europe/Vienna"; return w }
	for name, tc := range map[string]struct {
		w       Config
		in, out []string
	}{
		"hours": {
			Config{From: "09:00", To: "17:30"},
			[]string{"2026-06-01T09:00:00Z", "2026-06-01T17:29:59.999Z", "2026-06-01T19:00:00+02:00"},
			[]string{"2026-06-01T08:59:59.999Z", "2026-06-01T17:30:00Z", "2026-06-01T09:00:00+02:00"},
		},
		"from alone":  {Config{From: "09:00"}, []string{"2026-06-01T23:59:59Z"}, []string{"2026-06-01T00:00:00Z"}},
		"to alone":    {Config{To: "09:00"}, []string{"2026-06-01T00:00:00Z"}, []string{"2026-06-01T09:00:00Z"}},
		"to 24:00":    {Config{From: "09:00", To: "24:00"}, []string{"2026-06-01T23:59:59Z"}, []string{"2026-06-02T00:00:00Z"}},
		"to 00:00":    {Config{From: "09:00", To: "00:00", Days: []string{"mon"}}, []string{"2026-06-01T23:59:59Z"}, []string{"2026-06-02T00:00:00Z", "2026-06-01T08:00:00Z"}},
		"days":        {Config{Days: []string{"mon-fri"}}, []string{"2026-06-01T00:00:00Z", "2026-06-05T23:59:59Z"}, []string{"2026-06-06T00:00:00Z", "2026-06-07T23:59:59Z"}},
		"over sunday": {Config{Days: []string{"fri-mon"}}, []string{"2026-06-05T00:00:00Z", "2026-06-07T12:00:00Z", "2026-06-08T23:59:59Z"}, []string{"2026-06-09T00:00:00Z", "2026-06-11T23:59:59Z"}},
		"days apart":  {Config{Days: []string{"tue", "sun-sun"}}, []string{"2026-06-02T00:00:00Z", "2026-06-07T00:00:00Z"}, []string{"2026-06-01T00:00:00Z", "2026-06-03T00:00:00Z"}},
		"over midnight": {
			night,
			[]string{"2026-06-05T22:00:00Z", "2026-06-05T23:59:59Z", "2026-06-06T00:00:00Z", "2026-06-06T05:59:59Z"},
			[]string{"2026-06-05T21:59:59Z", "2026-06-06T06:00:00Z", "2026-06-06T22:00:00Z", "2026-06-05T05:00:00Z"},
		},
		"a whole day from noon": {
			Config{From: "12:00", To: "12:00", Days: []string{"sat"}},
			[]string{"2026-06-06T12:00:00Z", "2026-06-07T11:59:59Z"}, []string{"2026-06-06T11:59:59Z", "2026-06-07T12:00:00Z"},
		},
		"zone": {
			vienna(Config{From: "09:00", To: "17:00", Days: []string{"mon"}}),
			[]string{"2026-06-01T07:00:00Z", "2026-01-05T08:00:00Z"}, []string{"2026-06-01T15:00:00Z", "2026-01-05T07:30:00Z"},
		},
		"a day elsewhere": {
			Config{Zone: "Pacific/Auckland", Days: []string{"mon"}},
			[]string{"2026-05-31T12:00:00Z"}, []string{"2026-06-01T12:00:00Z"},
		},
		"the hour that is skipped": { // 2026-03-29, 02:00 becomes 03:00
			vienna(Config{From: "01:59", To: "03:01"}),
			[]string{"2026-03-29T00:59:00Z", "2026-03-29T01:00:59Z"}, []string{"2026-03-29T00:58:59Z", "2026-03-29T01:01:00Z"},
		},
		"within the hour that is skipped": {vienna(Config{From: "02:10", To: "02:50"}), []string{"2026-03-28T01:30:00Z"}, []string{"2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
		"the hour that comes twice":       {vienna(Config{From: "02:10", To: "02:50"}), []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}, []string{"2026-10-25T00:55:00Z", "2026-10-25T02:30:00Z"}},
		"over a midnight with a change":   {vienna(Config{From: "22:00", To: "04:00", Days: []string{"sat"}}), []string{"2026-03-29T01:59:59Z", "2026-10-25T02:59:59Z"}, []string{"2026-03-29T02:00:00Z", "2026-10-25T03:00:00Z"}},
		"dates":                           {Config{After: "2026-12-24", Before: "2026-12-26"}, []string{"2026-12-24T00:00:00Z", "2026-12-25T23:59:59Z"}, []string{"2026-12-23T23:59:59Z", "2026-12-26T00:00:00Z"}},
		"dates of a zone":                 {vienna(Config{After: "2026-12-24", Before: "2026-12-26"}), []string{"2026-12-23T23:00:00Z", "2026-12-25T22:59:59Z"}, []string{"2026-12-23T22:59:59Z", "2026-12-25T23:00:00Z"}},
		"moments":                         {vienna(Config{After: "2026-12-24T12:00:30Z"}), []string{"2026-12-24T12:00:30Z"}, []string{"2026-12-24T12:00:29Z"}},
		"a night that is cut":             {Config{From: "22:00", To: "06:00", Before: "2026-06-06"}, []string{"2026-06-05T23:00:00Z"}, []string{"2026-06-06T01:00:00Z"}},
	} {
		list, problems := Compile([]Config{tc.w})
		if problems != nil {
			t.Errorf("%s: %q", name, problems)
			continue
		}
		for _, at := range tc.in {
			if !list[0].Has(moment(t, at)) {
				t.Errorf("%s: %s is not in it", name, at)
			}
		}
		for _, at := range tc.out {
			if list[0].Has(moment(t, at)) {
				t.Errorf("%s: %s is in it", name, at)
			}
		}
	}
}

func TestWindowRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		w    Config
		want string
	}{
		"zone":                  {Config{Zone: "Europe/Atlantis"}, `times[0].zone: "Europe/Atlantis" is no time zone`},
		"zone of the machine":   {Config{Zone: "Local"}, `times[0].zone: "Local" is no time zone`},
		"path as a zone":        {Config{Zone: "../zone"}, "times[0].zone"},
		"no days":               {Config{Days: []string{}}, "times[0].days"},
		"day":                   {Config{Days: []string{"monday"}}, "times[0].days"},
		"case of a day":         {Config{Days: []string{"Mon"}}, "times[0].days"},
		"three days":            {Config{Days: []string{"mon-tue-wed"}}, "times[0].days"},
		"open span":             {Config{Days: []string{"mon-"}}, "times[0].days"},
		"hour":                  {Config{From: "9:00"}, `times[0].from: "9:00" is no time of day`},
		"seconds":               {Config{From: "09:00:00"}, "times[0].from"},
		"from 24:00":            {Config{From: "24:00"}, "times[0].from"},
		"to 24:01":              {Config{To: "24:01"}, "times[0].to"},
		"sixty minutes":         {Config{To: "10:60"}, "times[0].to"},
		"after":                 {Config{After: "24.12.2026"}, "times[0].after"},
		"before":                {Config{Before: "2026-02-30"}, "times[0].before"},
		"a time without a zone": {Config{Before: "2026-02-03T10:00:00"}, "times[0].before"},
		"dates the wrong way":   {Config{After: "2026-12-25", Before: "2026-12-24"}, "times[0] there is no moment that is in it"},
		"no date":               {Config{After: "2026-12-24", Before: "2026-12-24"}, "there is no moment"},
		"another day":           {Config{After: "2026-12-24", Before: "2026-12-28", Days: []string{"tue"}}, "there is no moment"},
		"another hour":          {Config{After: "2026-12-24T10:00:00Z", Before: "2026-12-24T12:00:00Z", From: "12:00"}, "there is no moment"},
		"the hour that is skipped": {
			Config{Zone: "Europe/Vienna", After: "2026-03-25", Before: "2026-04-01", Days: []string{"sun"}, From: "02:10", To: "02:50"},
			"there is no moment",
		},
	} {
		_, problems := Compile([]Config{tc.w})
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), tc.want) {
			t.Errorf("%s: %q, want %q", name, problems, tc.want)
		}
	}
	if _, problems := Compile([]Config{}); len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "times is empty") {
		t.Errorf("no windows: %q", problems)
	}
	if _, problems := Compile([]Config{{}, {Days: []string{"x"}, From: "x", To: "x", Zone: "x", After: "x", Before: "x"}}); len(problems) != 6 ||
		slices.ContainsFunc(problems, func(p error) bool { return !strings.HasPrefix(p.Error(), "times[1].") }) {
		t.Errorf("six problems of one window: %q", problems)
	}
}

// A window of a minute that two weeks hold, or more than two, can be.
func TestWindowRare(t *testing.T) {
	t.Parallel()
	for _, w := range []Config{
		{After: "2026-12-24T10:30:59Z", Before: "2026-12-24T10:31:01Z", From: "10:30", To: "10:31"},
		{After: "2026-03-25", Before: "2026-04-10", Zone: "Europe/Vienna", Days: []string{"sun"}, From: "02:10", To: "02:50"},
		{After: "2026-12-24T23:59:00Z", Before: "2026-12-25T00:00:30Z", From: "00:00", To: "00:01"},
	} {
		if _, problems := Compile([]Config{w}); problems != nil {
			t.Errorf("%+v: %q", w, problems)
		}
	}
}
