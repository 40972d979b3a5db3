package audit

import (
	"encoding/json"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// networkStatus are the annotations in which Multus, and who does as it does, says which interfaces a pod has: the
// present name, and one of older releases.
var networkStatus = []string{"k8s.v1.cni.cncf.io/network-status", "k8s.v1.cni.cncf.io/networks-status"}

// secondFaces are the addresses of a pod's second interfaces, each of its network; told: something says them.
func secondFaces(annotations map[string]string) (list []face, told bool) {
	for _, key := range networkStatus {
		var status []struct {
			Name    string
			IPs     []string
			Default bool
		}
		if annotations[key] == "" || json.Unmarshal([]byte(annotations[key]), &status) != nil {
			continue
		}
		for _, s := range status {
			if s.Default {
				continue
			}
			for _, a := range kubectl.Addrs(s.IPs...) {
				if !a.IsLinkLocalUnicast() && !a.IsLoopback() {
					list = append(list, face{addr: a, network: s.Name, second: true})
				}
			}
		}
		return list, true
	}
	return nil, false
}

// attachment is a network of second interfaces; local: it ends at its node.
type attachment struct {
	name  string
	local bool
}

// readAttachment reads whether a network ends at its node, so that each node may have the same addresses in it.
func readAttachment(o *Objects, one kubectl.Object) error {
	var spec struct{ Config string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	o.now.attachment = &attachment{name: one.Metadata.Namespace + "/" + one.Metadata.Name}
	type plugin struct {
		Type                        string
		IsGateway, IsDefaultGateway bool
	}
	var config struct {
		plugin
		Plugins []plugin
	}
	if json.Unmarshal([]byte(spec.Config), &config) != nil {
		return nil // a name of a file on the nodes, or nothing
	}
	first := config.plugin
	if len(config.Plugins) > 0 {
		first = config.Plugins[0]
	}
	o.now.attachment.local = first.Type == "ptp" || first.Type == "bridge" && (first.IsGateway || first.IsDefaultGateway)
	return nil
}
