package apikey

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestShownKeys: keys are shown in the order of their ids, page by page, with all that the
// file says of them and when they were used.
func TestShownKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	keys, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	specs := []Spec{
		{ID: "b", Subject: "Bob", Groups: []string{"g"}, Scopes: []string{"s"}, Agents: []string{"a"}, Tenant: "t", Owner: "Ops", Expires: ends},
		{ID: "c"}, {ID: "a", Subject: "bobby"},
	}
	var used string
	for _, spec := range specs {
		_, key, err := keys.Create(spec)
		if err != nil {
			t.Fatal(err)
		}
		if spec.ID == "b" {
			used = key
		}
	}
	if _, _, err := keys.Rotate("c", time.Hour); err != nil {
		t.Fatal(err)
	}
	c, err := tryAPIKeys(&Config{File: path}, Options{Usage: filepath.Join(t.TempDir(), "usage.json")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway.example", nil)
	r.Header.Set("X-API-Key", used)
	if _, err := c.Authenticate(r); err != nil {
		t.Fatal(err)
	}
	all, err := keys.List()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b Spec) int { return map[bool]int{true: -1, false: 1}[a.ID < b.ID] })
	shown := append(From(c).List("", "", 3), From(c).List("", "c", 10)...)
	if len(shown) != 4 || From(c).Count() != 4 {
		t.Fatalf("%d are shown", len(shown))
	}
	for i := range shown {
		if got, want := fmt.Sprintf("%+v", shown[i].Spec), fmt.Sprintf("%+v", all[i]); got != want {
			t.Errorf("shown is %s, want %s", got, want)
		}
		if shown[i].LastUsed.IsZero() != (shown[i].ID != "b") {
			t.Errorf("%s was used at %v", shown[i].ID, shown[i].LastUsed)
		}
	}
	for part, want := range map[string][]string{"BOB": {"a", "b"}, "ops": {"b"}, "T": {"b"}, "c.2": {"c.2"}, "nobody": nil} {
		var got []string
		for _, k := range From(c).List(part, "", 10) {
			got = append(got, k.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %q: %v, want %v", part, got, want)
		}
	}
	if k, ok := From(c).Find("c.2"); !ok || k.Subject != "c" {
		t.Errorf("c.2 is %+v", k)
	}
	if _, ok := From(c).Find("bb"); ok {
		t.Error("there is a key bb")
	}
}
