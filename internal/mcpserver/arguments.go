//go:build !minimal

package mcpserver

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// arguments are those of a skill's tool.
type arguments struct {
	Text      string         `json:"text"`
	Files     []file         `json:"files"`
	Data      jsontext.Value `json:"data"`
	ContextID *string        `json:"contextId"`
	TaskID    string         `json:"taskId"`
}

// file is an item of arguments.
type file struct {
	Name     string  `json:"name"`
	MimeType string  `json:"mimeType"`
	Bytes    *string `json:"bytes"`
	URI      string  `json:"uri"`
}

// taskArguments are those of the tools about tasks.
type taskArguments struct {
	Agent  string `json:"agent"`
	TaskID string `json:"taskId"`
}

const (
	anyData = `{"type":"object"}`
	// inputHead and inputTail are around the schema of the data.
	inputHead = `{"type":"object","properties":{` +
		`"text":{"type":"string","description":"What to ask or tell the agent, in words."},` +
		`"files":{"type":"array","description":"Files for the agent, each by its bytes or by its address.","items":{"type":"object",` +
		`"properties":{"name":{"type":"string"},"mimeType":{"type":"string","description":"Such as text/csv."},` +
		`"bytes":{"type":"string","description":"The content, in base64."},"uri":{"type":"string","description":"Where the agent gets it."}},` +
		`"additionalProperties":false}},"data":`
	inputTail = `,"contextId":{"type":"string","description":"A conversation to go on with, from an earlier result. ` +
		`An empty text begins a new one."},` +
		`"taskId":{"type":"string","description":"A task to answer, from an earlier result that asks for input."}},` +
		`"additionalProperties":false}`

	taskSchema = `{"type":"object","properties":{` +
		`"agent":{"type":"string","description":"agent of the result that showed the task."},` +
		`"taskId":{"type":"string","description":"taskId of that result."}},` +
		`"required":["agent","taskId"],"additionalProperties":false}`

	outputSchema = `{"type":"object","properties":{` +
		`"agent":{"type":"string"},"taskId":{"type":"string"},"contextId":{"type":"string"},` +
		`"state":{"type":"string","description":"Of the task: submitted, working, input-required, auth-required, completed, failed, canceled or rejected."},` +
		`"data":{"type":"array","description":"The data that the agent has answered with."}},` +
		`"required":["agent"]}`
)

// inputOf is the schema of a tool's arguments, with that of its data in it.
func inputOf(data jsontext.Value) jsontext.Value {
	if data == nil || data.Kind() != '{' {
		data = jsontext.Value(anyData)
	}
	return jsontext.Value(inputHead + string(embedded(data)) + inputTail)
}

// embedded is a schema as a part of another: what it refers to in itself stays in itself (JSON Schema
// 2020-12, section 9.3).
func embedded(schema jsontext.Value) jsontext.Value {
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return schema
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(schema, &members) != nil || members["$id"] != nil {
		return schema
	}
	members["$id"] = jsontext.Value(`"urn:a2a:skill:input"`)
	whole, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return schema
	}
	return whole
}

// readArguments reads strictly: a name that is nobody's would be lost without a word.
func readArguments(text []byte, to any) error {
	if len(text) == 0 {
		text = []byte("{}")
	}
	err := json.Unmarshal(text, to, json.RejectUnknownMembers(true))
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("arguments%s: there is no such argument", semantic.JSONPointer)
	case errors.As(err, &semantic):
		return fmt.Errorf("arguments%s: want another type than a JSON %s", semantic.JSONPointer, semantic.JSONKind)
	}
	return errors.New("arguments: not one JSON object")
}

// part is a part of a message of A2A 1.0.
type part struct {
	Text      *string        `json:"text,omitzero"`
	Raw       *string        `json:"raw,omitzero"` // base64
	URL       string         `json:"url,omitzero"`
	Data      jsontext.Value `json:"data,omitzero"`
	Filename  string         `json:"filename,omitzero"`
	MediaType string         `json:"mediaType,omitzero"`
}

// message is one of A2A 1.0.
type message struct {
	MessageID string `json:"messageId"`
	ContextID string `json:"contextId,omitzero"`
	TaskID    string `json:"taskId,omitzero"`
	Role      string `json:"role,omitzero"`
	Parts     []part `json:"parts"`
}

// message makes a message of the arguments; conversation is the one to go on with where they name
// none.
func (a *arguments) message(conversation string) (*message, error) {
	m := &message{MessageID: rand.Text(), TaskID: a.TaskID, Role: "ROLE_USER"}
	switch {
	case a.ContextID != nil:
		m.ContextID = *a.ContextID
	case a.TaskID == "":
		m.ContextID = conversation
	}
	if strings.TrimSpace(a.Text) != "" {
		m.Parts = append(m.Parts, part{Text: &a.Text})
	}
	for i, f := range a.Files {
		p := part{URL: f.URI, Raw: f.Bytes, Filename: f.Name, MediaType: f.MimeType}
		switch {
		case (f.Bytes == nil) == (f.URI == ""):
			return nil, fmt.Errorf("arguments/files/%d: want either bytes or uri", i)
		case f.Bytes != nil:
			if _, err := base64.StdEncoding.DecodeString(*f.Bytes); err != nil {
				return nil, fmt.Errorf("arguments/files/%d/bytes: not base64", i)
			}
		}
		m.Parts = append(m.Parts, p)
	}
	if a.Data != nil && a.Data.Kind() != 'n' {
		m.Parts = append(m.Parts, part{Data: a.Data, MediaType: "application/json"})
	}
	if len(m.Parts) == 0 {
		return nil, errors.New("arguments: want text, files or data")
	}
	return m, nil
}
