package proxy

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// screenRequest holds the files that a caller sends to the rules. Calls that have none are
// known by the one reading of their body.
func (in *inspector) screenRequest(x *exchange.Exchange) error {
	rules := in.fileRules[x.Agent.ID]
	if !x.Call.MayFile || rules.Request() == files.Off || len(x.Call.Body) == 0 {
		return nil
	}
	x.Mend()
	cs, err := in.carriers(x)
	if err != nil {
		return err
	}
	s := screening{note: x.Note, cs: cs, rules: rules, action: rules.Request()}
	body, err := s.screen()
	if err != nil {
		return err
	}
	return in.Rebody(x, body)
}

// screenAnswer does the same to a document of the agent's, which is an answer to m: an
// answer, an event or a notification. What it returns is what is left of it.
func (in *inspector) screenAnswer(x *exchange.Exchange, side wire.Side, m *wire.Method, seen wire.Answer, doc []byte) ([]byte, error) {
	rules := in.fileRules[x.Agent.ID]
	if !seen.MayFile || rules.Answer() == files.Off {
		return doc, nil
	}
	cs, err := wire.ReadCarriers(side, m, true, jsonscan.Mend(doc), in.AnswerLimits())
	if err != nil {
		return nil, err
	}
	s := screening{note: x.Note, cs: cs, rules: rules, action: rules.Answer(), answer: true}
	return s.screen()
}

// ScreenFiles says what is wrong with the files of a call, each time by note; the error,
// a *wire.Error, is what a call is refused with for them. Nothing is changed.
func ScreenFiles(rules *files.Rules, cs *wire.Carriers, note func(*content.Violation)) error {
	if rules.Request() == files.Off {
		return nil
	}
	s := screening{note: note, cs: cs, rules: rules, action: rules.Request()}
	_, err := s.screen()
	return err
}

// screening is one document while its files are judged.
type screening struct {
	note   func(*content.Violation)
	cs     *wire.Carriers
	rules  *files.Rules
	action files.Action
	answer bool

	noted   int
	refused *wire.Error
	instead map[int]string // texts that stand in the place of files
}

// manyFaults is how many a document records one by one.
const manyFaults = 64

// screen judges the files, and returns what is left of the document.
func (s *screening) screen() ([]byte, error) {
	count := map[int]int{} // of files, by what they stand in
	for _, f := range s.cs.Files() {
		parent := s.cs.List[f.Part].Parent
		count[parent]++
		for _, fault := range s.rules.Judge(&f, count[parent]) {
			s.settle(&f, &fault)
		}
	}
	if s.refused != nil {
		return nil, s.refused
	}
	return s.cs.Replace(s.instead), nil
}

// settle records a fault, and finds what becomes of its file.
func (s *screening) settle(f *wire.File, fault *files.Fault) {
	v := content.Violation{
		Fault: content.Fault(fault.Kind), Pointer: s.cs.Pointer(f.Part), Text: fault.Text,
		Enforced: fault.Enforced && s.action != files.Report,
	}
	refuses := v.Enforced && s.action == files.Refuse && !s.cs.List[f.Part].History
	switch {
	case refuses && s.refused == nil:
		s.refused = exchange.RefuseFor(&v, s.answer)
		if kind := fileKinds[v.Fault]; !s.answer && kind != nil {
			s.refused.Kind = kind
		}
	case v.Enforced && !refuses:
		if s.instead == nil {
			s.instead = map[int]string{}
		}
		if s.instead[f.Part] == "" {
			s.instead[f.Part] = "[Withheld by the gateway: " + fault.Text + "]"
		}
	}
	if s.noted++; s.noted > manyFaults {
		v.Pointer = "" // one more of many, which the record only counts
	} else if fault.Detail != "" {
		v.Text += fmt.Sprintf(" (%.100q)", fault.Detail)
	}
	s.note(&v)
}

// fileKinds are what callers' files are refused as that are not simply invalid.
var fileKinds = map[content.Fault]*wire.Kind{
	content.FileType: wire.ContentType, content.FileSize: wire.TooLarge,
}
