package server

import "path/filepath"

// dataDir is the default of DataDir. systemd may list several directories in
// $STATE_DIRECTORY; the first one is ours. Without a home directory it is empty,
// which only matters to those who write there.
func dataDir(env func(string) string) string {
	if dirs := filepath.SplitList(env("STATE_DIRECTORY")); len(dirs) > 0 && dirs[0] != "" {
		return dirs[0]
	}
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "a2a-gateway")
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "a2a-gateway")
	}
	return ""
}
