package main

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestPlanSkipsNodesWithoutAddressOrPodCIDR(t *testing.T) {
	nodes := map[string]node{}
	for name, text := range map[string]string{
		"self":       `{"spec": {"podCIDR": "10.244.0.0/24"}, "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}`,
		"other":      `{"spec": {"podCIDR": "10.244.1.0/24"}, "status": {"addresses": [{"type": "Hostname", "address": "other"}, {"type": "InternalIP", "address": "10.0.0.2"}]}}`,
		"no-cidr":    `{"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.3"}]}}`,
		"no-address": `{"spec": {"podCIDR": "10.244.2.0/24"}}`,
	} {
		var each node
		if err := json.Unmarshal([]byte(text), &each); err != nil {
			t.Fatal(err)
		}
		nodes[name] = each
	}
	got := planFor("self", "10.244.0.0/16", 4789, nodes)
	want := plan{podCIDR: "10.244.0.0/24", clusterCIDR: "10.244.0.0/16", routes: map[string]string{"10.244.1.0/24": "10.0.0.2"}, address: "10.0.0.1", vxlanPort: 4789}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEndOfTunnelFollowsFromTheNode(t *testing.T) {
	got, err := endOf("10.244.3.0/24", "192.168.1.20")
	if want := (tunnelEnd{address: "10.244.3.0", mac: "02:00:c0:a8:01:14"}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, wrong := range [][2]string{{"10.244.3.0", "192.168.1.20"}, {"10.244.3.0/24", "fd00::1"}} {
		if got, err := endOf(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v: got %+v, want an error", wrong, got)
		}
	}
}
