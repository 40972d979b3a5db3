package kindcluster

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"net/netip"

	"github.com/vppdrill/vppdrill/fixtures/kubernetes"
)

// manifestsDir is where a control plane has the manifests; the overlay of this very cluster is in clusterOverlay.
const (
	manifestsDir   = "/kind/vppdrill"
	clusterOverlay = "overlays/cluster"
)

// Ranges of a cluster's addresses. kind's own defaults for pods and services; the others are our manifests'.
const (
	podSubnet     = "10.244.0.0/16"
	serviceSubnet = "10.96.0.0/16"
)

// overlay is the kustomization of one cluster: the image, whose ID has agents exchanged when it is another one under the same name,
// and the wire that the cluster got.
func overlay(image, imageID string, wire netip.Prefix) string {
	return fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../kind]
patches:
  - target: {kind: DaemonSet}
    patch: |
      - {op: replace, path: /spec/template/spec/containers/0/image, value: %q}
      - {op: add, path: /spec/template/metadata/annotations, value: {vppdrill.github.io/image-id: %q}}
  - target: {kind: ConfigMap, name: vppdrill-pools}
    patch: |
      - op: replace
        path: /data/pools
        value: '{"generation": 1, "ipamConfig": {"useExternalIPAM": true, "podSubnetCIDR": %q, "podSubnetOneNodePrefixLen": 24,
          "vppHostSubnetCIDR": "172.30.0.0/16", "vppHostSubnetOneNodePrefixLen": 24, "nodeInterconnectCIDR": %q,
          "vxlanCIDR": "192.168.240.0/24", "serviceCIDR": %q}}'
`, image, imageID, podSubnet, wire, serviceSubnet)
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
