// Package window holds time windows that come back each week, such as mon-fri from 09:00 to
// 17:30 in Europe/Vienna, with dates between which they do. Rules are limited to them by their
// key times.
//
// Compile reads windows from the configuration and tells what is wrong with them. Has then
// answers for a moment, by the clock on the wall of the window's time zone, so that office
// hours stay office hours when the clocks change. Covers compares lists of windows, for the
// warning that one rule makes another superfluous. Nothing here asks what time it is: the
// caller hands in the moment, and a decision can be repeated for one that is over.
package window

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Config is a time window of the week. The days and the times of day are those of Zone.
type Config struct {
	// Days are mon, tue, … sun, or spans of them (mon-fri); default all.
	Days []string `yaml:"days"`
	// From and To are times of day, such as 09:00 and 17:30; the window includes From and excludes
	// To. If To is not after From, it ends the next day; To 24:00 is midnight. Default 00:00 and
	// 24:00.
	From string `yaml:"from"`
	To   string `yaml:"to"`
	// Zone is the time zone by its IANA name (Europe/Vienna); default UTC.
	Zone string `yaml:"zone"`
	// After and Before limit the dates, as 2026-12-24 or RFC 3339; the window includes After and
	// excludes Before.
	After  string `yaml:"after"`
	Before string `yaml:"before"`
}

// Window is a Config, compiled. It is immutable.
type Window struct {
	days          uint8 // a bit for each time.Weekday on which it begins
	from, to      int   // minutes of the day; to 1,440 is midnight
	zone          *time.Location
	after, before time.Time // zero: no bound
}

const (
	dayMinutes = 24 * 60
	everyDay   = 1<<7 - 1
	minute     = "15:04"
)

// Has reports whether a moment is in the window. It goes by the clocks on the wall of
// its zone: what they skip in spring is in no window, what they show twice in autumn
// is in it twice.
func (w *Window) Has(now time.Time) bool {
	if !w.after.IsZero() && now.Before(w.after) || !w.before.IsZero() && !now.Before(w.before) {
		return false
	}
	local := now.In(w.zone)
	hour, minute, _ := local.Clock() // asks the zone once; Hour and Minute ask it each
	return w.shows(local.Weekday(), hour*60+minute)
}

// shows reports whether a day and a minute of it are in the window, the dates not
// looked at.
func (w *Window) shows(day time.Weekday, at int) bool {
	if w.from < w.to {
		return w.from <= at && at < w.to && w.on(day)
	}
	return at >= w.from && w.on(day) || at < w.to && w.on((day+6)%7)
}

// weekdays is a minute of the week as a day and a minute of it.
func weekdays(at int) (time.Weekday, int) { return time.Weekday(at / dayMinutes), at % dayMinutes }

// on reports whether a window begins on a day of the week.
func (w *Window) on(day time.Weekday) bool { return w.days&(1<<day) != 0 }

// Covers reports whether each of some windows is within one of a list.
func Covers(list, some []Window) bool {
	return !slices.ContainsFunc(some, func(o Window) bool {
		return !slices.ContainsFunc(list, func(w Window) bool { return w.covers(&o) })
	})
}

// covers reports whether every moment of other is in w.
func (w *Window) covers(other *Window) bool {
	if !w.after.IsZero() && (other.after.IsZero() || other.after.Before(w.after)) ||
		!w.before.IsZero() && (other.before.IsZero() || other.before.After(w.before)) {
		return false
	}
	if w.days == everyDay && w.from == 0 && w.to == dayMinutes {
		return true
	}
	if w.zone.String() != other.zone.String() {
		return false
	}
	for at := range 7 * dayMinutes {
		if day, at := weekdays(at); other.shows(day, at) && !w.shows(day, at) {
			return false
		}
	}
	return true
}

