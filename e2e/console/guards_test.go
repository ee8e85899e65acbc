package console

import "testing"

// TestBrowserGuards uses the screen Guards: what guards found in calls, a text that is tried, and a draft that looks at
// captured content; what it looks for is in internal/console/ui/test/guards.mjs.
func TestBrowserGuards(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	openOffice(t, true, `  guards:
    - {name: no-keys, on: [request], use: secrets, agents: [billing]}
    - {name: accounts, on: [request], use: pii, kinds: [iban], action: redact}
    - {name: bookings, on: [request], use: schema, schema: {type: object, required: [from]}, mode: shadow, agents: [weather], subjects: [bob]}`).
		play(t, "test/guards.mjs")
}
