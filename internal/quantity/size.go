package quantity

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, at least 0.
//
// It is written as a whole number with one of the units B, KB, MB, GB, TB
// (powers of 1000; kB is read too) or KiB, MiB, GiB, TiB (powers of 1024):
// "4MiB", "10MB", "512". Without a unit it is bytes.
type Size int64

// sizeUnits is in the order in which String tries them: binary before decimal,
// large before small.
var sizeUnits = [...]struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"kB", 1e3}, // the SI spelling, read but never written
	{"B", 1},
	{"", 1},
}

// UnmarshalText reads the forms above. A sign, a fraction, a space, a leading
// zero (octal to some readers of YAML), an unknown unit and a number that does
// not fit in 63 bits are errors.
func (s *Size) UnmarshalText(text []byte) error {
	digits, unit := splitNumber(string(text))
	n, err := parseWhole(digits)
	if err != nil {
		return fmt.Errorf(`read size %s: %w, as in "4MiB" or "512"`, quote(string(text)), err)
	}
	for _, u := range sizeUnits {
		if u.name != unit {
			continue
		}
		if n > math.MaxInt64/u.bytes {
			return fmt.Errorf("read size %s: too large", quote(string(text)))
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("read size %s: unknown unit %s, want B, KB, MB, GB, TB, KiB, MiB, GiB or TiB",
		quote(string(text)), quote(unit))
}

// MarshalText writes what String returns; UnmarshalText reads it back exactly.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String uses the largest unit that leaves a whole number.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if n := int64(s); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0"
}

// splitNumber cuts s behind its leading digits.
func splitNumber(s string) (digits, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// errLarge is of a number that does not fit in 63 bits.
var errLarge = errors.New("the number is too large")

// parseWhole reads decimal digits that strconv would print again unchanged.
func parseWhole(digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case digits == "":
		return 0, fmt.Errorf("want a whole number first")
	case err != nil:
		return 0, errLarge
	case strconv.FormatInt(n, 10) != digits:
		return 0, fmt.Errorf("want a number without leading zeros")
	}
	return n, nil
}

// quote shows a wrong value in an error, cut where it stops being helpful.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
