package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

// node holds what matters of a v1 Node.
type node struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		PodCIDR string `json:"podCIDR"`
	} `json:"spec"`
	Status struct {
		Addresses []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"addresses"`
	} `json:"status"`
}

func (n node) internalIP() string {
	for _, address := range n.Status.Addresses {
		if address.Type == "InternalIP" {
			return address.Address
		}
	}
	return ""
}

// client talks to the API server with the pod's service account.
type client struct {
	http *http.Client
	base string
}

func inCluster() (*client, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	ca, err := os.ReadFile(serviceAccount + "ca.crt")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &client{
		base: "https://" + net.JoinHostPort(host, port),
		http: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool},
			// Before kube-proxy knows the Service no endpoint answers there, and the kernel keeps sending this connection astray.
			DialContext:           (&net.Dialer{Timeout: 500 * time.Millisecond}).DialContext,
			TLSHandshakeTimeout:   2 * time.Second,
			ResponseHeaderTimeout: 5 * time.Second,
		}},
	}, nil
}

// follow lists the nodes, then watches them, and calls changed with all of them after the list and every event. It returns without
// an error when the server closes the watch.
func (c *client) follow(ctx context.Context, changed func(map[string]node) error) error {
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []node `json:"items"`
	}
	if err := c.get(ctx, url.Values{}, func(decoder *json.Decoder) error { return decoder.Decode(&list) }); err != nil {
		return err
	}
	nodes := map[string]node{}
	for _, item := range list.Items {
		nodes[item.Metadata.Name] = item
	}
	if err := changed(nodes); err != nil {
		return err
	}
	watch := url.Values{"watch": {"1"}, "resourceVersion": {list.Metadata.ResourceVersion}, "timeoutSeconds": {"300"}}
	return c.get(ctx, watch, func(decoder *json.Decoder) error {
		for decoder.More() {
			var event struct {
				Type   string `json:"type"`
				Object node   `json:"object"`
			}
			if err := decoder.Decode(&event); err != nil {
				return err
			}
			switch event.Type {
			case "ADDED", "MODIFIED":
				nodes[event.Object.Metadata.Name] = event.Object
			case "DELETED":
				delete(nodes, event.Object.Metadata.Name)
			default: // ERROR: the revision is too old, list again
				return nil
			}
			if err := changed(nodes); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *client) get(ctx context.Context, query url.Values, read func(*json.Decoder) error) error {
	// Read again every time: the kubelet renews the token in place.
	token, err := os.ReadFile(serviceAccount + "token")
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v1/nodes?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("nodes: %s", response.Status)
	}
	return read(json.NewDecoder(response.Body))
}
