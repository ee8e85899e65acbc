package console

import (
	"encoding/base64"
	"strings"
)

const (
	usualPage   = 100
	longestPage = 1000
)

// cursorForm is in front of what a cursor holds, so that one of another form is told
// from it some day.
const cursorForm = "1"

// pages are the parameters of a list that comes page by page.
func pages(more ...param) []param {
	return append(more,
		param{name: "cursor", text: "what the page before had as next"},
		param{name: "limit", text: "how many at most; 100 unless set", least: 1, most: longestPage})
}

// cursor names the place behind the item of an id.
func cursor(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorForm + id))
}

// page is which part of a list is wanted: so many, behind the item of this id.
func (c *call) page() (after string, limit int, err error) {
	if limit = c.number("limit"); limit == 0 {
		limit = usualPage
	}
	text := c.query.Get("cursor")
	if text == "" {
		return "", limit, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	after, ok := strings.CutPrefix(string(data), cursorForm)
	if err != nil || !ok {
		return "", 0, badCursor()
	}
	return after, limit, nil
}

func badCursor() error { return parameter("cursor is none that a page had as next") }
