// Package api is what an operation of the admin API is made of: the row that declares it,
// the request on its way to an answer, the roles, and the errors with their codes.
//
// It owns what holds for all operations: parameters are known and there once, lists come in
// pages, a change is an event of the audit log before it is made. It does not own any
// operation, nor who comes in: screens declare operations, and package console serves them.
package api
