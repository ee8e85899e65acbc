package verb

import (
	"encoding/json"
	"errors"
	"io"
)

// Formats are those that --output takes.
var Formats = []string{"text", "json"}

// ErrOutput says that --output is none of Formats.
var ErrOutput = errors.New("--output must be text or json")

// Show writes v as indented JSON for programs, or as text for people by the given function.
// Another format is ErrOutput with exit code 2.
func Show(w io.Writer, format string, v any, text func(io.Writer)) error {
	switch format {
	case "text":
		text(w)
		return nil
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	return Usage(ErrOutput)
}
