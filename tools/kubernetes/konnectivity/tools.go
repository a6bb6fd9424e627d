//go:build tools

// Package tools names the programs that are built from this module, so that `go mod tidy` keeps their dependencies.
package tools

import (
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/agent"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
)
