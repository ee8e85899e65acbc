package pdp

import (
	"context"
	"errors"
	"slices"
)

// Ask puts the question to all authorizers that it concerns, at the same time. nil means
// that all allow it; the first refusal ends the asking. notes say what was not as it
// should be, for the record: a failure that was passed over, what an authorizer in shadow
// mode would have refused. The error is a *Refused.
//
// They are asked only when the rules have allowed the call, so that an authorizer can take away
// and never give. One authorizer is asked without a goroutine, which is the common case.
func (p *Panel) Ask(ctx context.Context, q *Question) (notes []string, err error) {
	var asked []concerned
	for _, a := range p.each {
		if skills, ok := a.concerns(q); ok {
			asked = append(asked, concerned{a, skills})
		}
	}
	switch len(asked) {
	case 0:
		return nil, nil
	case 1:
		note, err := asked[0].judge(ctx, q, asked[0].skills)
		return written([]string{note}), err
	}
	return together(ctx, q, asked)
}

// concerned is an authorizer that a call concerns, for these skills.
type concerned struct {
	*authorizer

	skills []string
}

// together asks several at the same time.
func together(ctx context.Context, q *Question, asked []concerned) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	// The first refusal cancels the questions that are still open: their answers cannot matter.
	defer cancel()
	// of is the place of the authorizer among those that are asked.
	type judgement struct {
		of   int
		note string
		err  error
	}
	// Room for all, so that nobody waits to tell an answer that is not read any more.
	judged := make(chan judgement, len(asked))
	for i, a := range asked {
		go func() {
			note, err := a.judge(ctx, q, a.skills)
			judged <- judgement{i, note, err}
		}()
	}
	notes := make([]string, len(asked)) // in the order of the configuration, not of the answers
	for range asked {
		j := <-judged
		// Returning runs cancel, and the goroutines end by their contexts.
		if notes[j.of] = j.note; j.err != nil {
			return written(notes), j.err
		}
	}
	return written(notes), nil
}

// written leaves out those who had nothing to note.
// Nil for none, so that the record leaves the member out.
func written(notes []string) []string {
	notes = slices.DeleteFunc(notes, func(n string) bool { return n == "" })
	if len(notes) == 0 {
		return nil
	}
	return notes
}

// judge makes an authorizer's answer, or the lack of one, what the configuration wants it
// to be.
//
//	answer             enforce            shadow        onFailure: allow
//	yes                nil                nil           nil
//	no                 *Refused           note          *Refused
//	no answer          *Refused           note          note
//	a bad question     *Refused           note          *Refused
func (a *authorizer) judge(ctx context.Context, q *Question, skills []string) (note string, err error) {
	v, err := a.answer(ctx, q, skills)
	if err == nil && v.allow {
		return "", nil
	}
	refused := &Refused{By: a.name, Reason: v.reason, Err: err}
	said := "refused"
	if err != nil {
		refused.Reason, said = err.Error(), "could not be asked"
	}
	note = a.label() + ": " + said
	if refused.Reason != "" {
		note += ": " + refused.Reason
	}
	var stands *final
	switch {
	case a.shadow:
		return note, nil
	// onFailure: allow is for services that are away, not for questions that a caller can spoil.
	case err != nil && a.passes && !errors.As(err, &stands):
		return note + "; passed over", nil
	}
	return "", refused
}
