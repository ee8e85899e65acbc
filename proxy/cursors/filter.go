package cursors

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// GivenIn is what the call says, by the names that it has for it.
func GivenIn(c *wire.Call, query url.Values) map[string]string {
	given := make(map[string]string)
	if c.Binding == wire.HTTPJSON {
		for name := range query {
			given[name] = query.Get(name)
		}
		return given
	}
	var members map[string]any
	if len(c.Params) == 0 || json.Unmarshal(jsonscan.Mend(c.Params), &members) != nil { // decoding has read them
		return given
	}
	for name, v := range members {
		if text, ok := scalar(v); ok {
			given[name] = text
		}
	}
	return given
}

// scalar is a JSON string, number or boolean as text: ProtoJSON takes numbers and
// enums in either form. null is absent.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// Snake turns the lowerCamelCase name of a ProtoJSON field into its name in the .proto file.
func Snake(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r |= 0x20
		}
		b.WriteRune(r)
	}
	return b.String()
}
