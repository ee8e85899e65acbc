package console

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/durable"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Files below server.dataDir, by which commands on the same machine find a running
// gateway and get in.
const (
	TokenFile   = "admin.token"   // the token, where the configuration has none
	AddressFile = "admin.address" // host and port, where the configuration leaves the port open
)

// longestFile bounds what is read: each of them is one line.
const longestFile = 1 << 10

// keptToken is the one in the file. Where there is no file it makes one. The file is
// written whole and then renamed into place (durable.Replace), with permissions for its
// owner alone: a command that reads it meanwhile sees no half of a token.
func keptToken(path string) (secret.Value, error) {
	token, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return secret.Value{}, fmt.Errorf("make directory: %w", err)
	}
	text := rand.Text() + rand.Text() // 260 bits
	if err := durable.Replace(path, []byte(text+"\n")); err != nil {
		return secret.Value{}, err
	}
	return secret.New(text), nil
}

// ReadToken reads the gateway's own file with a token, TokenFile of its data directory. One that every
// user of the machine can read, or write, is refused: it is a secret no more, and the gateway makes
// another where the file is removed. The group may read it: that is how operators on a machine are given
// the token. On Windows permissions are not in the mode, and are not looked at.
func ReadToken(path string) (secret.Value, error) {
	return readToken(path, "remove it, and the gateway makes another at its next start")
}

// ReadGivenToken is ReadToken for a file that an operator has made, of which there is no other copy: the
// error for one that every user can read says how to take it from them.
func ReadGivenToken(path string) (secret.Value, error) { return readToken(path, "chmod 600 "+path) }

// readToken is both; remedy is what the error for a file that every user can read says to do.
func readToken(path, remedy string) (secret.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return secret.Value{}, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o007 != 0 {
		return secret.Value{}, fmt.Errorf("%s: every user can read it (mode %04o); %s", path, mode, remedy)
	}
	text, err := readLine(path)
	if err != nil {
		return secret.Value{}, err
	}
	token := secret.New(text)
	if err := validateToken(token); err != nil || token.IsZero() {
		return secret.Value{}, fmt.Errorf("%s: holds no token", path)
	}
	return token, nil
}

// ReadAddress reads the file that names where the gateway listens. It is host:port, and is
// there only while the gateway runs.
func ReadAddress(path string) (string, error) {
	text, err := readLine(path)
	if err != nil {
		return "", err
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return "", fmt.Errorf("%s: holds no address", path)
	}
	return text, nil
}

// readLine is the first kilobyte of a file, without white space around it.
func readLine(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's directory
	if err != nil {
		return "", err
	}
	defer f.Close() // only read from
	data, err := io.ReadAll(io.LimitReader(f, longestFile))
	return strings.TrimSpace(string(data)), err
}

// announced reports whether the address has to be looked up. That is so where the port is
// 0.
func (s *Console) announced() bool {
	_, port, err := net.SplitHostPort(s.config.Address)
	return err == nil && strings.Trim(port, "0") == ""
}

// announce writes the address that the system chose into its file.
func (s *Console) announce() error {
	if !s.announced() {
		return nil
	}
	return durable.Replace(filepath.Join(s.Dir, AddressFile), []byte(s.listener.Addr().String()+"\n"))
}
