// Package yamlerror says what is wrong with a YAML file in words of a configuration. Those of the YAML library
// are about its scanner and about types of Go, and some quote the file, which may have a secret in the place.
package yamlerror

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// tabs is said of a tab where the file is indented.
const tabs = "YAML does not allow tabs for indentation, use spaces"

// sentences are the words for messages of the library, which are complete and quote nothing.
var sentences = map[string]string{
	"no documents in stream":                                       "the file is empty",
	"found a tab character that violates indentation":              tabs,
	"found a tab character where an indentation space is expected": tabs,
	"mapping values are not allowed in this context":               `a key cannot stand here: check the indentation of the line and the ":" of the line above, and put a text that has ": " in it in quotes`,
	"did not find expected key":                                    "a key is expected here: indent its line as those beside it, and close brackets and quotes once",
	"did not find expected '-' indicator":                          `an entry of the list is expected here: begin it with "- ", or indent the line as its own list or mapping`,
	"did not find expected ',' or ']'":                             `"," or "]" is missing`,
	"did not find expected ',' or '}'":                             `"," or "}" is missing`,
	"did not find expected node content":                           "a value is missing, or a bracket is not closed",
	"could not find expected ':'":                                  `":" is missing behind a key`,
	"found unexpected end of stream":                               "a text in quotes does not end: its closing quote is missing",
	"found unknown escape character":                               `unknown escape in a text in double quotes: write \\ for \, or single quotes around the text`,
}

// unknownKey and repeatedKey are the library's messages that name a key.
var (
	unknownKey  = regexp.MustCompile(`^field (\S+) not found in type `)
	repeatedKey = regexp.MustCompile(`^mapping key ("[^"]*") already defined at line (\d+)`)
)

// Words is a message of the library in the words of a configuration; one that is not known stays as it is.
func Words(message string) string {
	if said, ok := sentences[message]; ok {
		return said
	}
	if m := unknownKey.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("unknown key %q", m[1])
	}
	if m := repeatedKey.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("key %s is set on line %s already", m[1], m[2])
	}
	switch {
	case strings.HasPrefix(message, "unknown anchor "):
		return "the alias has no anchor; put a text that begins with * in quotes"
	case strings.HasPrefix(message, "cannot construct "):
		return "the value does not fit here"
	case strings.HasPrefix(message, "control characters are not allowed"):
		return "control characters are not allowed"
	case strings.Contains(message, "UTF-8"):
		return "the file is not UTF-8"
	}
	return message
}

// badStart is the message for a character that begins no value, which can be known from the file alone.
const badStart = "found character that cannot start any token"

// In is an error of the library about doc with its messages in these words. Errors with places (*yaml.LoadError,
// *yaml.LoadErrors) keep them.
func In(doc []byte, err error) error {
	var many *yaml.LoadErrors
	if errors.As(err, &many) {
		all := &yaml.LoadErrors{}
		for _, one := range many.Errors {
			all.Errors = append(all.Errors, placed(doc, one))
		}
		return all
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return placed(doc, one)
	}
	return errors.New(Words(err.Error()))
}

// placed is In for one error.
func placed(doc []byte, e *yaml.LoadError) *yaml.LoadError {
	text := Words(e.Message)
	if e.Message == badStart {
		text = "a text that begins with this character must be in quotes"
		// The place of a tab is that of the line, or of the tab.
		lines := bytes.Split(doc, []byte("\n"))
		if at := e.Mark.Line - 1; at >= 0 && at < len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[at], " "), []byte("\t")) {
			text = tabs
		}
	}
	return &yaml.LoadError{Mark: e.Mark, Message: text}
}
