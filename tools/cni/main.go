// A pod network in three files, for tests: it watches Nodes and keeps this node's CNI configuration, the routes to the other
// nodes' pods and one masquerade rule in step with them. All nodes must share one layer 2 network, unless VXLAN_PORT says that their
// pods reach each other through a VXLAN tunnel.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	configDir = "/etc/cni/net.d"
	retry     = 250 * time.Millisecond
)

func main() {
	log.SetFlags(log.LUTC | log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	name, clusterCIDR := os.Getenv("NODE_NAME"), os.Getenv("CLUSTER_CIDR")
	if name == "" || clusterCIDR == "" {
		log.Fatal("NODE_NAME (from spec.nodeName) and CLUSTER_CIDR (the cluster's pod CIDR) must be set")
	}
	vxlanPort := 0
	if text := os.Getenv("VXLAN_PORT"); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			log.Fatalf("VXLAN_PORT must be a UDP port, not %q", text)
		}
		vxlanPort = int(port)
	}
	api, err := inCluster()
	if err != nil {
		log.Fatal(err)
	}
	for ctx.Err() == nil {
		err := api.follow(ctx, func(nodes map[string]node) error {
			return reconcile(ctx, planFor(name, clusterCIDR, vxlanPort, nodes))
		})
		if err != nil && ctx.Err() == nil {
			log.Printf("again in %s: %v", retry, err)
			select {
			case <-ctx.Done():
			case <-time.After(retry):
			}
		}
	}
}
