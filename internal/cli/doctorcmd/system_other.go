//go:build !linux && !darwin

package doctorcmd

import "os"

// writable goes by the permission bits, which is all that every system has.
func writable(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		return os.ErrPermission
	}
	return err
}

// space is not known here.
func space(string) (free uint64, known bool) { return 0, false }

// openFiles is not limited here, as far as is known.
func openFiles() int { return 0 }
