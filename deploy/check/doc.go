// Package check holds what is shipped for deployment against the programs that it is for:
// the chart against Helm and the types of Kubernetes, the base against kustomize, the compose
// file against the specification's own reader, packages against nfpm, and every configuration
// in them against a2a-gateway itself. It is a module of its own, so that none of these are
// modules of the gateway's, and has tests only.
package check
