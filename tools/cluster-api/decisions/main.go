// Program decisions answers questions with the functions of upstream's kubeadm control plane provider that decide without a
// running cluster: what a Machine of a control plane is to look like, whether it is up to date, and what becomes of the objects
// that kubeadm wrote. It reads a JSON list of questions and writes the list of answers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/blang/semver/v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/desiredstate"
)

type question struct {
	Ask           string                             `json:"ask"`
	Now           *metav1.Time                       `json:"now"`
	Cluster       clusterv1.Cluster                  `json:"cluster"`
	ControlPlane  controlplanev1.KubeadmControlPlane `json:"controlPlane"`
	Machine       *clusterv1.Machine                 `json:"machine"`
	KubeadmConfig *bootstrapv1.KubeadmConfig         `json:"kubeadmConfig"`
	InfraMachine  *unstructured.Unstructured         `json:"infraMachine"`
	Templates     []*unstructured.Unstructured       `json:"templates"`
	Join          bool                               `json:"join"`
	ConfigMaps    []corev1.ConfigMap                 `json:"configMaps"`
	Deployment    *appsv1.Deployment                 `json:"deployment"`
	DaemonSet     *appsv1.DaemonSet                  `json:"daemonSet"`
}

type answer struct {
	UpToDate        *bool                      `json:"upToDate,omitempty"`
	Messages        []string                   `json:"messages,omitempty"`
	InPlaceEligible *bool                      `json:"inPlaceEligible,omitempty"`
	Machine         *clusterv1.Machine         `json:"machine,omitempty"`
	KubeadmConfig   *bootstrapv1.KubeadmConfig `json:"kubeadmConfig,omitempty"`
	InfraMachine    *unstructured.Unstructured `json:"infraMachine,omitempty"`
	ConfigMaps      []configMap                `json:"configMaps,omitempty"`
	Deployment      *appsv1.DeploymentSpec     `json:"deployment,omitempty"`
	Images          []string                   `json:"images,omitempty"`
	Bindings        []binding                  `json:"bindings,omitempty"`
	Error           string                     `json:"error,omitempty"`
}

type configMap struct {
	Name string            `json:"name"`
	Data map[string]string `json:"data"`
}

type binding struct {
	Name     string           `json:"name"`
	RoleRef  rbacv1.RoleRef   `json:"roleRef"`
	Subjects []rbacv1.Subject `json:"subjects"`
}

var scheme = runtime.NewScheme()

func main() {
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme,
		clusterv1.AddToScheme, controlplanev1.AddToScheme, bootstrapv1.AddToScheme,
	} {
		exitOn(add(scheme))
	}
	var questions []json.RawMessage
	exitOn(json.NewDecoder(os.Stdin).Decode(&questions))
	answers := make([]answer, 0, len(questions))
	for i, raw := range questions {
		q := question{}
		if err := json.Unmarshal(raw, &q); err != nil {
			exitOn(fmt.Errorf("question %d: %w", i, err))
		}
		a := answer{}
		if err := reply(context.Background(), &q, &a); err != nil {
			a.Error = err.Error()
		}
		answers = append(answers, a)
	}
	exitOn(json.NewEncoder(os.Stdout).Encode(answers))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func reply(ctx context.Context, q *question, a *answer) error {
	switch q.Ask {
	case "upToDate":
		return upToDate(ctx, q, a)
	case "desired":
		return desired(ctx, q, a)
	case "clusterConfiguration", "coreDNS", "kubeProxy", "permissions":
		return workload(ctx, q, a)
	}
	return fmt.Errorf("unknown question %q", q.Ask)
}

func upToDate(ctx context.Context, q *question, a *answer) error {
	infraMachines := map[string]*unstructured.Unstructured{}
	if q.InfraMachine != nil {
		infraMachines[q.Machine.Name] = q.InfraMachine
	}
	kubeadmConfigs := map[string]*bootstrapv1.KubeadmConfig{}
	if q.KubeadmConfig != nil {
		kubeadmConfigs[q.Machine.Name] = q.KubeadmConfig
	}
	ok, result, err := pkg.UpToDate(ctx, management(q), &q.Cluster, q.Machine, &q.ControlPlane, q.Now, infraMachines, kubeadmConfigs)
	if err != nil {
		return err
	}
	a.UpToDate = &ok
	a.Messages = result.ConditionMessages
	a.InPlaceEligible = &result.EligibleForInPlaceUpdate
	return nil
}

func desired(ctx context.Context, q *question, a *answer) error {
	domain := ""
	if q.Machine != nil {
		domain = q.Machine.Spec.FailureDomain
	}
	machine, err := desiredstate.ComputeDesiredMachine(&q.ControlPlane, &q.Cluster, domain, q.Machine)
	if err != nil {
		return err
	}
	config, err := desiredstate.ComputeDesiredKubeadmConfig(&q.ControlPlane, &q.Cluster, q.Join, machine.Name, q.KubeadmConfig)
	if err != nil {
		return err
	}
	a.Machine, a.KubeadmConfig = machine, config
	if len(q.Templates) == 0 {
		return nil
	}
	a.InfraMachine, err = desiredstate.ComputeDesiredInfraMachine(ctx, management(q), &q.ControlPlane, &q.Cluster, machine.Name, q.InfraMachine)
	return err
}

