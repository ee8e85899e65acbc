package main

import (
	"encoding/json"
	"errors"
	"io"
)

var formats = []string{"text", "json"}

var errOutput = errors.New("--output must be text or json")

// show writes v as JSON, or as text by the given function.
func show(w io.Writer, format string, v any, text func(io.Writer)) error {
	switch format {
	case "text":
		text(w)
		return nil
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	return usage(errOutput)
}
