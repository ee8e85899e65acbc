package limits

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Validate reports what New would refuse, apart from agents and methods.
func (c Config) Validate() error {
	var errs []error
	for _, w := range []struct{ key, word, normal, others string }{
		{"onLoss", c.OnLoss, lossLocal, lossDeny + " " + lossAllow},
		{"headers", c.Headers, headersOn, headersOff},
	} {
		errs = append(errs, checkWord(w.word, append([]string{w.normal}, strings.Fields(w.others)...), w.key))
	}
	taken := map[string]bool{}
	for i := range c.Each {
		m := &c.Each[i]
		problems := slices.Concat(m.checkName(taken), m.checkLists(), m.checkKey(), m.checkFigures(), m.checkCost())
		errs = append(errs, m.errors(i, problems))
		taken[m.Name] = true
	}
	return errors.Join(errs...)
}

// errors puts the limit's name in front of what is wrong with it.
func (m *Limit) errors(pos int, problems []error) error {
	label := fmt.Sprintf("limit %q", m.Name)
	if m.Name == "" {
		label = fmt.Sprintf("limit %d", pos+1)
	}
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		if p != nil {
			errs = append(errs, keypath.Point(fmt.Errorf("%s: %w", label, p), "each", pos))
		}
	}
	return errors.Join(errs...)
}

// checkWord describes a word that is none of those that a key takes; "" is the default.
func checkWord(word string, words []string, key ...any) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	last := len(quoted) - 1
	return keypath.Point(fmt.Errorf("%s is %q; it must be %s or %s", keypath.Of(key...), word, strings.Join(quoted[:last], ", "), quoted[last]), key...)
}

// checkName returns what is wrong with the name. taken holds those of the limits before.
func (m *Limit) checkName(taken map[string]bool) []error {
	var err error
	switch {
	case m.Name == "":
		err = errors.New("name is missing")
	case taken[m.Name]:
		err = errors.New("another limit has the same name")
	case len(m.Name) > nameLength:
		err = fmt.Errorf("the name is longer than %d bytes", nameLength)
	case strings.ContainsFunc(m.Name, notOfName):
		err = errors.New(`the name has other characters than letters, digits, "-", "_" and "."`)
	}
	return []error{keypath.Point(err, "name")}
}

// notOfName: names stand in headers, in metrics and in the keys of stores.
func notOfName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
}

// checkLists returns what is wrong with the conditions, read on their own.
func (m *Limit) checkLists() []error {
	var problems []error
	for _, l := range []struct {
		key   string
		items []string
		exact bool // no patterns, so a lone star is a misunderstanding
	}{
		{"agents", m.Agents, false},
		{"skills", m.Skills, false},
		{"methods", m.Methods, true},
		{"subjects", m.Subjects, false},
		{"groups", m.Groups, true},
		{"issuers", m.Issuers, true},
	} {
		switch {
		case l.items == nil:
		case len(l.items) == 0:
			problems = append(problems, keypath.Point(errors.New(l.key+" is empty, so the limit would never apply; leave it out to mean any"), l.key))
		case slices.Contains(l.items, ""):
			problems = append(problems, keypath.Point(errors.New(l.key+" has an empty entry"), l.key, slices.Index(l.items, "")))
		case l.exact && slices.Contains(l.items, "*"):
			problems = append(problems, keypath.Point(fmt.Errorf(`%s has no "*"; leave %s out to mean any`, l.key, l.key), l.key, slices.Index(l.items, "*")))
		}
	}
	return problems
}

