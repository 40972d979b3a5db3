package plan_test

import (
	"fmt"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/plan"
)

func ExampleMake() {
	config := contiv.IPAMConfig{PodSubnetCIDR: "10.96.0.0/16", NodeInterconnectCIDR: "192.168.16.0/24"}
	p, err := plan.Make(plan.Contiv{Config: config}, plan.Cluster{Nodes: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Nodes, "nodes,", p.PodsPerNode, "pods each; first:", p.FirstOut.What)
	for _, f := range p.Findings {
		fmt.Println(f)
	}
	// Output:
	// 254 nodes, 252 pods each; first: nodeInterconnectCIDR 192.168.16.0/24
	// error service-range: podSubnetCIDR 10.96.0.0/16: it lies in serviceCIDR 10.96.0.0/12; move one of them
}

func ExampleWarm_Follow() {
	// A t3.small that always has an interface's worth of addresses ready, while pods come and go.
	w := plan.Warm{Sizing: datastore.Sizing{Targets: datastore.DefaultTargets(), ENIsMax: 3, UnitsPerENI: 3}}
	fmt.Print(plan.RowsText(w.Follow(0, 5, 2), false))
	// Output:
	// pods  ENIs  addresses  available  waiting  requests  addresses per ENI
	// 0     1     3          3          0        1         3
	// 5     3     9          4          0        2         3,3,3
	// 2     2     6          4          0        1         3,3
}
