//go:build tools

// Package tools names the program that is built from this module, so that `go mod tidy` keeps its dependencies. It is a module of
// its own: it needs other versions of Cluster API's libraries than the managers do.
package tools

import _ "sigs.k8s.io/cluster-api-ipam-provider-in-cluster"
