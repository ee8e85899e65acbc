package records

import (
	"cmp"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// usualLately is how far back the overview looks where nobody says otherwise.
const usualLately = "1h"

// lately are the windows of the overview, each of which ends now by the gateway's clock: that of
// a browser may be another one.
var lately = map[string]time.Duration{
	"15m": 15 * time.Minute, usualLately: time.Hour, "6h": 6 * time.Hour, "24h": 24 * time.Hour,
}

// BetweenParams are the parameters by which the overview is asked for a time.
var BetweenParams = []api.Param{
	{Name: "window", Text: "period up to now; default: 1h", Values: []string{"15m", usualLately, "6h", "24h"}},
	{Name: "since", Text: "start of the period (RFC 3339), instead of window"},
	{Name: "until", Text: "end of the period (RFC 3339), with since; default: now"},
}

// Between is the time that BetweenParams ask for. An error names the parameter.
func Between(c *api.Call) (from, until time.Time, err error) {
	now := time.Now().UTC()
	if from, err = c.Time("since", time.RFC3339); err != nil {
		return from, until, err
	}
	if until, err = c.Time("until", time.RFC3339); err != nil {
		return from, until, err
	}
	switch {
	case !c.Query.Has("since") && c.Query.Has("until"):
		return from, until, c.InvalidParameter("until is there without since")
	case !c.Query.Has("since"):
		return now.Add(-lately[cmp.Or(c.Query.Get("window"), usualLately)]), now, nil
	case c.Query.Has("window"):
		return from, until, c.InvalidParameter("window and since exclude each other")
	case !c.Query.Has("until"):
		until = now
	}
	if !from.Before(until) {
		return from, until, c.InvalidParameter("since is not before until")
	}
	return from.UTC(), until.UTC(), nil
}
