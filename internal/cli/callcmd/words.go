package callcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// words are what the caller says.
type words struct {
	text       string
	files      []string
	task       string
	context    string
	skill      string
	extensions []string

	parts []part
}

// part is a Part of 1.0 (A2A 1.0 §4.1.6).
type part struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitempty"` // base64 in JSON
	URL       string          `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
}

// longest is the most that a message may bring in one text or file, in bytes: what the gateway
// takes by itself (server.limits.body) is less, base64 included.
const longest = 16 << 20

// look is the operation that asks about a task.
const look = wire.GetTask

// send is the operation that brings an agent a message.
func send(stream bool) string {
	if stream {
		return wire.SendStreamingMessage
	}
	return wire.SendMessage
}

func (w *words) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&w.files, "file", nil, "`file` to attach; repeatable")
	f.StringVar(&w.task, "task", "", "`id` of the task that the message belongs to")
	f.StringVar(&w.context, "context", "", "`id` of the context (conversation) to continue")
	f.StringVar(&w.skill, "skill", "", "`skill` that the message is for")
	f.StringArrayVar(&w.extensions, "extension", nil, "`URI` of an extension to request; repeatable")
}

// read makes parts of the text and the files. A text that is - stands for the standard input.
func (w *words) read(stdin io.Reader) error {
	if w.text == "-" {
		text, err := io.ReadAll(io.LimitReader(stdin, longest+1))
		if err != nil {
			return fmt.Errorf("read the message: %w", err)
		}
		if len(text) > longest {
			return fmt.Errorf("read the message: it has more than %d bytes", longest)
		}
		w.text = string(text)
	}
	if w.text != "" {
		w.parts = append(w.parts, part{Text: &w.text})
	}
	for _, name := range w.files {
		p, err := filePart(name)
		if err != nil {
			return err
		}
		w.parts = append(w.parts, p)
	}
	if len(w.parts) == 0 {
		return errors.New("the message is missing: a2a-gateway call AGENT 'hello', or --file FILE")
	}
	return nil
}

// filePart is a file as a part: its bytes, its name without directories, and the media type that
// its name has, else the one that its first bytes look like.
func filePart(name string) (part, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > longest {
		err = fmt.Errorf("%s has more than %d bytes", name, longest)
	}
	if err != nil {
		return part{}, fmt.Errorf("--file: %w", err)
	}
	raw, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return part{}, fmt.Errorf("--file: %w", err)
	}
	media := mime.TypeByExtension(filepath.Ext(name))
	if media == "" {
		media = http.DetectContentType(raw)
	}
	media, _, _ = mime.ParseMediaType(media) // without the charset, which agents compare byte by byte
	return part{Raw: raw, Filename: filepath.Base(name), MediaType: media}, nil
}

// params are those of SendMessage of 1.0. byPath says that the URL of the call has the skill in
// it already.
func (w *words) params(byPath bool) []byte {
	type message struct {
		MessageID  string   `json:"messageId"`
		Role       string   `json:"role"`
		Parts      []part   `json:"parts"`
		TaskID     string   `json:"taskId,omitempty"`
		ContextID  string   `json:"contextId,omitempty"`
		Extensions []string `json:"extensions,omitempty"`
	}
	var params struct {
		Message  message        `json:"message"`
		Metadata map[string]any `json:"metadata,omitempty"`
	}
	params.Message = message{uuid.NewString(), "ROLE_USER", w.parts, w.task, w.context, w.extensions}
	if w.skill != "" && !byPath {
		params.Metadata = map[string]any{wire.SkillSelection: w.skill}
	}
	raw, _ := json.Marshal(params) // texts and bytes always are
	return raw
}

// taskParams are those of GetTask of 1.0.
func taskParams(id string) []byte {
	raw, _ := json.Marshal(map[string]string{"id": id}) // as of params
	return raw
}
