// Package approvals is the screen of the console where people agree to calls that wait for approval, or
// reject them, and its operations of the admin API.
package approvals