// management is a management cluster with the templates of the question and their kinds.
func management(q *question) client.Client {
	builder := fake.NewClientBuilder().WithScheme(scheme)
	seen := map[string]bool{}
	for _, template := range q.Templates {
		gvk := template.GroupVersionKind()
		name := unstructuredPlural(gvk.Kind) + "." + gvk.Group
		if !seen[name] {
			seen[name] = true
			builder = builder.WithObjects(&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
				Name:   name,
				Labels: map[string]string{"cluster.x-k8s.io/v1beta2": gvk.Version},
			}})
		}
		builder = builder.WithObjects(template)
	}
	return builder.Build()
}

func workload(ctx context.Context, q *question, a *answer) error {
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for i := range q.ConfigMaps {
		builder = builder.WithObjects(&q.ConfigMaps[i])
	}
	if q.Deployment != nil {
		builder = builder.WithObjects(q.Deployment)
	}
	if q.DaemonSet != nil {
		builder = builder.WithObjects(q.DaemonSet)
	}
	c := builder.Build()
	err := change(ctx, &pkg.Workload{Client: c, CoreDNSMigrator: &pkg.CoreDNSMigrator{}}, q)
	// What was written before the error counts too.
	if readErr := readBack(ctx, c, q, a); readErr != nil {
		return readErr
	}
	return err
}

func change(ctx context.Context, w *pkg.Workload, q *question) error {
	version, err := semver.ParseTolerant(q.ControlPlane.Spec.Version)
	if err != nil {
		return err
	}
	switch q.Ask {
	case "coreDNS":
		return w.UpdateCoreDNS(ctx, &q.ControlPlane)
	case "kubeProxy":
		return w.UpdateKubeProxyImageInfo(ctx, &q.ControlPlane)
	case "permissions":
		return w.EnsureKubeadmPermissions(ctx, version)
	}
	// The same calls in the same order as updateControlPlane of the reconciler, which needs a whole manager.
	spec := q.ControlPlane.Spec.KubeadmConfigSpec
	configuration := spec.ClusterConfiguration
	mutators := []func(*bootstrapv1.ClusterConfiguration){}
	if configuration.IsDefined() {
		mutators = append(mutators,
			w.UpdateImageRepositoryInKubeadmConfigMap(pkg.ImageRepositoryFromClusterConfig(configuration)),
			w.UpdateFeatureGatesInKubeadmConfigMap(spec, version),
			w.UpdateAPIServerInKubeadmConfigMap(configuration.APIServer),
			w.UpdateControllerManagerInKubeadmConfigMap(configuration.ControllerManager),
			w.UpdateSchedulerInKubeadmConfigMap(configuration.Scheduler),
			w.UpdateCertificateValidityPeriodDays(configuration.CertificateValidityPeriodDays),
			w.UpdateEncryptionAlgorithm(configuration.EncryptionAlgorithm))
		if !configuration.Etcd.External.IsDefined() {
			mutators = append(mutators, w.UpdateEtcdLocalInKubeadmConfigMap(configuration.Etcd.Local))
		} else {
			mutators = append(mutators, w.UpdateEtcdExternalInKubeadmConfigMap(configuration.Etcd.External))
		}
	}
	return w.UpdateClusterConfiguration(ctx, version, mutators...)
}

func readBack(ctx context.Context, c client.Client, q *question, a *answer) error {
	for _, given := range q.ConfigMaps {
		now := corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(&given), &now); err != nil {
			return err
		}
		a.ConfigMaps = append(a.ConfigMaps, configMap{Name: now.Name, Data: now.Data})
	}
	if q.Deployment != nil {
		now := appsv1.Deployment{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(q.Deployment), &now); err != nil {
			return err
		}
		a.Deployment = &now.Spec
	}
	if q.DaemonSet != nil {
		now := appsv1.DaemonSet{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(q.DaemonSet), &now); err != nil {
			return err
		}
		for _, container := range now.Spec.Template.Spec.Containers {
			a.Images = append(a.Images, container.Image)
		}
	}
	bindings := rbacv1.ClusterRoleBindingList{}
	if err := c.List(ctx, &bindings); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	for _, each := range bindings.Items {
		a.Bindings = append(a.Bindings, binding{Name: each.Name, RoleRef: each.RoleRef, Subjects: each.Subjects})
	}
	return nil
}

func unstructuredPlural(kind string) string {
	plural := []byte{}
	for _, c := range []byte(kind) {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		plural = append(plural, c)
	}
	return string(plural) + "s"
}
