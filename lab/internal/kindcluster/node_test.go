package kindcluster

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const oldControl = `apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
clusterName: x
---
apiVersion: kubeadm.k8s.io/v1beta3
controlPlane: {localAPIEndpoint: {bindPort: 6443}}
discovery: {bootstrapToken: {token: old}}
kind: JoinConfiguration
nodeRegistration:
  criSocket: unix:///run/containerd/containerd.sock
  kubeletExtraArgs: {node-ip: 172.18.0.2, provider-id: kind://docker/x/x-control-plane, v: "4"}
skipPhases: [preflight]
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupRoot: /kubelet
`

// Goal: a new worker's kubelet is told what the control plane's was, with its own name, address and token, in the
// version of kubeadm's files that kind wrote. Method: both shapes of kubelets' arguments, and files that say too
// little.
func TestJoinConfig(t *testing.T) {
	j := joining{cluster: "x", control: "x-control-plane", container: "x-worker2", node: "node-2", nodeIP: "172.18.0.9", token: "a.b",
		labels: map[string]string{"b": "2", "a": "1"}}
	newControl := strings.ReplaceAll(strings.Replace(oldControl, `{node-ip: 172.18.0.2, provider-id: kind://docker/x/x-control-plane, v: "4"}`,
		`[{name: node-ip, value: 172.18.0.2}, {name: v, value: "4"}]`, 1), "v1beta3", "v1beta4")
	for version, c := range map[string]struct {
		text string
		args any
	}{
		"v1beta3": {oldControl, map[string]any{"node-ip": "172.18.0.9", "provider-id": "kind://docker/x/x-worker2", "node-labels": "a=1,b=2", "v": "4"}},
		"v1beta4": {newControl, []any{map[string]any{"name": "v", "value": "4"}, map[string]any{"name": "node-ip", "value": "172.18.0.9"},
			map[string]any{"name": "node-labels", "value": "a=1,b=2"}, map[string]any{"name": "provider-id", "value": "kind://docker/x/x-worker2"}}},
	} {
		text, err := joinConfig([]byte(c.text), j)
		if err != nil {
			t.Fatal(err)
		}
		docs := strings.Split(string(text), "---\n")
		var have map[string]any
		if err := yaml.Unmarshal([]byte(docs[0]), &have); err != nil || len(docs) != 2 {
			t.Fatal(len(docs), err)
		}
		want := map[string]any{"apiVersion": "kubeadm.k8s.io/" + version, "kind": "JoinConfiguration", "skipPhases": []any{"preflight"},
			"nodeRegistration": map[string]any{"name": "node-2", "criSocket": "unix:///run/containerd/containerd.sock", "kubeletExtraArgs": c.args},
			"discovery":        map[string]any{"bootstrapToken": map[string]any{"apiServerEndpoint": "x-control-plane:6443", "token": "a.b", "unsafeSkipCAVerification": true}}}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("have %v\nwant %v", have, want)
		}
	}
	for _, bad := range []string{"", "kind: InitConfiguration", "kind: JoinConfiguration", "\t"} {
		if text, err := joinConfig([]byte(bad), j); err == nil {
			t.Errorf("%q makes %s", bad, text)
		}
	}
}

// Goal: workers are called as kind calls them.
func TestWorkerName(t *testing.T) {
	if a, b := workerName("c", 1), workerName("c", 2); a != "c-worker" || b != "c-worker2" {
		t.Error(a, b)
	}
}
