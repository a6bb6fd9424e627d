package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// routeProtocol marks our routes, so that stale ones can be distinguished from other routes.
const routeProtocol = "89"

// plan is everything this node's network should be.
type plan struct {
	podCIDR     string // empty until the controller manager has given this node one
	clusterCIDR string
	routes      map[string]string // pod CIDR of another node to that node's address
	address     string            // of this node
	vxlanPort   int               // 0: the nodes share a layer 2 network
}

func planFor(name, clusterCIDR string, vxlanPort int, nodes map[string]node) plan {
	self := nodes[name]
	result := plan{podCIDR: self.Spec.PodCIDR, clusterCIDR: clusterCIDR, routes: map[string]string{}, address: self.internalIP(), vxlanPort: vxlanPort}
	for other, each := range nodes {
		if other != name && each.Spec.PodCIDR != "" && each.internalIP() != "" {
			result.routes[each.Spec.PodCIDR] = each.internalIP()
		}
	}
	return result
}

// applied is the last plan that is known to be in place; Node events are mostly heartbeats.
var applied string

func reconcile(ctx context.Context, wanted plan) error {
	if wanted.podCIDR == "" || wanted.address == "" {
		return nil
	}
	fingerprint := fmt.Sprint(wanted)
	if fingerprint == applied {
		return nil
	}
	mtu := 0
	if wanted.vxlanPort != 0 {
		var err error
		if mtu, err = ensureTunnel(ctx, wanted); err != nil {
			return err
		}
	}
	if err := syncRoutes(ctx, wanted); err != nil {
		return err
	}
	if err := run(ctx, masqueradeRules(wanted), "nft", "-f", "-"); err != nil {
		return err
	}
	// Last: with this file the node becomes Ready.
	if err := writeConfig(wanted.podCIDR, mtu); err != nil {
		return err
	}
	applied = fingerprint
	log.Printf("pods of this node in %s, routes to %d other nodes", wanted.podCIDR, len(wanted.routes))
	return nil
}

func syncRoutes(ctx context.Context, wanted plan) error {
	routes := wanted.routes
	have, err := exec.CommandContext(ctx, "ip", "-4", "route", "show", "proto", routeProtocol).Output()
	if err != nil {
		return fmt.Errorf("ip route show: %w", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(have)), "\n") {
		if destination, _, _ := strings.Cut(line, " "); destination != "" && routes[destination] == "" {
			if err := run(ctx, "", "ip", "route", "del", destination, "proto", routeProtocol); err != nil {
				return err
			}
		}
	}
	for destination, address := range routes {
		next := []string{"via", address}
		if wanted.vxlanPort != 0 {
			var err error
			if next, err = tunnelTo(ctx, destination, address); err != nil {
				return err
			}
		}
		arguments := append([]string{"route", "replace", destination, "proto", routeProtocol}, next...)
		if err := run(ctx, "", "ip", arguments...); err != nil {
			return err
		}
	}
	return nil
}

// masqueradeRules let pods reach what lies outside the cluster with their node's address; nft applies them as one transaction.
func masqueradeRules(wanted plan) string {
	return fmt.Sprintf(`add table ip e2e-cni
delete table ip e2e-cni
table ip e2e-cni {
  chain postrouting {
    type nat hook postrouting priority srcnat;
    ip saddr %s ip daddr != %s masquerade
  }
}
`, wanted.podCIDR, wanted.clusterCIDR)
}

func writeConfig(podCIDR string, mtu int) error {
	type object = map[string]any
	config, err := json.MarshalIndent(object{
		"cniVersion": "1.0.0",
		"name":       "e2e-cni",
		"plugins": []object{
			{
				"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true, "mtu": mtu,
				"ipam": object{
					"type":   "host-local",
					"ranges": [][]object{{{"subnet": podCIDR}}},
					"routes": []object{{"dst": "0.0.0.0/0"}},
				},
			},
			{"type": "portmap", "capabilities": object{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(configDir, "10-e2e-cni.conflist")
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, config) {
		return nil
	}
	// The runtime reads the folder at any moment, so the file appears whole or not at all.
	temporary := filepath.Join(configDir, ".e2e-cni.new")
	if err := os.WriteFile(temporary, config, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}

func run(ctx context.Context, input string, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Stdin = strings.NewReader(input)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}
