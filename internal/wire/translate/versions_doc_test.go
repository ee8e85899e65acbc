package translate

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// update rewrites the generated document instead of comparing.
var update = flag.Bool("update", false, "rewrite docs/versions.md from the tables and rules")

const versionsDoc = "../../../docs/versions.md"

// labels are what the document calls the dialects.
var labels = words{"0.1", "0.3", "0.3 ProtoJSON", "1.0"}

// pairOfDialects is one section of the document.
type pairOfDialects struct {
	From, To string
	Refused  string
	Effects  []effectOfPair
}

// effectOfPair is what happens between two dialects in one way.
type effectOfPair struct {
	How  string
	What []string
}

// objectNames is one table of names.
type objectNames struct {
	Name string
	Rows [][]string
}

// silent are the meanings whose loss a rule tells about, if it is one at all.
func silent(is meaning) bool {
	switch is {
	case anIndex, anArtifactID, anAppend, aLastChunk, aFinal, ownTaskID, ownContextID, aTenant, aConfigID,
		aTaskName, aConfigName, aConfiguration, aPushConfig, aHistoryLength, aBlocking, aReturn, aFilter:
		return true
	}
	return false
}

// lostMembers are the members of one dialect that another has no place for.
func lostMembers(from, to dialect) []string {
	var list []string
	for _, o := range objects {
		if o == partObject || o == fileObject || o == listParams || o == tasksObject || o == configsObject {
			continue // the rules about parts; what only methods have that are refused
		}
		if o == configsParams && to == d01 {
			continue // becomes a get
		}
		var names []string
		for _, m := range o.members {
			if m.say[from] != "" && m.say[to] == "" && !silent(m.is) {
				names = append(names, "`"+m.say[from]+"`")
			}
		}
		if len(names) > 0 {
			list = append(list, o.name+": "+strings.Join(names, ", ")+".")
		}
	}
	return list
}

// refusedMethods asks the code which operations a dialect's agents do not have, of
// those that the other dialect's callers do.
func refusedMethods(from, to dialect) string {
	var list []string
	for i := range wire.Methods() {
		m := &wire.Methods()[i]
		exists := map[dialect]bool{d01: m.V01 != "", d03: m.V03 != "", p03: m.V03 != "", d10: true}[from]
		e := retarget(&wire.Call{Method: m, TaskID: "T", ConfigID: "C"}, to)
		if exists && e != nil {
			list = append(list, "`"+m.Name+"`")
		}
	}
	return strings.Join(list, ", ")
}

// effects are the rules that are meant, by what they do; members are lost besides.
func effects(members []string, meant func(rule) bool) []effectOfPair {
	var list []effectOfPair
	for _, how := range []effect{lost, added, changed, refused} {
		e := effectOfPair{How: strings.ToUpper(string(how[0])) + string(how[1:])}
		if how == lost {
			e.What = members
		}
		for _, r := range rules {
			if r.how == how && meant(r) {
				e.What = append(e.What, r.what)
			}
		}
		if len(e.What) > 0 {
			list = append(list, e)
		}
	}
	return list
}

func sections() []pairOfDialects {
	var list []pairOfDialects
	for from := range dialect(dialects) {
		for to := range dialect(dialects) {
			if from == to {
				continue
			}
			p := pairOfDialects{From: labels[from], To: labels[to], Refused: refusedMethods(from, to)}
			p.Effects = effects(lostMembers(from, to), func(r rule) bool { return !r.everywhere() && r.applies(from, to) })
			list = append(list, p)
		}
	}
	return list
}

// names are the tables of what things are called, and of the words that are values.
func names() []objectNames {
	var list []objectNames
	for _, o := range objects {
		list = append(list, namesOf(o.name, slices.Collect(func(yield func(words) bool) {
			for _, m := range o.members {
				if !yield(m.say) {
					return
				}
			}
		})))
	}
	list = append(list, namesOf("Roles", roles[1:]), namesOf("States", states[:]))
	return slices.DeleteFunc(list, func(o objectNames) bool { return len(o.Rows) == 0 })
}

func namesOf(title string, table []words) objectNames {
	o := objectNames{Name: title}
	for _, w := range table {
		if w == everywhere(w[0]) {
			continue
		}
		row := make([]string, 0, dialects)
		for _, name := range w {
			cell := "–"
			if name != "" {
				cell = "`" + name + "`"
			}
			row = append(row, cell)
		}
		o.Rows = append(o.Rows, row)
	}
	return o
}

// TestVersionsDocument fails when docs/versions.md does not say what the code does.
func TestVersionsDocument(t *testing.T) {
	t.Parallel()
	tmpl, err := template.ParseFiles("testdata/versions.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, map[string]any{
		"Common": effects(nil, rule.everywhere), "Pairs": sections(), "Objects": names(),
	}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if *update {
		if err := os.WriteFile(versionsDoc, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(versionsDoc)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/versions.md is stale, its first lines say how to refresh it (-file +code):\n%s", diff)
	}
}

// TestRules: no rule is about nothing, and none is told twice.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.what] || r.what == "" || len(r.from) == 0 || len(r.to) == 0 {
			t.Errorf("%+v", r)
		}
		seen[r.what] = true
	}
}
