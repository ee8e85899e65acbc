package quantity

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Duration is a length of time, at least 0.
//
// It is written as Go writes durations, with days of 24 hours in front if any:
// "500ms", "30s", "1h30m", "7d", "1d12h". A plain 0 needs no unit; any other
// number does.
type Duration time.Duration

// Std is d for the standard library.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// UnmarshalText reads the forms above. A sign, a missing or unknown unit and
// more than about 292 years are errors.
func (d *Duration) UnmarshalText(text []byte) error {
	got, err := parseDuration(string(text))
	if err != nil {
		return fmt.Errorf("read duration %s: %w", quote(string(text)), err)
	}
	*d = Duration(got)
	return nil
}

var errDuration = errors.New(`want numbers with units d, h, m, s, ms, us or ns, as in "30s", "1h30m" or "7d"`)

// errLong is of what does not fit in 63 bits of nanoseconds.
var errLong = fmt.Errorf("too long, the most is %q", fmt.Sprint(int64(math.MaxInt64/day))+"d")

// clocks are the durations of time.ParseDuration, which says of one that is too long what it says of any other
// that it does not read.
var clocks = regexp.MustCompile(`^([0-9]+(\.[0-9]*)?(h|m|s|ms|us|ns))+$`)

// parseDuration takes the days off, which time.ParseDuration does not know, and leaves the rest to it.
func parseDuration(s string) (time.Duration, error) {
	digits, rest := splitNumber(s)
	// YAML gives "30" for a number and a string alike; seconds or milliseconds would be a guess.
	if rest == "" && digits != "" && digits != "0" {
		return 0, fmt.Errorf("the unit is missing, for seconds write %q", cut(digits)+"s")
	}
	var days int64
	if after, ok := strings.CutPrefix(rest, "d"); ok {
		n, err := parseWhole(digits)
		if errors.Is(err, errLarge) {
			return 0, errLong
		}
		if err != nil {
			return 0, err
		}
		if n > int64(math.MaxInt64/day) {
			return 0, errLong
		}
		if s, days = after, n; s == "" {
			return time.Duration(days) * day, nil
		}
	}
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		return 0, errors.New("want no sign")
	}
	clock, err := time.ParseDuration(s)
	switch {
	case err != nil && clocks.MatchString(s):
		return 0, errLong
	case err != nil:
		return 0, errDuration // ParseDuration's own text knows nothing of days
	}
	if clock > math.MaxInt64-time.Duration(days)*day {
		return 0, errLong
	}
	return time.Duration(days)*day + clock, nil
}

// cut keeps an example in an error message short.
func cut(digits string) string { return digits[:min(len(digits), 10)] }

// MarshalText writes what String returns; UnmarshalText reads it back exactly.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is the shortest of the forms above: "7d", "1h30m", "1d12h", "0s".
func (d Duration) String() string {
	std := time.Duration(d)
	days, clock := std/day, std%day
	if std < 0 || days == 0 {
		return trimZeros(std)
	}
	prefix := strconv.FormatInt(int64(days), 10) + "d"
	if clock == 0 {
		return prefix
	}
	return prefix + trimZeros(clock)
}

// trimZeros drops the parts of time.Duration's form that are zero at the end:
// "1h0m0s" becomes "1h".
func trimZeros(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
