//go:build !unix

package sockets

import (
	"errors"
	"net"
)

func duplicate(net.Listener) (int, error) {
	return 0, errors.ErrUnsupported
}
