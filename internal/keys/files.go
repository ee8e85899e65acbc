package keys

import "time"

// files are paths of keys that somebody else makes and rotates.
type files []string

// keys reads all of them anew. One that cannot be used condemns them all: a set
// without its first key would sign with one that is not meant to, yet.
func (f files) keys(time.Time) ([]*key, error) {
	list := make([]*key, len(f))
	for i, path := range f {
		k, err := readFile(path)
		if err != nil {
			return nil, err
		}
		list[i] = k
	}
	return list, nil
}
