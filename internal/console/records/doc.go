// Package records is the audit log in the admin API: records that are looked for, shown as they
// are made, exported, verified, and counted for the map and for the course of an agent.
//
// It owns these screens and what they ask of the log, which stands behind Records. It writes no
// record.
package records
