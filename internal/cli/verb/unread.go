package verb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// here is the file that `init` writes unless it is told otherwise.
const here = "config.yaml"

// Unread marks the error of reading the configuration at path as the operator's to mend. Where path is the
// usual one, of which there is no file, the working directory may have one: the error then names it. It is
// not read in place of the usual one, since a verb must not depend on where it is run.
func Unread(path string, err error) error {
	if _, missing := os.Stat(path); path == ConfigPath() && errors.Is(missing, fs.ErrNotExist) {
		if info, found := os.Stat(here); found == nil && info.Mode().IsRegular() {
			err = fmt.Errorf("%w; %s is here: -c %s", err, here, here)
		}
	}
	return Usage(err)
}
