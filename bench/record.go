package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// record is one run, as it is kept.
type record struct {
	Date     time.Time         `json:"date"`
	Commit   string            `json:"commit,omitempty"` // of the gateway
	Machine  machine           `json:"machine"`
	Settings settings          `json:"settings"`
	Versions map[string]string `json:"versions"`          // by subject
	LeftOut  map[string]string `json:"leftOut,omitempty"` // subjects, and why
	Notes    map[string]string `json:"notes,omitempty"`   // subjects, and what is to be known of their figures
	Rows     []*row            `json:"rows"`
}

type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	OS     string `json:"os"`
}

type settings struct {
	Rounds      int    `json:"rounds"`
	Time        string `json:"time"`
	Connections int    `json:"connections"`
	Rate        int    `json:"rate"`
	Streams     int    `json:"streams"`
	Idle        int    `json:"idle"`
}

// row is what one subject took of one workload: of each figure one value a round.
type row struct {
	Workload string               `json:"workload"`
	Subject  string               `json:"subject"`
	Figures  map[string][]float64 `json:"figures"`
}

func (r *record) add(workload, subject string, f figures) {
	to := r.row(workload, subject)
	if to == nil {
		to = &row{Workload: workload, Subject: subject, Figures: map[string][]float64{}}
		r.Rows = append(r.Rows, to)
	}
	for key, v := range f {
		to.Figures[key] = append(to.Figures[key], v)
	}
}

func (r *record) row(workload, subject string) *row {
	for _, row := range r.Rows {
		if row.Workload == workload && row.Subject == subject {
			return row
		}
	}
	return nil
}

// names are those of a workload's rows in the order in which they are printed: peers come after those
// that every run has.
func (r *record) names(w workload) []string {
	names := w.names()
	for _, row := range r.Rows {
		if row.Workload == w.name && !slices.Contains(names, row.Subject) {
			names = append(names, row.Subject)
		}
	}
	return names
}

// relative is a figure of a row by round, as ratio to that of the base in the same
// round, or as difference, whole or by size; nil where one of the two has none.
func (r *record) relative(w workload, subject string, c column) []float64 {
	base := w.baseline()
	if c.beside == added && r.row(w.name, direct.name) != nil {
		base = direct.name
	}
	of, to := r.row(w.name, subject), r.row(w.name, base)
	if of == nil || to == nil {
		return nil
	}
	var v []float64
	for i := range min(len(of.Figures[c.key]), len(to.Figures[c.key])) {
		a, b := of.Figures[c.key][i], to.Figures[c.key][i]
		switch {
		case c.beside == added:
			v = append(v, a-b)
		case c.beside == apiece:
			if more := apart(subject, base); more > 0 {
				v = append(v, (a-b)*1024/float64(more))
			}
		case b > 0:
			v = append(v, a/b)
		}
	}
	return v
}

// apart is how much larger one size is than another.
func apart(size, base string) int {
	large, _ := strconv.Atoi(size)
	small, _ := strconv.Atoi(base)
	return large - small
}

func (r *record) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // no secret
		return err
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644) // no secret
}

func load(path string) (*record, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(record)
	if err := json.Unmarshal(content, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// newest are the records of the latest runs in a folder: of the one that compares, and of
// the one that shows how cost grows. One file may be both, and either may not be there.
func newest(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	found, at := [2]string{}, [2]time.Time{}
	for _, path := range paths {
		r, err := load(path)
		if err != nil {
			return nil, err
		}
		for kind, has := range r.kinds() {
			if has && r.Date.After(at[kind]) {
				found[kind], at[kind] = path, r.Date
			}
		}
	}
	return slices.Compact(slices.DeleteFunc(found[:], func(path string) bool { return path == "" })), nil
}

// kinds says whether a run compares, and whether it shows how cost grows.
func (r *record) kinds() (kinds [2]bool) {
	for _, w := range workloads {
		if slices.ContainsFunc(r.Rows, func(row *row) bool { return row.Workload == w.name }) {
			kinds[map[bool]int{false: 0, true: 1}[w.growth != nil]] = true
		}
	}
	return kinds
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	slices.Sort(v)
	if len(v)%2 == 0 {
		return (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return v[len(v)/2]
}
