package api

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

// pageParams are the parameters of a list that comes page by page.
var pageParams = []Param{
	{Name: "cursor", Text: "value of next from the previous page"},
	{Name: "limit", Text: "largest number of entries; default: 100", Least: 1, Most: longestPage},
}

// Cursor names the place behind the item of an id.
func (c *Call) Cursor(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorForm + id))
}

// Page is which part of a list is wanted: so many, behind the item of this id.
func (c *Call) Page() (after string, limit int, err error) {
	if limit = c.Number("limit"); limit == 0 {
		limit = usualPage
	}
	text := c.Query.Get("cursor")
	if text == "" {
		return "", limit, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	after, ok := strings.CutPrefix(string(data), cursorForm)
	if err != nil || !ok {
		return "", 0, c.BadCursor()
	}
	return after, limit, nil
}

// BadCursor is the error for a cursor that no page had.
func (c *Call) BadCursor() error {
	return c.InvalidParameter("cursor is none that a page had as next")
}
