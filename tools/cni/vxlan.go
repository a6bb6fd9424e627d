package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

const (
	tunnel = "e2e-vxlan"
	// Ethernet, IPv4, UDP and VXLAN headers around every packet.
	tunnelOverhead = 50
)

// tunnelEnd is where packets for a node's pods go. It follows from the Node, so that nodes need not tell each other.
type tunnelEnd struct {
	address string // the first of its pod CIDR, which no pod gets
	mac     string
}

func endOf(podCIDR, nodeAddress string) (tunnelEnd, error) {
	prefix, err := netip.ParsePrefix(podCIDR)
	if err != nil {
		return tunnelEnd{}, fmt.Errorf("pod CIDR: %w", err)
	}
	address, err := netip.ParseAddr(nodeAddress)
	if err != nil || !address.Is4() {
		return tunnelEnd{}, fmt.Errorf("node address %s is not IPv4", nodeAddress)
	}
	b := address.As4()
	return tunnelEnd{address: prefix.Masked().Addr().String(), mac: fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])}, nil
}

// ensureTunnel makes this node's end of the tunnel, anew if the node's address has changed. It returns the MTU that pods may use.
func ensureTunnel(ctx context.Context, wanted plan) (int, error) {
	end, err := endOf(wanted.podCIDR, wanted.address)
	if err != nil {
		return 0, err
	}
	mtu, err := mtuOf(ctx, wanted.address)
	if err != nil {
		return 0, err
	}
	mtu -= tunnelOverhead
	port := strconv.Itoa(wanted.vxlanPort)
	shown, _ := exec.CommandContext(ctx, "ip", "-d", "link", "show", tunnel).Output()
	if text := string(shown); !strings.Contains(text, " local "+wanted.address+" ") || !strings.Contains(text, " dstport "+port+" ") {
		if len(shown) > 0 {
			if err := run(ctx, "", "ip", "link", "del", tunnel); err != nil {
				return 0, err
			}
		}
		if err := run(ctx, "", "ip", "link", "add", tunnel, "type", "vxlan", "id", "1", "local", wanted.address, "dstport", port, "nolearning"); err != nil {
			return 0, err
		}
	}
	if err := run(ctx, "", "ip", "link", "set", tunnel, "address", end.mac, "mtu", strconv.Itoa(mtu), "up"); err != nil {
		return 0, err
	}
	return mtu, run(ctx, "", "ip", "addr", "replace", end.address+"/32", "dev", tunnel)
}

// tunnelTo says where packets for another node's pods leave the tunnel, and returns the route's next hop.
func tunnelTo(ctx context.Context, podCIDR, nodeAddress string) ([]string, error) {
	end, err := endOf(podCIDR, nodeAddress)
	if err != nil {
		return nil, err
	}
	if err := run(ctx, "", "ip", "neigh", "replace", end.address, "lladdr", end.mac, "dev", tunnel, "nud", "permanent"); err != nil {
		return nil, err
	}
	if err := run(ctx, "", "bridge", "fdb", "replace", end.mac, "dev", tunnel, "dst", nodeAddress); err != nil {
		return nil, err
	}
	return []string{"via", end.address, "dev", tunnel, "onlink"}, nil
}

// mtuOf returns the MTU of the link that has the node's address.
func mtuOf(ctx context.Context, address string) (int, error) {
	out, err := exec.CommandContext(ctx, "ip", "-o", "-4", "addr", "show", "to", address+"/32").Output()
	if err != nil {
		return 0, fmt.Errorf("ip addr show: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return 0, fmt.Errorf("no link has the node's address %s", address)
	}
	text, err := os.ReadFile("/sys/class/net/" + fields[1] + "/mtu")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
