package policy

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// circumstances reports whether the conditions on the call itself hold.
func (m model) circumstances(r Rule, q Request) bool {
	doubt := r.Effect == "deny"
	over := slices.Contains(r.Bindings, q.Binding.String()) || q.Binding == 0 && doubt
	from := !q.Source.IsValid() && doubt || slices.ContainsFunc(r.Sources, func(s string) bool {
		if !strings.Contains(s, "/") {
			return q.Source.IsValid() && netip.MustParseAddr(s) == q.Source.Unmap()
		}
		return netip.MustParsePrefix(s).Contains(q.Source.Unmap())
	})
	during := q.Now.IsZero() && doubt || slices.ContainsFunc(r.Times, func(w Window) bool { return modelWindow(w, q.Now) })
	return (r.Bindings == nil || over) && (r.Sources == nil || from) && (r.Times == nil || during) && modelContent(r, q)
}

// modelWindow writes the wall clock down and compares what stands there. Spans of days are
// not drawn, nor is To 24:00.
func modelWindow(w Window, now time.Time) bool {
	zone, _ := time.LoadLocation(w.Zone)
	day := func(t time.Time) string { return strings.ToLower(t.Format("Mon")) }
	on := func(name string) bool { return w.Days == nil || slices.Contains(w.Days, name) }
	local := now.In(zone)
	at, date := local.Format("15:04"), local.Format(time.DateOnly)
	if w.After != "" && date < w.After || w.Before != "" && date >= w.Before {
		return false
	}
	to := w.To
	if to == "" {
		to = "24:00"
	}
	if w.From < to {
		return w.From <= at && at < to && on(day(local))
	}
	y, m, d := local.Date()
	yesterday := time.Date(y, m, d-1, 12, 0, 0, 0, time.UTC)
	return at >= w.From && on(day(local)) || at < to && on(day(yesterday))
}

// modelContent knows the parts that are drawn.
func modelContent(r Rule, q Request) bool {
	c := r.Content
	switch {
	case c == nil:
		return true
	case !readable(q):
		return r.Effect == "deny"
	case q.Message == nil:
		return r.Effect != "deny"
	}
	within, bytes := 0, int64(0)
	for _, p := range q.Message.Parts {
		if modelPart(c, p, r.Effect == "deny") {
			within++
		}
		bytes += p.Bytes
		if c.MaxPart > 0 && p.Bytes > int64(c.MaxPart) {
			return false
		}
	}
	if r.Effect == "deny" {
		return within > 0
	}
	return within == len(q.Message.Parts) && (c.MaxParts == 0 || within <= c.MaxParts) &&
		(c.MaxBytes == 0 || bytes <= int64(c.MaxBytes))
}

func modelPart(c *Content, p wire.Part, doubt bool) bool {
	if p.Kind == "" {
		return doubt
	}
	kind := c.Parts == nil || slices.Contains(c.Parts, p.Kind)
	name := p.MediaType
	if name == "" {
		name = map[string]string{"text": "text/plain", "data": "application/json", "file": "application/octet-stream"}[p.Kind]
	}
	typed := c.MediaTypes == nil || slices.ContainsFunc(c.MediaTypes, func(s string) bool { return reference(s, name) })
	at, known := someURLs[p.URL]
	hosted := c.Hosts == nil || slices.ContainsFunc(c.Hosts, func(s string) bool { return reference(s, at) })
	switch {
	case c.Hosts != nil && p.URL == "":
		hosted = !doubt
	case c.Hosts != nil && !known:
		hosted = doubt
	}
	return kind && typed && hosted
}

// someURLs are URLs and their hosts; what is drawn beside them has no host for certain.
var someURLs = map[string]string{"https://a.example/x": "a.example", "http://B.example.:80/": "b.example"}

// drawCircumstances gives a rule some of the conditions.
func drawCircumstances(rt *rapid.T, r *Rule) {
	rare := func(label string) bool { return rapid.IntRange(0, 5).Draw(rt, label) == 0 }
	if rare("bindings?") {
		r.Bindings = rapid.SliceOfN(rapid.SampledFrom([]string{"JSONRPC", "HTTP+JSON", "GRPC"}), 1, 2).Draw(rt, "bindings")
	}
	if rare("sources?") {
		list := []string{"10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "2001:db8::/32", "::1", "0.0.0.0/0"}
		r.Sources = rapid.SliceOfN(rapid.SampledFrom(list), 1, 3).Draw(rt, "sources")
	}
	if rare("times?") {
		r.Times = rapid.SliceOfN(rapid.SampledFrom([]Window{
			{From: "08:00", To: "18:00"}, {From: "22:00", To: "06:00", Days: []string{"thu", "sun"}},
			{Days: []string{"fri"}, Zone: "Europe/Vienna"}, {From: "12:00", Zone: "Asia/Kathmandu"},
			{After: "2027-01-15"}, {Before: "2027-01-16", Days: []string{"sat", "fri"}}, {From: "00:00", To: "00:00"},
		}), 1, 2).Draw(rt, "times")
	}
	if !rare("content?") {
		return
	}
	c := &Content{
		Parts:      drawList(rt, "kinds", []string{"text", "file", "data"}),
		MediaTypes: drawList(rt, "types", []string{"text/plain", "image/*", "*/*", "application/json", "application/octet-stream"}),
		Hosts:      drawList(rt, "hosts", []string{"a.example", "*.example", "*", "c"}),
	}
	if c.Parts != nil && c.Hosts != nil {
		c.Parts = append(c.Parts, "file")
	}
	if r.Effect == "allow" {
		c.MaxParts = rapid.IntRange(0, 2).Draw(rt, "max parts")
		c.MaxPart, c.MaxBytes = sizes(rapid.IntRange(0, 9).Draw(rt, "max part")), sizes(rapid.IntRange(0, 9).Draw(rt, "max bytes"))
	}
	if c.Parts != nil || c.MediaTypes != nil || c.Hosts != nil || c.MaxParts+int(c.MaxPart+c.MaxBytes) > 0 {
		r.Content = c
	}
}

// drawCall says how the call came and what it brings.
func drawCall(rt *rapid.T, q *Request) {
	q.Binding = rapid.SampledFrom([]wire.Binding{0, wire.JSONRPC, wire.HTTPJSON, wire.GRPC}).Draw(rt, "binding")
	if from := rapid.SampledFrom([]string{"", "10.1.2.3", "::ffff:10.9.9.9", "192.0.2.1", "2001:db8::7", "::1"}).Draw(rt, "from"); from != "" {
		q.Source = netip.MustParseAddr(from)
	}
	if q.Method.Subject != wire.OfMessage || rapid.IntRange(0, 9).Draw(rt, "no message") == 0 {
		return
	}
	q.Message = &wire.Message{}
	for range rapid.IntRange(0, 3).Draw(rt, "parts") {
		p := wire.Part{
			Kind:      rapid.SampledFrom([]string{"text", "text", "file", "data", ""}).Draw(rt, "kind"),
			MediaType: rapid.SampledFrom([]string{"", "", "image/png", "text/plain"}).Draw(rt, "type"),
			Bytes:     int64(rapid.IntRange(0, 9).Draw(rt, "bytes")),
		}
		if p.Kind == "file" {
			p.URL = rapid.SampledFrom([]string{"", "https://a.example/x", "http://B.example.:80/", "ftp://a.example/"}).Draw(rt, "url")
		}
		if p.URL != "" {
			p.Bytes = 0
		}
		q.Message.Parts = append(q.Message.Parts, p)
	}
}