// Compile compiles windows and describes what is wrong with them.
func Compile(list []Config) ([]Window, []error) {
	var (
		out      []Window
		problems []error
	)
	if list != nil && len(list) == 0 {
		problems = append(problems, keypath.Point(errors.New("times is empty, so the rule can never match; leave it out to mean any"), "times"))
	}
	for i := range list {
		w, wrong := newWindow(&list[i])
		if len(wrong) == 0 && w.never() {
			problems = append(problems, keypath.Point(fmt.Errorf("times[%d] there is no moment that is in it", i), "times"))
		}
		for _, err := range wrong {
			problems = append(problems, keypath.At(err, "times", i))
		}
		out = append(out, w)
	}
	return out, problems
}

// newWindow reads one. The problems are at its keys.
func newWindow(src *Config) (w Window, problems []error) {
	wrong := func(key, format string, args ...any) {
		problems = append(problems, keypath.At(fmt.Errorf(format, args...), key))
	}
	var ok bool
	if w.zone, ok = zoneNamed(src.Zone); !ok {
		wrong("zone", "%q is no time zone that is known here; write an IANA name such as Europe/Vienna", src.Zone)
		w.zone = time.UTC
	}
	if w.days, ok = daysOf(src.Days); !ok {
		wrong("days", "%q is not days; write mon, tue, wed, thu, fri, sat, sun or spans such as mon-fri", src.Days)
	}
	if w.from, ok = clock(src.From, 0); !ok || w.from == dayMinutes {
		wrong("from", "%q is no time of day from 00:00 to 23:59", src.From)
	}
	if w.to, ok = clock(src.To, dayMinutes); !ok {
		wrong("to", "%q is no time of day from 00:00 to 24:00", src.To)
	}
	if w.after, ok = dateIn(src.After, w.zone); !ok {
		wrong("after", "%q is neither a date such as 2026-12-24 nor RFC 3339", src.After)
	}
	if w.before, ok = dateIn(src.Before, w.zone); !ok {
		wrong("before", "%q is neither a date such as 2026-12-24 nor RFC 3339", src.Before)
	}
	return w, problems
}

// zoneNamed finds a zone. Local would be the zone of whichever machine it runs on.
func zoneNamed(name string) (*time.Location, bool) {
	if name == "Local" {
		return nil, false
	}
	zone, err := time.LoadLocation(name) // "" is UTC
	return zone, err == nil
}

// daysOf reads days and spans of them, which may go over the end of the week.
func daysOf(list []string) (set uint8, ok bool) {
	if list == nil {
		return everyDay, true
	}
	for _, text := range list {
		first, last, span := strings.Cut(text, "-")
		if !span {
			last = first
		}
		from, to := weekday(first), weekday(last)
		if from < 0 || to < 0 {
			return 0, false
		}
		for day := from; ; day = (day + 1) % 7 {
			set |= 1 << day
			if day == to {
				break
			}
		}
	}
	return set, len(list) > 0
}

// weekday is the time.Weekday of a short name, -1 for none.
func weekday(name string) int {
	return slices.Index([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, name)
}

// clock reads a time of day in minutes, as two digits, a colon and two digits.
func clock(text string, otherwise int) (int, bool) {
	switch text {
	case "":
		return otherwise, true
	case "24:00":
		return dayMinutes, true
	}
	t, err := time.Parse(minute, text)
	return t.Hour()*60 + t.Minute(), err == nil && t.Format(minute) == text // Parse takes 9:00 as well
}

// dateIn reads a date as its first moment in a zone, or a moment; zero for "".
func dateIn(text string, zone *time.Location) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return t, !t.IsZero()
	}
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil && !t.IsZero()
}

// searched is how far never looks. In two weeks every day comes twice, so that in a
// longer time a window which is not empty opens, whatever the clocks skip.
const searched = 15 * dayMinutes

// never reports whether the dates leave no moment of the days and times of day. A
// window changes on whole minutes only.
func (w *Window) never() bool {
	if w.after.IsZero() || w.before.IsZero() {
		return false
	}
	for at, n := w.after, 0; n < searched && at.Before(w.before); n++ {
		if w.Has(at) {
			return false
		}
		at = at.Truncate(time.Minute).Add(time.Minute)
	}
	return !w.before.After(w.after.Add(searched * time.Minute))
}

// Over reports whether the window is over at a moment, and will not come again.
func (w *Window) Over(now time.Time) bool { return !w.before.IsZero() && !now.Before(w.before) }
