package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
)

// ScreenFiles says what is wrong with the files of a call, each time by note; the error,
// a *wire.Error, is what a call is refused with for them. Nothing is changed.
//
// It is for `explain`, which says what would become of a call that is not made.
func ScreenFiles(rules *files.Rules, cs *wire.Carriers, note func(*content.Violation)) error {
	if rules.Request() == files.Off {
		return nil
	}
	s := inspect.Screening{Note: note, Cs: cs, Rules: rules, Action: rules.Request()}
	_, err := s.Screen()
	return err
}
