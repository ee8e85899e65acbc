package schema

import (
	"fmt"
	"math/big"
	"path"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxLimit is the longest limit that is quoted.
// A longer list of allowed values or names is no help in one line of a log.
const maxLimit = 100

// words say what is wrong: the keyword and its limit, and nothing of the value.
// As in "minimum: want at least 3".
func words(e *jsonschema.ValidationError) string {
	keyword := "schema"
	// The first step names the keyword; further ones are its members.
	if at := e.ErrorKind.KeywordPath(); len(at) > 0 {
		keyword = at[0]
	}
	limit := ""
	switch k := e.ErrorKind.(type) {
	case *kind.FalseSchema:
		if last := path.Base(e.SchemaURL); strings.HasPrefix(last, "unevaluated") {
			keyword = last
		}
		limit = "not allowed"
	case *kind.Type:
		limit = "found " + k.Got + ", want " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		limit = oneOf(k.Want)
	case *kind.Const:
		limit = oneOf([]any{k.Want})
	case *kind.Format:
		limit = "not a valid " + k.Want
	// A pattern is the schema's, and may be quoted; the text that does not match it may not.
	case *kind.Pattern:
		limit = brief("does not match "+k.Want, "does not match")
	case *kind.Not:
		keyword, limit = "not", "has a form that is not allowed"
	case *kind.AnyOf:
		limit = "has none of the forms that are allowed"
	case *kind.OneOf:
		limit = "has not exactly one of the forms that are allowed"
	case *kind.Dependency:
		keyword, limit = "dependencies", missing(k.Missing)
	case *kind.RefCycle:
		keyword, limit = "$ref", "the schema refers to itself"
	default:
		limit = bound(e.ErrorKind)
	}
	return keyword + ": " + limit
}

// bound is the limit of a keyword that has one.
// The texts are for people; keywords without a limit of their own say that the value is not
// allowed.
func bound(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Required:
		return missing(k.Missing)
	case *kind.DependentRequired:
		return missing(k.Missing)
	case *kind.MinProperties:
		return atLeast(k.Want)
	case *kind.MaxProperties:
		return atMost(k.Want)
	case *kind.MinItems:
		return atLeast(k.Want)
	case *kind.MaxItems:
		return atMost(k.Want)
	case *kind.MinLength:
		return atLeast(k.Want)
	case *kind.MaxLength:
		return atMost(k.Want)
	case *kind.MinContains:
		return atLeast(k.Want)
	case *kind.MaxContains:
		return atMost(k.Want)
	case *kind.Minimum:
		return "want at least " + decimal(k.Want)
	case *kind.Maximum:
		return "want at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "want more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "want less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "want a multiple of " + decimal(k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are the same", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "no item has the form that one must have"
	}
	return "not allowed"
}

func atLeast(n int) string { return "want at least " + strconv.Itoa(n) }
func atMost(n int) string  { return "want at most " + strconv.Itoa(n) }

// missing says which required members an object lacks.
func missing(names []string) string {
	if len(names) == 1 {
		return brief(strconv.Quote(names[0])+" is missing", "a member is missing")
	}
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, strconv.Quote(name))
	}
	return brief(strings.Join(quoted, ", ")+" are missing", "members are missing")
}

// oneOf lists the values of the schema that are texts, numbers and the like.
// Lists and objects are not quoted: they would need more room than the text has.
func oneOf(allowed []any) string {
	const unsaid = "not a value that is allowed"
	quoted := make([]string, 0, len(allowed))
	for _, v := range allowed {
		switch v := v.(type) {
		case string:
			quoted = append(quoted, strconv.Quote(v))
		case []any, map[string]any:
			return unsaid
		case nil:
			quoted = append(quoted, "null")
		default:
			quoted = append(quoted, fmt.Sprint(v))
		}
	}
	return brief("want "+strings.Join(quoted, " or "), unsaid)
}

// brief is a text, or what stands in its place where it is too long.
func brief(text, instead string) string {
	if len(text) > maxLimit {
		return instead
	}
	return text
}

// decimal writes a limit as the schema has it, as far as a float64 holds it.
func decimal(r *big.Rat) string {
	if r.IsInt() && r.Num().BitLen() <= 64 {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
