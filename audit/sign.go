package audit

import (
	"path/filepath"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// SignWith gives the log the keys that sign its checkpoints. Until then there are none.
func (l *Log) SignWith(k Keys) {
	distrust := unsignedRemovals(l.config.Source(), k.JWKS(), l.Seq())
	l.file.Lock()
	l.signer, l.distrust = &signer{keys: k, gateway: l.id}, distrust
	l.file.Unlock()
	l.recordDistrust()
	// From the beginning there is a head, so that it is missed when it goes.
	if h, err := chain.ReadHead(filepath.Join(l.config.Dir, chain.HeadFile)); h == nil && err == nil {
		_ = l.disk.head(l.config.Dir, &chain.Head{}) // the first checkpoint tells whether it can be written
	}
}
