package limits

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Validate reports what New would refuse, apart from agents and methods.
func (c Config) Validate() error {
	var errs []error
	for _, w := range []struct{ key, word, normal, others string }{
		{"onLoss", c.OnLoss, lossLocal, lossDeny + " " + lossAllow},
		{"headers", c.Headers, headersOn, headersOff},
	} {
		if p := checkWord(w.key, w.word, append([]string{w.normal}, strings.Fields(w.others)...)); p != "" {
			errs = append(errs, errors.New(p))
		}
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
func (m *Limit) errors(pos int, problems []string) error {
	label := fmt.Sprintf("limit %q", m.Name)
	if m.Name == "" {
		label = fmt.Sprintf("limit %d", pos+1)
	}
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("%s: %s", label, p))
	}
	return errors.Join(errs...)
}

func checkWord(key, word string, words []string) string {
	if word == "" || slices.Contains(words, word) {
		return ""
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	last := len(quoted) - 1
	return fmt.Sprintf("%s is %q; it must be %s or %s", key, word, strings.Join(quoted[:last], ", "), quoted[last])
}

func (m *Limit) checkName(taken map[string]bool) []string {
	switch {
	case m.Name == "":
		return []string{"name is missing"}
	case taken[m.Name]:
		return []string{"another limit has the same name"}
	case len(m.Name) > nameLength:
		return []string{fmt.Sprintf("the name is longer than %d bytes", nameLength)}
	case strings.ContainsFunc(m.Name, notOfName):
		return []string{`the name has other characters than letters, digits, "-", "_" and "."`}
	}
	return nil
}

// notOfName: names stand in headers, in metrics and in the keys of stores.
func notOfName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
}

// checkLists returns what is wrong with the conditions, read on their own.
func (m *Limit) checkLists() []string {
	var problems []string
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
			problems = append(problems, l.key+" is empty, so the limit would never apply; leave it out to mean any")
		case slices.Contains(l.items, ""):
			problems = append(problems, l.key+" has an empty entry")
		case l.exact && slices.Contains(l.items, "*"):
			problems = append(problems, fmt.Sprintf(`%s has no "*"; leave %s out to mean any`, l.key, l.key))
		}
	}
	return problems
}

func (m *Limit) checkKey() []string {
	var problems []string
	for i, p := range m.Key {
		switch {
		case !slices.Contains(partNames(), p):
			problems = append(problems, fmt.Sprintf("key has %q; it is made of %s", p, strings.Join(partNames(), ", ")))
		case slices.Contains(m.Key[:i], p):
			problems = append(problems, fmt.Sprintf("key has %q twice", p))
		case m.OpenTasks > 0 && (p == partClient || p == partSource):
			problems = append(problems, fmt.Sprintf("key has %q, which nobody knows of a task later; with openTasks "+
				"it is made of principal, tenant, agent, skill", p))
		}
	}
	return problems
}

func (m *Limit) checkFigures() []string {
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
			problems = append(problems, outOfRange(f.key, f.value, f.most))
		}
	}
	if m.Rate == nil && m.Quota == nil && m.Concurrency == 0 && m.OpenTasks == 0 && m.Bytes == 0 {
		problems = append(problems, "it bounds nothing; give it rate, quota, concurrency, openTasks or bytes")
	}
	switch {
	case m.Forget != 0 && m.OpenTasks == 0:
		problems = append(problems, "forget is about openTasks, which is not there")
	case m.Forget != 0 && (m.Forget.Std() < time.Minute || m.Forget.Std() > 366*24*time.Hour):
		problems = append(problems, fmt.Sprintf("forget is %s; it must be from 1m to 366d", m.Forget))
	}
	if p := checkWord("mode", m.Mode, []string{modeEnforce, modeShadow}); p != "" {
		problems = append(problems, p)
	}
	return problems
}

func outOfRange(key string, value, most int64) string {
	return fmt.Sprintf("%s is %d; it must be from 1 to %d", key, value, most)
}

func (r *Rate) check() []string {
	if r == nil {
		return nil
	}
	var problems []string
	if r.Units < 1 || r.Units > maxUnits {
		problems = append(problems, outOfRange("rate.units", r.Units, maxUnits))
	}
	if r.Burst < 0 || r.Burst > maxUnits {
		problems = append(problems, outOfRange("rate.burst", r.Burst, maxUnits))
	}
	per := r.per()
	if per < time.Millisecond || per > 31*24*time.Hour {
		problems = append(problems, fmt.Sprintf("rate.per is %s; it must be from 1ms to 31d", r.Per))
	}
	if problems == nil && float64(r.burst())/float64(r.Units)*per.Hours() > 366*24 {
		problems = append(problems, fmt.Sprintf("rate.burst is %d, which takes more than a year to come back; "+
			"lower it, or raise rate.units", r.burst()))
	}
	return problems
}

func (r *Rate) per() time.Duration { return cmp.Or(r.Per.Std(), time.Second) }

func (r *Rate) burst() int64 { return cmp.Or(r.Burst, r.Units) }

func (q *Quota) check() []string {
	if q == nil {
		return nil
	}
	var problems []string
	if q.Units < 1 || q.Units > maxUnits {
		problems = append(problems, outOfRange("quota.units", q.Units, maxUnits))
	}
	if p := checkWord("quota.per", q.Per, []string{perHour, perDay, perWeek, perMonth}); p != "" {
		problems = append(problems, p)
	}
	return problems
}
