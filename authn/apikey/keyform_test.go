package apikey

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func fullRecord() keyRecord {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return keyRecord{Spec: Spec{ID: "007", Subject: "true", Tenant: "ü: #", Owner: "team \"a\" \\ 'b'",
		Groups: []string{"a: b", "#c", "- d", "1e3", "~", "null", " lead", "tail ", "yes", "\U0001F600", "\ufeff",
			"\u2028", "\u0085", "user@example.com", "https://x/y?z", "a b", "<<", "=", "!!binary aGk=", "&a", "*a"},
		Scopes: []string{}, Agents: []string{""}, Created: at, Expires: at.Add(1500 * time.Millisecond),
		ReplacedBy: "007.2"}, Hash: hashKey("x")}
}

// same reads a file both ways, which must agree.
func same(t *testing.T, want []keyRecord) {
	t.Helper()
	doc := appendKeyFile(nil, want)
	quick, ok := parseWritten(string(doc))
	if !ok {
		t.Fatalf("not known for a written file:\n%s", doc)
	}
	slow, err := parseKeyFile(doc)
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	for name, got := range map[string][]keyRecord{"quick": quick, "YAML": slow} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s\n%s", name, diff, doc)
		}
	}
}

func TestKeyFileForm(t *testing.T) {
	t.Parallel()
	least := keyRecord{Spec: Spec{ID: "a"}, Hash: hashKey("y")}
	same(t, []keyRecord{fullRecord(), least})
	same(t, []keyRecord{least, fullRecord(), least})
	if got, err := parseKeyFile(appendKeyFile(nil, nil)); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// Whatever is not byte for byte what is written is left to the YAML library, so that
// nothing is read more leniently than there.
func TestOtherFormsAreNotQuick(t *testing.T) {
	t.Parallel()
	doc := string(appendKeyFile(nil, []keyRecord{fullRecord(), {Spec: Spec{ID: "a"}, Hash: hashKey("y")}}))
	for name, changed := range map[string]string{
		"nothing":         "",
		"no header":       strings.TrimPrefix(doc, keyFileHeader),
		"comment":         doc + "# more\n",
		"cut":             doc[:len(doc)-1],
		"unknown member":  strings.Replace(doc, "  hash: ", "  admin: true\n  hash: ", 1),
		"member twice":    strings.Replace(doc, "- id: a\n", "- id: a\n  subject: a\n  subject: b\n", 1),
		"other order":     strings.Replace(doc, "- id: a\n", "- id: a\n  tenant: a\n  subject: b\n", 1),
		"empty member":    strings.Replace(doc, "- id: a\n", "- id: a\n  subject: \n", 1),
		"word for a text": strings.Replace(doc, `subject: "true"`, "subject: true", 1),
		"number":          strings.Replace(doc, `id: "007"`, "id: 007", 1),
		"other zone":      strings.Replace(doc, "05Z", "05+00:00", 1),
		"capital hash":    strings.Replace(doc, "hash: sha256:", "hash: SHA256:", 1),
		"capital digits":  doc[:len(doc)-65] + strings.ToUpper(doc[len(doc)-65:]),
		"line ends":       strings.ReplaceAll(doc, "\n", "\r\n"),
		"alias":           strings.Replace(doc, "- id: a\n", "- id: *a\n", 1),
		"comment behind":  strings.Replace(doc, "- id: a\n", "- id: a # b\n", 1),
		"second document": doc + "---\n",
		"list and value":  strings.Replace(doc, "  scopes: []\n", "  scopes: [a]\n", 1),
	} {
		if changed == doc {
			t.Errorf("%s: nothing was changed", name)
		}
		if records, ok := parseWritten(changed); ok {
			t.Errorf("%s: taken as %+v", name, records)
		}
	}
}

// A key that is bound to no agent at all must not become one for any agent when
// another key is made.
func TestL28_EditsKeepEmptyBinding(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	doc := "keys:\n- {id: a, agents: [], hash: sha256:" + strings.Repeat("ab", 32) + "}\n"
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"b", "c"} {
		create(t, k, Spec{ID: id})
		records, err := readKeys(path)
		if err != nil {
			t.Fatal(err)
		}
		table, err := newKeyTable(records)
		if err != nil {
			t.Fatal(err)
		}
		if table.principal(0, "").MayUse("billing") || !table.principal(1, "").MayUse("billing") {
			t.Error("the binding changed")
		}
	}
}

func FuzzKeyFileForm(f *testing.F) {
	r := fullRecord()
	for _, s := range append(r.Groups, r.Owner, r.Tenant, "", "\xff", "\n", "\u00a0x", "e\u0301", "\ufffe") {
		f.Add(s, "b", int64(1), true)
	}
	f.Fuzz(func(t *testing.T, a, b string, expires int64, empty bool) {
		r := keyRecord{Spec: Spec{ID: "a", Subject: a, Owner: b, Tenant: b + a, Groups: []string{b, a, ""}},
			Hash: hashKey(a)}
		if empty {
			r.Agents = []string{}
		}
		if expires != 0 {
			r.Expires = time.Unix(expires%1e10, expires&0xffff).UTC()
		}
		if r.validate() == nil && r.Expires.Year() > 0 && !r.Expires.IsZero() {
			same(t, []keyRecord{r, r})
		}
	})
}

func FuzzParseWritten(f *testing.F) {
	f.Add(string(appendKeyFile(nil, nil)))
	f.Add(string(appendKeyFile(nil, []keyRecord{fullRecord()})))
	f.Add(string(appendKeyFile(nil, []keyRecord{{Spec: Spec{ID: "a"}}, fullRecord()})))
	f.Fuzz(func(t *testing.T, doc string) {
		quick, ok := parseWritten(doc)
		if _, err := newKeyTable(quick); !ok || err != nil {
			return
		}
		slow, err := parseKeyFile([]byte(doc))
		if err != nil || !cmp.Equal(quick, slow) && len(quick)+len(slow) > 0 {
			t.Fatalf("%v\n%s", err, cmp.Diff(quick, slow))
		}
	})
}

func BenchmarkReadKeys(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		records, _ := manyRecords(n)
		doc := appendKeyFile(nil, records)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				records, ok := parseWritten(string(doc))
				if _, err := newKeyTable(records); !ok || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
