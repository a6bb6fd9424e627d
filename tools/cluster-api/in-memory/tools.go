//go:build tools

// Package tools names the program that is built from this module, so that `go mod tidy` keeps its dependencies.
package tools

import (
	_ "sigs.k8s.io/cluster-api/test/infrastructure/docker"
)
