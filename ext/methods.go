package ext

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// maxMethods is how many methods extensions may have together: the policy has a bit
// for each beside A2A's own.
const maxMethods = 50

// subjects are the words of MethodConfig.About.
var subjects = map[string]wire.Subject{
	"": wire.OfAgent, "agent": wire.OfAgent,
	"message": wire.OfMessage, "task": wire.OfTask, "tasks": wire.OfCaller,
}

// Extra are the methods of all extensions but blocked ones.
func (b *Book) Extra() *wire.Extra {
	if b == nil {
		return nil
	}
	return b.extra
}

// Skill is the skill that an extension's method needs, "" for none.
func (b *Book) Skill(m *wire.Method) string {
	if b == nil || m == nil || m.Extension == "" {
		return ""
	}
	return b.skills[m.Name]
}

// bringMethods makes rows of every entry's methods. Those of a blocked extension are
// left out: its successor may have the same names.
func (b *Book) bringMethods() []error {
	var (
		rows []wire.Method
		errs []error
	)
	b.skills = make(map[string]string)
	for i, rec := range b.order {
		if rec.Status == Blocked {
			continue
		}
		for j := range rec.Methods {
			m := &rec.Methods[j]
			row, err := m.row(rec.URI)
			if err != nil {
				errs = append(errs, keypath.At(err, i, "methods", j))
			}
			rows = append(rows, row)
			b.skills[m.Name] = m.Skill
		}
	}
	if len(rows) > maxMethods {
		errs = append(errs, fmt.Errorf("extensions have %d methods, at most %d are possible", len(rows), maxMethods))
	}
	if errs != nil {
		return errs
	}
	extra, err := wire.NewExtra(rows)
	if err != nil {
		return []error{err}
	}
	b.extra = extra
	return nil
}

// row is a method as package wire has it. It is tried by itself first, so that an
// error that has nothing to do with others can be laid at its door.
func (m *MethodConfig) row(uri string) (wire.Method, error) {
	subject, ok := subjects[m.About]
	if !ok {
		return wire.Method{}, keypath.At(fmt.Errorf("%q is none of message, task, tasks, agent", clip(m.About)), "about")
	}
	row := wire.Method{
		Name: m.Name, Extension: uri,
		Streams: m.Streaming, Subject: subject, Writes: m.Writes,
		Path: m.Path, RPCPath: m.RPC, TaskField: m.Task, TaskTag: m.TaskTag,
	}
	if m.Verb != "" {
		row.Verbs = []string{m.Verb}
	}
	if strings.HasPrefix(m.Path, "/skills/") {
		return row, keypath.At(fmt.Errorf("%q begins as the addresses of skills do", clip(m.Path)), "path")
	}
	_, err := wire.NewExtra([]wire.Method{row})
	return row, keypath.Point(err, "name") // which its text begins with
}
