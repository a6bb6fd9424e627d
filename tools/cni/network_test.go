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
	got := planFor("self", "10.244.0.0/16", nodes)
	want := plan{podCIDR: "10.244.0.0/24", clusterCIDR: "10.244.0.0/16", routes: map[string]string{"10.244.1.0/24": "10.0.0.2"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
