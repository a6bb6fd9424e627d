// Reads texts as JSON strings, one in a line, and prints for each how Kubernetes' reader of YAML understands it, as JSON.
// It is built inside the module of a Kubernetes version (record.mjs lays it there), hence no go.mod of its own.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

// As in plugin/pkg/admission/imagepolicy of Kubernetes: encoding/json does not distinguish capital letters from small ones here.
type admission struct {
	Plugins []struct {
		Configuration struct {
			ImagePolicy struct {
				KubeConfigFile string `json:"kubeConfigFile"`
			} `json:"imagePolicy"`
		} `json:"configuration"`
	} `json:"plugins"`
}

type reading struct {
	Read           json.RawMessage `json:"read,omitempty"`
	KubeConfigFile string          `json:"kubeConfigFile,omitempty"`
	Refused        bool            `json:"refused,omitempty"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	buffered := bufio.NewWriter(os.Stdout)
	out := json.NewEncoder(buffered)
	for in.More() {
		var text string
		if err := in.Decode(&text); err != nil {
			panic(err)
		}
		var result reading
		if read, err := yaml.YAMLToJSON([]byte(text)); err == nil {
			result.Read = read
			var config admission
			if yaml.Unmarshal([]byte(text), &config) == nil && len(config.Plugins) > 0 {
				result.KubeConfigFile = config.Plugins[0].Configuration.ImagePolicy.KubeConfigFile
			}
		} else {
			result.Refused = true
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
	if err := buffered.Flush(); err != nil {
		panic(err)
	}
}
