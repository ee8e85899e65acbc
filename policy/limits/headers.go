package limits

import (
	"strconv"
	"time"
)

// Headers writes standings as the values of RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-10 §3 and §4, as lists of structured fields, RFC
// 9651); both "" for none. Times are whole seconds, rounded up.
func Headers(standings []Standing) (policy, limit string) {
	var q, r []byte
	for i, s := range standings {
		if i > 0 {
			q, r = append(q, ", "...), append(r, ", "...)
		}
		q, r = s.appendPolicy(q), s.appendLimit(r)
	}
	return string(q), string(r)
}

// appendPolicy writes the units (q), what they are where they are not calls (qu), and the
// window in seconds (w). Names of limits have no character that would have to be escaped, and
// figures fit into the 15 digits of an integer.
func (s *Standing) appendPolicy(dst []byte) []byte {
	units, window := s.perSecond()
	dst = append(append(append(dst, '"'), s.Name...), `";q=`...)
	dst = strconv.AppendInt(dst, units, 10)
	if s.Unit != "" {
		dst = append(append(append(dst, `;qu="`...), s.Unit...), '"')
	}
	if window > 0 {
		dst = strconv.AppendInt(append(dst, ";w="...), window, 10)
	}
	return dst
}

// appendLimit writes what is left (r) and, for units of cost, in how many seconds all of it is
// back (t). Of places nobody can say when they are.
func (s *Standing) appendLimit(dst []byte) []byte {
	dst = append(append(append(dst, '"'), s.Name...), `";r=`...)
	dst = strconv.AppendInt(dst, s.Left, 10)
	if s.Window > 0 {
		dst = strconv.AppendInt(append(dst, ";t="...), seconds(s.Reset), 10)
	}
	return dst
}

// perSecond is units in a window of whole seconds. Of a window that is none, it says how
// many units come back in the seconds that it has at least.
func (s *Standing) perSecond() (units, window int64) {
	window = seconds(s.Window)
	if s.Window <= 0 || s.Window%time.Second == 0 {
		return s.Limit, window
	}
	scaled := float64(s.Limit) * float64(window) / s.Window.Seconds()
	return int64(min(scaled, maxUnits)), window
}

// RetryAfter writes Exceeded.After for Retry-After (RFC 9110 §10.2.3); "" when nobody can
// say.
func RetryAfter(after time.Duration) string {
	if after <= 0 {
		return ""
	}
	return strconv.FormatInt(seconds(after), 10)
}

// seconds rounds up.
func seconds(d time.Duration) int64 {
	return int64((max(d, 0) + time.Second - 1) / time.Second)
}
