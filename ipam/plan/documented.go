package plan

import (
	"slices"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Documented is one row of the tables in upstream's documentation (amazon-vpc-cni-k8s docs/eni-and-ip-target.md and,
// with prefix delegation, docs/prefix-and-ip-target.md), beside what this package works out.
type Documented struct {
	InstanceType string            `json:"instanceType"`
	Targets      datastore.Targets `json:"targets"`
	Prefixes     bool              `json:"prefixDelegation"`
	Pods         int               `json:"pods"`
	// Documented and Worked are interfaces, addresses or prefixes, unused addresses.
	Documented Figures `json:"documented"`
	Worked     Figures `json:"worked"`
	// Note is why the two differ, where they do: what the document contradicts itself about.
	Note string `json:"note,omitempty"`
}

// Figures are what a row of either table has in common.
type Figures struct {
	ENIs   int `json:"enis"`
	Units  int `json:"units"`
	Unused int `json:"unused"`
	// PerENI is the units of each interface, in any order: the document sorts some rows.
	PerENI []int `json:"perENI"`
}

// Agrees reports whether both say the same.
func (d Documented) Agrees() bool {
	a, b := slices.Sorted(slices.Values(d.Documented.PerENI)), slices.Sorted(slices.Values(d.Worked.PerENI))
	return d.Documented.ENIs == d.Worked.ENIs && d.Documented.Units == d.Worked.Units && d.Documented.Unused == d.Worked.Unused && slices.Equal(a, b)
}

// The instances of the tables: interfaces, and units on each beside its own address.
var documentedSizes = map[string]datastore.Sizing{
	"t3.small": {ENIsMax: 3, UnitsPerENI: 3}, "p3dn.24xlarge": {ENIsMax: 15, UnitsPerENI: 49},
}

const (
	noteEmptyENI = "the document counts an interface without prefixes; its text says that a new one comes only when the others are full"
	noteMinimum  = "the document's row has one prefix attached and two per ENI; its text says that a minimum of 20 means 32"
)

var (
	warmENI, warmPrefix = datastore.Targets{WarmENI: 1}, datastore.Targets{WarmPrefix: 1}

	documented = []Documented{
		{"t3.small", warmENI, false, 0, Figures{1, 3, 3, []int{3}}, Figures{}, ""},
		{"t3.small", warmENI, false, 5, Figures{3, 9, 4, []int{3, 3, 3}}, Figures{}, ""},
		{"t3.small", warmENI, false, 9, Figures{3, 9, 0, []int{3, 3, 3}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), false, 0, Figures{1, 1, 1, []int{1}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), false, 5, Figures{2, 6, 1, []int{3, 3}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), false, 9, Figures{3, 9, 0, []int{3, 3, 3}}, Figures{}, ""},
		{"t3.small", ipTargets(2, 5), false, 0, Figures{2, 5, 5, []int{2, 3}}, Figures{}, ""},
		{"t3.small", ipTargets(2, 5), false, 5, Figures{3, 7, 2, []int{3, 3, 1}}, Figures{}, ""},
		{"t3.small", ipTargets(2, 5), false, 9, Figures{3, 9, 0, []int{3, 3, 3}}, Figures{}, ""},
		{"p3dn.24xlarge", warmENI, false, 0, Figures{1, 49, 49, []int{49}}, Figures{}, ""},
		{"p3dn.24xlarge", warmENI, false, 3, Figures{2, 98, 95, []int{49, 49}}, Figures{}, ""},
		{"p3dn.24xlarge", warmENI, false, 95, Figures{3, 147, 52, []int{49, 49, 49}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), false, 0, Figures{1, 10, 10, []int{10}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), false, 7, Figures{1, 12, 5, []int{12}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), false, 15, Figures{1, 20, 5, []int{20}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), false, 45, Figures{2, 50, 5, []int{49, 1}}, Figures{}, ""},

		{"t3.small", warmPrefix, true, 0, Figures{1, 1, 16, []int{1}}, Figures{}, ""},
		{"t3.small", warmPrefix, true, 5, Figures{1, 2, 27, []int{2}}, Figures{}, ""},
		{"t3.small", warmPrefix, true, 16, Figures{1, 2, 16, []int{2}}, Figures{}, ""},
		{"t3.small", warmPrefix, true, 17, Figures{1, 3, 31, []int{3}}, Figures{}, ""},
		{"t3.small", warmPrefix, true, 58, Figures{2, 5, 22, []int{3, 2}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), true, 0, Figures{1, 1, 16, []int{1}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), true, 5, Figures{1, 1, 11, []int{1}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), true, 17, Figures{1, 2, 15, []int{2}}, Figures{}, ""},
		{"t3.small", ipTargets(1, 1), true, 58, Figures{2, 4, 6, []int{3, 1}}, Figures{}, ""},
		{"t3.small", ipTargets(7, 20), true, 0, Figures{1, 1, 16, []int{2}}, Figures{}, noteMinimum},
		{"t3.small", ipTargets(7, 20), true, 5, Figures{1, 2, 27, []int{2}}, Figures{}, ""},
		{"t3.small", ipTargets(7, 20), true, 17, Figures{1, 2, 15, []int{2}}, Figures{}, ""},
		{"t3.small", ipTargets(7, 20), true, 58, Figures{2, 5, 22, []int{3, 2}}, Figures{}, ""},
		{"p3dn.24xlarge", warmPrefix, true, 0, Figures{1, 1, 16, []int{1}}, Figures{}, ""},
		{"p3dn.24xlarge", warmPrefix, true, 3, Figures{2, 2, 29, []int{2, 0}}, Figures{}, noteEmptyENI},
		{"p3dn.24xlarge", warmPrefix, true, 95, Figures{3, 7, 17, []int{7, 0, 0}}, Figures{}, noteEmptyENI},
		{"p3dn.24xlarge", ipTargets(5, 10), true, 0, Figures{1, 1, 16, []int{1}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), true, 7, Figures{1, 1, 9, []int{1}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), true, 15, Figures{1, 2, 17, []int{2}}, Figures{}, ""},
		{"p3dn.24xlarge", ipTargets(5, 10), true, 45, Figures{2, 4, 19, []int{4, 0}}, Figures{}, noteEmptyENI},
	}
)

func ipTargets(warm, minimum int) datastore.Targets {
	return datastore.Targets{WarmIP: warm, MinimumIP: minimum}
}

// DocumentedTable is upstream's tables in their order with what this package works out.
func DocumentedTable() []Documented {
	list := slices.Clone(documented)
	for i, row := range list {
		z := documentedSizes[row.InstanceType]
		z.Targets, z.PrefixDelegation = row.Targets, row.Prefixes
		rest := Warm{Sizing: z}.Explain(row.Pods)[0]
		f := Figures{ENIs: len(rest.PerENI), Units: rest.Held, Unused: rest.Available, PerENI: rest.PerENI}
		if row.Prefixes {
			f.Units, f.PerENI = rest.Prefixes, make([]int, len(rest.PerENI))
			for k, addresses := range rest.PerENI {
				f.PerENI[k] = addresses / datastore.DelegatedIPs
			}
		}
		list[i].Worked = f
	}
	return list
}
