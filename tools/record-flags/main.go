// Prints every flag that a component of Kubernetes knows as JSON, those included that its --help does not show.
// It is built inside the module of a Kubernetes version (record.mjs lays it there), hence no go.mod of its own.
package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	// The programs' own main packages bring it in, and with it two flags.
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	commands := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllermanager.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	}
	type flagInfo struct {
		Usage  string `json:"usage"`
		Hidden bool   `json:"hidden,omitempty"`
	}
	flags := map[string]flagInfo{}
	commands[os.Args[1]]().Flags().VisitAll(func(flag *pflag.Flag) {
		flags[flag.Name] = flagInfo{Usage: flag.Usage, Hidden: flag.Hidden || flag.Deprecated != ""}
	})
	if err := json.NewEncoder(os.Stdout).Encode(flags); err != nil {
		panic(err)
	}
}
