//go:build tools

// Package tools names the programs that are built from this module, so that `go mod tidy` keeps their dependencies.
package tools

import (
	_ "go.etcd.io/etcd/etcdutl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
