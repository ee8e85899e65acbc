package policycmd

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// report is what became of the cases, as `--output json` has it.
type report struct {
	Cases   int      `json:"cases"`
	Failed  int      `json:"failed"`
	Results []result `json:"results"`

	// The times are for JUnit, which wants them, and left out of the JSON, which two runs can then
	// be compared by.
	began time.Time
}

// result is what became of one.
// Line is that of the case in its file, from 1. Explanation is the whole answer, also where all is
// as wanted.
type result struct {
	File        string               `json:"file"`
	Line        int                  `json:"line"`
	Name        string               `json:"name"`
	OK          bool                 `json:"ok"`
	Differences []difference         `json:"differences,omitempty"`
	Explanation *verdict.Explanation `json:"explanation"`

	// How long judging the call took, and comparing the answer.
	took time.Duration
}

// print is the report for people: the cases that are not as wanted, and how many there
// are.
// File and line come first, as compilers write them, so that editors lead to the case.
func (r *report) print(w io.Writer) {
	// What is as wanted is counted only.
	for i := range r.Results {
		if res := &r.Results[i]; !res.OK {
			_, _ = fmt.Fprintf(w, "%s:%d: %s: %s\n", res.File, res.Line, res.Name, res.summary())
			_, _ = io.WriteString(w, res.details("  "))
		}
	}
	if r.Failed == 0 {
		_, _ = fmt.Fprintf(w, "%s, all as wanted\n", counted(r.Cases, "case"))
		return
	}
	_, _ = fmt.Fprintf(w, "%s, %d not as wanted\n", counted(r.Cases, "case"), r.Failed)
}

// summary is what was wanted and what there was, on one line.
// As in: wanted decision allow; got decision deny.
func (r *result) summary() string {
	var wanted, got []string
	for _, d := range r.Differences {
		wanted = append(wanted, d.What+" "+shown(d.Wanted))
		got = append(got, d.What+" "+shown(d.Got))
	}
	return "wanted " + strings.Join(wanted, "; ") + "; got " + strings.Join(got, "; ")
}

// counted is a number of things.
// The plural is made with an s, which is right for the things there are: cases, calls.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// shown makes an empty value visible.
func shown(value string) string {
	if value == "" {
		return `""`
	}
	return value
}

// details are why it was decided so, and what each rule said.
// indent is put in front of each line: JUnit shows them as they are, the terminal below the case.
func (r *result) details(indent string) string {
	e := r.Explanation
	var b strings.Builder
	for _, l := range []struct{ what, text string }{
		{"because", e.Reason},
		{"skill", strings.TrimPrefix(e.Skill.ID+": "+e.Skill.Why, ": ")},
		{"faults", strings.Join(e.Faults, "; ")},
	} {
		if l.text != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", indent, l.what, l.text)
		}
	}
	// All rules are listed, not only the one that decided: the mistake may be in another.
	for _, s := range e.Rules {
		effect := s.Effect
		if s.Shadow {
			effect += " (shadow)"
		}
		fmt.Fprintf(&b, "%s%s, %s: %s\n", indent, s.Rule, effect, says(&s))
	}
	for _, note := range e.Notes {
		fmt.Fprintf(&b, "%snote: %s\n", indent, note)
	}
	return b.String()
}

// The elements of a JUnit report, as build servers read them.
// Build servers differ in what they read: both time and counts stand at each level.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit is the report as JUnit XML: a suite for each file. Text is escaped, and what XML
// cannot have is replaced.
//
// There is no schema that all build servers agree on: the attributes are those that the most of
// them read (name, classname, file, line, time in seconds). Cases come file by file, so that the
// time of a suite adds up as they do.
// The error is one of encoding, and there is none for texts.
func (r *report) junit() ([]byte, error) {
	all := junitSuites{Name: "a2a-gateway policy test", Tests: r.Cases, Failures: r.Failed}
	var took, whole time.Duration
	for _, res := range r.Results {
		i := slices.IndexFunc(all.Suites, func(s junitSuite) bool { return s.Name == res.File })
		if i < 0 {
			i = len(all.Suites)
			all.Suites = append(all.Suites, junitSuite{
				Name: res.File, Timestamp: r.began.UTC().Format("2006-01-02T15:04:05"),
			})
			took = 0
		}
		s := &all.Suites[i]
		// The class is the file: build servers group by it.
		c := junitCase{Name: res.Name, Class: res.File, File: res.File, Line: res.Line, Time: seconds(res.took)}
		if !res.OK {
			s.Failures++
			c.Failure = &junitFailure{Message: res.summary(), Type: "difference", Text: res.details("")}
		}
		took, whole = took+res.took, whole+res.took
		s.Tests++
		s.Cases, s.Time = append(s.Cases, c), seconds(took)
	}
	all.Time = seconds(whole)
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// seconds are seconds with three digits, as JUnit has times.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
