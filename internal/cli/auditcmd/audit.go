// Package auditcmd has the verbs of the audit log: verify, query, tail, export, content and
// erasure.
package auditcmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// Command is the command that internal/cli mounts.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Verify, search, follow and export the audit log",
		Long: "Verify, search, follow and export the audit log: the directory that --dir names, or that of a\n" +
			"configuration. The gateway need not run, and may.",
	}
	var from auditSource
	f := cmd.PersistentFlags()
	f.StringVar(&from.dir, "dir", "", "`directory` of the log, telemetry.audit.dir")
	f.StringVarP(&from.config, "config", "c", "", "configuration `file` that says where it is")
	cmd.AddCommand(auditVerify(&from), auditQuery(&from), auditTail(&from), auditExport(&from),
		auditContent(&from), auditFind(&from), auditErase(&from))
	return cmd
}

// auditSource says which log is meant.
type auditSource struct{ dir, config string }

// open finds the log. A configuration also has the keys of an encrypted one.
func (a auditSource) open() (reader.Source, error) {
	if a.config == "" && a.dir == "" {
		return reader.Source{}, verb.Usage(errors.New("which log? Name its directory by --dir, or a configuration by -c"))
	}
	if a.config == "" {
		return audit.Config{Dir: a.dir}.Source(), nil
	}
	cfg, err := config.Load(a.config)
	if err != nil {
		return reader.Source{}, verb.Usage(err)
	}
	if a.dir != "" {
		cfg.Telemetry.Audit.Dir = a.dir
	}
	return cfg.Telemetry.Audit.Source(), nil
}
