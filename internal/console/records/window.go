package records

import (
	"cmp"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// UsualWindow is how far back screens look where nobody says otherwise: long enough for a
// picture, and for most gateways within admin.map.records.
const usualWindow = "15m"

// Windows are the choices there are. A free choice would be one more thing to validate, and
// the pages offer these as buttons.
var windows = map[string]time.Duration{
	"5m": 5 * time.Minute, usualWindow: 15 * time.Minute, "1h": time.Hour, "24h": 24 * time.Hour,
}

// WindowParam is the parameter by which screens that count records are asked how far back
// they look.
var WindowParam = api.Param{
	Name: "window", Text: "period up to now; default: 15m", Values: []string{"5m", usualWindow, "1h", "24h"},
}

// Window is how far back a screen looks. The parameter was checked before, so that it is
// one of windows.
func Window(c *api.Call) time.Duration { return windows[cmp.Or(c.Query.Get("window"), usualWindow)] }
