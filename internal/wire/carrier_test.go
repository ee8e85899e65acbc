package wire

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

const carriersFile = "testdata/carriers.txtar"

// carrierCase is one document of testdata/carriers.txtar.
type carrierCase struct {
	name   string
	side   Side
	method *Method // nil for "extension"
	answer bool
	doc    []byte
}

func carrierCases(t testing.TB) (*txtar.Archive, []carrierCase) {
	t.Helper()
	archive, err := txtar.ParseFile(carriersFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []carrierCase
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".read") {
			continue
		}
		words := strings.Fields(f.Name)
		c := carrierCase{name: f.Name, doc: f.Data, answer: words[3] == "answers"}
		var okB, okM bool
		c.side.Binding, okB = ParseBinding(words[0])
		c.side.Version = Version(words[1])
		if c.method, okM = ByName(V10, words[2]); !okB || !okM && words[2] != "extension" || !c.answer && words[3] != "asks" {
			t.Fatalf("%s: not a name of a document", f.Name)
		}
		cases = append(cases, c)
	}
	return archive, cases
}

var placeNames = [...]string{
	InParams: "params", InMessage: "message", InPart: "part", InTask: "task",
	InStatus: "status", InUpdate: "update", InArtifact: "artifact",
}

// describeCarriers prints what was found.
func describeCarriers(c *Carriers) string {
	var b strings.Builder
	cut := func(span [2]int) string { return string(c.Doc[span[0]:span[1]]) }
	for i, x := range c.List {
		fmt.Fprintf(&b, "%s at %q in %d", placeNames[x.Place], c.Pointer(i), x.Parent)
		for _, fact := range []struct{ name, value string }{
			{"task", x.Task}, {"state", x.State}, {"data", cut(x.Data)}, {"text", cut(x.Text)},
		} {
			if fact.value != "" {
				fmt.Fprintf(&b, ", %s %s", fact.name, fact.value)
			}
		}
		if x.History {
			b.WriteString(", history")
		}
		b.WriteByte('\n')
	}
	for _, m := range c.Marks {
		how := "is"
		if m.Listed {
			how = "lists"
		}
		fmt.Fprintf(&b, "mark %q of %d at %q %s %s\n", m.Key, m.Carrier, c.PointerTo(m), how, cut(m.Value))
	}
	return b.String()
}

func TestReadCarriers(t *testing.T) {
	t.Parallel()
	archive, cases := carrierCases(t)
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	rewritten := &txtar.Archive{Comment: archive.Comment}
	for _, c := range cases {
		cs, err := ReadCarriers(c.side, c.method, c.answer, c.doc, Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := describeCarriers(cs)
		rewritten.Files = append(rewritten.Files,
			txtar.File{Name: c.name, Data: c.doc}, txtar.File{Name: c.name + ".read", Data: []byte(got)})
		if diff := cmp.Diff(want[c.name+".read"], got); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(carriersFile, txtar.Format(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