// checkKey returns what is wrong with what the limit is counted by.
func (m *Limit) checkKey() []error {
	var problems []error
	for i, p := range m.Key {
		switch {
		case !slices.Contains(partNames(), p):
			problems = append(problems, keypath.Point(fmt.Errorf("key has %q; it is made of %s", p, strings.Join(partNames(), ", ")), "key", i))
		case slices.Contains(m.Key[:i], p):
			problems = append(problems, keypath.Point(fmt.Errorf("key has %q twice", p), "key", i))
		// The record of a task says whose it is, and nothing of the software or address that its
		// call came from.
		case m.OpenTasks > 0 && (p == partClient || p == partSource):
			problems = append(problems, keypath.Point(fmt.Errorf("key has %q, which nobody knows of a task later; with openTasks "+
				"it is made of principal, tenant, agent, skill", p), "key", i))
		}
	}
	return problems
}

// checkFigures returns what is wrong with the figures, each and together.
func (m *Limit) checkFigures() []error {
	problems := slices.Concat(m.Rate.check(), m.Quota.check())
	for _, f := range []struct {
		key         string
		value, most int64
	}{
		{"concurrency", m.Concurrency, maxPlaces},
		{"openTasks", m.OpenTasks, maxPlaces},
		{"bytes", int64(m.Bytes), 1 << 62},
	} {
		if f.value < 0 || f.value > f.most {
			problems = append(problems, outOfRange(f.value, f.most, f.key))
		}
	}
	if m.Rate == nil && m.Quota == nil && m.Concurrency == 0 && m.OpenTasks == 0 && m.Bytes == 0 {
		problems = append(problems, errors.New("it bounds nothing; give it rate, quota, concurrency, openTasks or bytes"))
	}
	switch {
	case m.Forget != 0 && m.OpenTasks == 0:
		problems = append(problems, keypath.Point(errors.New("forget is about openTasks, which is not there"), "forget"))
	case m.Forget != 0 && (m.Forget.Std() < time.Minute || m.Forget.Std() > 366*24*time.Hour):
		problems = append(problems, keypath.Point(fmt.Errorf("forget is %s; it must be from 1m to 366d", m.Forget), "forget"))
	}
	return append(problems, checkWord(m.Mode, []string{modeEnforce, modeShadow}, "mode"))
}

// outOfRange says which values a figure takes.
func outOfRange(value, most int64, key ...any) error {
	return keypath.Point(fmt.Errorf("%s is %d; it must be from 1 to %d", keypath.Of(key...), value, most), key...)
}

// check returns what is wrong with a rate; nil is none.
func (r *Rate) check() []error {
	if r == nil {
		return nil
	}
	var problems []error
	if r.Units < 1 || r.Units > maxUnits {
		problems = append(problems, outOfRange(r.Units, maxUnits, "rate", "units"))
	}
	if r.Burst < 0 || r.Burst > maxUnits {
		problems = append(problems, outOfRange(r.Burst, maxUnits, "rate", "burst"))
	}
	per := r.per()
	if per < time.Millisecond || per > 31*24*time.Hour {
		problems = append(problems, keypath.Point(fmt.Errorf("rate.per is %s; it must be from 1ms to 31d", r.Per), "rate", "per"))
	}
	// A bucket has to be kept until it is full again, and nobody waits for a year.
	if problems == nil && float64(r.burst())/float64(r.Units)*per.Hours() > 366*24 {
		problems = append(problems, keypath.Point(fmt.Errorf("rate.burst is %d, which takes more than a year to come back; "+
			"lower it, or raise rate.units", r.burst()), "rate", "burst"))
	}
	return problems
}

// per is the span in which the units come back.
func (r *Rate) per() time.Duration { return cmp.Or(r.Per.Std(), time.Second) }

// burst is how many units there are at most.
func (r *Rate) burst() int64 { return cmp.Or(r.Burst, r.Units) }

// check returns what is wrong with a quota; nil is none.
func (q *Quota) check() []error {
	if q == nil {
		return nil
	}
	var problems []error
	if q.Units < 1 || q.Units > maxUnits {
		problems = append(problems, outOfRange(q.Units, maxUnits, "quota", "units"))
	}
	return append(problems, checkWord(q.Per, []string{perHour, perDay, perWeek, perMonth}, "quota", "per"))
}
