package audit

import (
	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// readers are those of the kinds that are known, each with its group: a system's records have a row here.
var readers = map[string]Reader{
	"Service": readService, "DaemonSet.apps": readDaemonSet,
	"ServiceCIDR.networking.k8s.io": readServiceCIDR, "IPAddress.networking.k8s.io": readIPAddress,
	"NetworkAttachmentDefinition.k8s.cni.cncf.io": readAttachment,

	"IPAMBlock.crd.projectcalico.org":     readCalicoBlock,
	"BlockAffinity.crd.projectcalico.org": readCalicoAffinity,
	"IPAMHandle.crd.projectcalico.org":    readCalicoHandle,
	"IPPool.crd.projectcalico.org":        readCalicoPool,
	"IPReservation.crd.projectcalico.org": readCalicoReservation,

	"CiliumNode.cilium.io": readCiliumNode, "CiliumPodIPPool.cilium.io": readCiliumPool,
	"PoolNode.vppdrill.github.io": readCiliumNode, "NodeIDRecord.vppdrill.github.io": readNodeID,

	"ENIConfig.crd.k8s.amazonaws.com": readENIConfig, "CNINode.vpcresources.k8s.aws": readNothing,
	kubectl.IPAMD: readIPAMD,

	"IPPool.whereabouts.cni.cncf.io":                        readWhereaboutsPool,
	"OverlappingRangeIPReservation.whereabouts.cni.cncf.io": readWhereaboutsReservation,

	"Subnet.kubeovn.io": readKubeOVNSubnet, "IP.kubeovn.io": readKubeOVNIP, "Vpc.kubeovn.io": readNothing,

	"IPPool.crd.antrea.io": readAntreaPool, "AntreaAgentInfo.crd.antrea.io": readNothing,
}

// bare are the readers of objects whose group nothing says; IPPools of different groups tell themselves apart.
var bare = map[string]Reader{
	"ServiceCIDR": readServiceCIDR, "IPAddress": readIPAddress, "DaemonSet": readDaemonSet,
	"NetworkAttachmentDefinition": readAttachment,
	"IPAMBlock":                   readCalicoBlock, "BlockAffinity": readCalicoAffinity, "IPAMHandle": readCalicoHandle,
	"IPReservation": readCalicoReservation,
	"CiliumNode":    readCiliumNode, "CiliumPodIPPool": readCiliumPool, "PoolNode": readCiliumNode,
	"NodeIDRecord": readNodeID,
	"ENIConfig":    readENIConfig, "OverlappingRangeIPReservation": readWhereaboutsReservation,
	"Subnet": readKubeOVNSubnet, "IP": readKubeOVNIP, "Vpc": readNothing, "IPPool": readAnyPool,
}

// readNothing is the reader of objects that show a system and no address.
func readNothing(*Objects, kubectl.Object) error { return nil }

func readAnyPool(o *Objects, one kubectl.Object) error {
	var spec struct {
		Range    string
		IPRanges []any
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	switch {
	case spec.Range != "":
		return readWhereaboutsPool(o, one)
	case len(spec.IPRanges) > 0:
		return readAntreaPool(o, one)
	}
	return readCalicoPool(o, one)
}

func readDaemonSet(o *Objects, one kubectl.Object) error {
	o.now.daemon = one.Metadata.Name
	return nil
}
