// Package auditcmd has the verbs of the audit log: verify, query, tail, export, content,
// find-subject and erase.
//
// All of them work on the files of the log, which are opened for reading, so that an auditor can
// run them on a copy, on another machine and without the gateway. What a gateway writes meanwhile
// does no harm: records are appended, and a line that is not whole yet is not read. Two verbs
// change something: query keeps an index beside the segments, and erase destroys keys of captured
// content. erase and find-subject can also ask a running gateway, by its admin API (--admin).
//
// Records go to standard output, one JSON object a line, so that they can be piped into jq;
// whatever is said about them goes to standard error. The exit codes are those of
// internal/cli/verb:
//
//	0  done; for query also where no record was found
//	1  verify found something, or reading failed on the way
//	2  a flag is wrong, or there is no log where one was named
package auditcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// Command is `a2a-gateway audit`, which internal/cli mounts. The flags that say which log is meant
// are persistent: every verb below has them.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Verify, search, follow and export the audit log",
		Long: "Verify, search, follow and export the audit log. --dir names its directory, or --config names a\n" +
			"configuration with the directory. The commands work whether the gateway runs or not.",
	}
	var from auditSource
	f := cmd.PersistentFlags()
	f.StringVar(&from.dir, "dir", "", "`directory` of the log, telemetry.audit.dir")
	f.StringVarP(&from.config, "config", "c", "", "configuration `file` with the directory")
	cmd.AddCommand(auditVerify(&from), auditQuery(&from), auditTail(&from), auditExport(&from),
		auditContent(&from), auditFind(&from), auditErase(&from))
	return cmd
}

// auditSource says which log is meant, as --dir and -c do. With both, the directory is that of
// --dir and all else the configuration's: a copy of the log is then read with the keys of the
// gateway that wrote it.
type auditSource struct{ dir, config string }

// open finds the log; it does not look whether there is one. A configuration also has the keys of
// an encrypted log (telemetry.audit.encryption). With a directory alone records that are encrypted
// cannot be read, and verbs say so at the first one.
//
// There is no default: a verb that guessed a directory could report an empty log as sound.
func (a auditSource) open() (reader.Source, error) {
	if a.config == "" && a.dir == "" {
		return reader.Source{}, verb.Usage(errors.New("which log? Name its directory by --dir, or a configuration by -c"))
	}
	if a.config == "" {
		return audit.Config{Dir: a.dir}.Source(), nil
	}
	cfg, err := config.Load(a.config)
	if err != nil {
		return reader.Source{}, verb.Usage(a.unread(err))
	}
	// A copy elsewhere, and the keys of the configuration.
	if a.dir != "" {
		cfg.Telemetry.Audit.Dir = a.dir
	}
	return cfg.Telemetry.Audit.Source(), nil
}

// unread adds to the error of a configuration how the log is read without it. What is sealed or encrypted
// stays closed then, as only a configuration says where the keys are.
func (a auditSource) unread(err error) error {
	if a.dir != "" {
		return fmt.Errorf("%w\n--dir %s alone, without -c, reads the log without the configuration", err, a.dir)
	}
	return fmt.Errorf("%w\n--dir DIR in place of -c reads the log without the configuration", err)
}
