//go:build !unix

package servecmd

import (
	"context"
	"errors"
	"os"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// upgrade is for systems where a process can turn into another program.
type upgrade struct{}

func awaitUpgrade(string) (*upgrade, error) { return nil, nil }

func (*upgrade) asked() <-chan os.Signal                     { return nil }
func (*upgrade) done()                                       {}
func (*upgrade) check(context.Context) error                 { return errors.ErrUnsupported }
func (*upgrade) run(context.Context, *gateway.Gateway) error { return errors.ErrUnsupported }
