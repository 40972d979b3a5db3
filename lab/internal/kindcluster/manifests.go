package kindcluster

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/vppdrill/vppdrill/fixtures/kubernetes"
)

// manifestsDir is where a control plane has the manifests; the overlay of this very cluster is in clusterOverlay.
const (
	manifestsDir   = "/kind/vppdrill"
	clusterOverlay = "overlays/cluster"
)

// Agents is how the agents of a cluster are set where somebody makes its nodes one by one. Its control plane has
// neither agent nor VPP and takes no pods.
type Agents struct {
	// Settings is the configuration file, Pools what the ConfigMap of ranges says, both as agents read them.
	Settings, Pools []byte
	// Flags are added to the agent's command line.
	Flags []string
	// ServiceSubnet is the range of the cluster's own services, of one or two families; empty is the same as without
	// agents of one's own.
	ServiceSubnet string
	// NodeCIDRs says that others than the controller manager give nodes their pod CIDRs.
	NodeCIDRs bool
}

// Where the settings are, for whoever changes them later.
const (
	Namespace   = "kube-system"
	PoolsConfig = "vppdrill-pools"
)

// HoldLabel keeps the agent off a node that has it, whatever its value, so that one who ends an agent can keep it down.
const HoldLabel = "vppdrill.github.io/held"

// overlay is the kustomization of one cluster: the image, whose ID has agents exchanged when it is another one under
// the same name, the ranges that the cluster got, and what its agents have of their own.
func (m *maker) overlay(imageID string) (string, error) {
	agents, families := m.Agents, ""
	ranges, err := json.Marshal(m.pools)
	if err != nil {
		return "", err
	}
	switch _, component := m.Families.manifest(); {
	case agents != nil:
		ranges = agents.Pools
	case component != "":
		families = "components: [" + component + "]\n"
	}
	out := fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../kind]
%spatches:
  - target: {kind: DaemonSet}
    patch: |
      - {op: replace, path: /spec/template/spec/containers/0/image, value: %q}
      - {op: add, path: /spec/template/metadata/annotations, value: {vppdrill.github.io/image-id: %q}}
  - target: {kind: ConfigMap, name: vppdrill-pools}
    patch: |
      - {op: replace, path: /data/pools, value: %q}
`, families, m.VPPImage, imageID, ranges)
	if agents == nil {
		return out, nil
	}
	out += fmt.Sprintf(`  - target: {kind: ConfigMap, name: vppdrill-agent}
    patch: |
      - {op: replace, path: /data/contiv.yaml, value: %q}
  - target: {kind: DaemonSet}
    patch: |
      - op: add
        path: /spec/template/spec/affinity
        value: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]}]}}}
  - target: {kind: DaemonSet, name: vppdrill-agent}
    patch: |
      - {op: add, path: /spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/-, value: {key: %q, operator: DoesNotExist}}
`, agents.Settings, HoldLabel)
	for _, flag := range agents.Flags {
		out += fmt.Sprintf("      - {op: add, path: /spec/template/spec/containers/0/args/-, value: %q}\n", flag)
	}
	return out, nil
}

// archive is the manifests, with this overlay, as a tar archive.
func archive(overlay string) (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(name string, text []byte) error {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}
	err := fs.WalkDir(kubernetes.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(kubernetes.Files, path)
		if err != nil {
			return err
		}
		return put(path, text)
	})
	if err == nil {
		err = put(clusterOverlay+"/kustomization.yaml", []byte(overlay))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack manifests: %w", err)
	}
	return &b, nil
}
