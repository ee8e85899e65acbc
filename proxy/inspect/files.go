package inspect

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// screenRequest holds the files that a caller sends to the rules. Calls that have none are
// known by the one reading of their body.
//
// MayFile is set by the scan of the body where it saw a part that can hold a file. In all other
// calls nothing is read a second time.
func (in *Inspector) screenRequest(x *exchange.Exchange) error {
	rules := in.FileRules[x.Agent.ID]
	if !x.Call.MayFile || rules.Request() == files.Off || len(x.Call.Body) == 0 {
		return nil
	}
	x.Mend()
	cs, err := in.carriers(x)
	if err != nil {
		return err
	}
	s := Screening{Note: x.Note, Cs: cs, Rules: rules, Action: rules.Request()}
	body, err := s.Screen()
	if err != nil {
		return err
	}
	return in.ReplaceBody(x, body)
}

// ScreenAnswer does the same to a document of the agent's, which is an answer to m: an
// answer, an event or a notification. What it returns is what is left of it.
//
// It takes the method from its caller, as events are answers to the streaming method whatever the
// call was, and notifications to none.
func (in *Inspector) ScreenAnswer(x *exchange.Exchange, side wire.Side, m *wire.Method, seen wire.Answer, doc []byte) ([]byte, error) {
	rules := in.FileRules[x.Agent.ID]
	if !seen.MayFile || rules.Answer() == files.Off {
		return doc, nil
	}
	cs, err := wire.ReadCarriers(side, m, true, jsonscan.Mend(doc), in.AnswerLimits())
	if err != nil {
		return nil, err
	}
	s := Screening{Note: x.Note, Cs: cs, Rules: rules, Action: rules.Answer(), answer: true}
	return s.Screen()
}

// Screening is one document while its files are judged.
//
// It is used once. Note hears of each fault, enforced or not; refused is the first that refuses
// the whole document, and is returned after all have been noted, so that the record has all of
// them.
type Screening struct {
	Note   func(*content.Violation)
	Cs     *wire.Carriers
	Rules  *files.Rules
	Action files.Action
	answer bool

	noted   int
	refused *wire.Error
	instead map[int]string // texts that stand in the place of files
}

// manyFaults is how many a document records one by one.
const manyFaults = 64

// Screen judges the files, and returns what is left of the document.
func (s *Screening) Screen() ([]byte, error) {
	count := map[int]int{} // of files, by what they stand in
	for _, f := range message.Files(s.Cs) {
		parent := s.Cs.List[f.Part].Parent
		count[parent]++
		for _, fault := range s.Rules.Judge(&f, count[parent]) {
			s.settle(&f, &fault)
		}
	}
	if s.refused != nil {
		return nil, s.refused
	}
	return message.Replace(s.Cs, s.instead), nil
}

// settle records a fault, and finds what becomes of its file.
//
// A fault in the history does not refuse an answer: it was said in an earlier turn, and nobody
// can take it back. The file is withheld instead.
func (s *Screening) settle(f *message.File, fault *files.Fault) {
	v := content.Violation{
		Fault: content.Fault(fault.Kind), Pointer: s.Cs.Pointer(f.Part), Text: fault.Text,
		Enforced: fault.Enforced && s.Action != files.Report,
	}
	refuses := v.Enforced && s.Action == files.Refuse && !s.Cs.List[f.Part].History
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
	s.Note(&v)
}

// fileKinds are what callers' files are refused as that are not simply invalid.
var fileKinds = map[content.Fault]*wire.Kind{
	content.FileType: wire.ContentType, content.FileSize: wire.TooLarge,
}
