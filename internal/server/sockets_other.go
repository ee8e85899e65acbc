//go:build !unix

package server

import (
	"errors"
	"net"
)

func duplicate(net.Listener) (int, error) {
	return 0, errors.ErrUnsupported
}
