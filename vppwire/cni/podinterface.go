//go:build linux

package cni

import "encoding/json"

// annotationsCapability is the capability by which containerd passes a pod's annotations on.
const annotationsCapability = "io.kubernetes.cri.pod-annotations"

// InterfaceAnnotation is the annotation of a pod that names the interface it wants: "memif" or "memif-master".
const InterfaceAnnotation = "vppdrill.github.io/pod-interface"

// podInterface is what the network or, where that says nothing, the pod's annotation asks for. The agent knows the words.
func (c *Netconf) podInterface() (string, *failure) {
	if annotations := c.RuntimeConfig[annotationsCapability]; c.PodInterface == "" && !empty(annotations) {
		var of map[string]string
		if err := json.Unmarshal(annotations, &of); err != nil {
			return "", undecodable("runtimeConfig."+annotationsCapability, err)
		}
		return of[InterfaceAnnotation], nil
	}
	return c.PodInterface, nil
}
