package datastore

import "github.com/vppdrill/vppdrill/ipam"

// What ipamd shows of its data store (utils/prometheusmetrics of amazon-vpc-cni-k8s 1.19). What it counts of its requests and answers is
// its driver's.
var (
	enisMetric       = ipam.Metric{Name: "awscni_eni_allocated", Kind: ipam.Gauge, Help: "The number of ENIs allocated"}
	enisMaxMetric    = ipam.Metric{Name: "awscni_eni_max", Kind: ipam.Gauge, Help: "The maximum number of ENIs that can be attached to the instance, accounting for unmanaged ENIs"}
	ipMaxMetric      = ipam.Metric{Name: "awscni_ip_max", Kind: ipam.Gauge, Help: "The maximum number of IP addresses that can be allocated to the instance"}
	totalMetric      = ipam.Metric{Name: "awscni_total_ip_addresses", Kind: ipam.Gauge, Help: "The total number of IP addresses"}
	assignedMetric   = ipam.Metric{Name: "awscni_assigned_ip_addresses", Kind: ipam.Gauge, Help: "The number of IP addresses assigned to pods"}
	prefixesMetric   = ipam.Metric{Name: "awscni_total_ipv4_prefixes", Kind: ipam.Gauge, Help: "The total number of IPv4 prefixes"}
	forcedENIsMetric = ipam.Metric{Name: "awscni_force_removed_enis", Kind: ipam.Counter, Help: "The number of ENIs force removed while they had assigned pods"}
	forcedIPsMetric  = ipam.Metric{Name: "awscni_force_removed_ips", Kind: ipam.Counter, Help: "The number of IPs force removed while they had assigned pods"}
	perENIMetric     = ipam.Metric{Name: "awscni_assigned_ip_per_eni", Kind: ipam.Gauge, Help: "The number of allocated ips partitioned by eni", Labels: []string{"eni"}}
	perCIDRMetric    = ipam.Metric{Name: "awscni_assigned_ip_per_cidr", Kind: ipam.Gauge, Help: "The total number of IP addresses assigned per cidr", Labels: []string{"cidr"}}
)

// Metrics are what a NodePool shows.
var Metrics = []*ipam.Metric{&enisMetric, &enisMaxMetric, &ipMaxMetric, &totalMetric, &assignedMetric, &prefixesMetric, &forcedENIsMetric, &forcedIPsMetric,
	&perENIMetric, &perCIDRMetric}

// Figures are the account, and the limits of an instance of that size.
func (p *NodePool) Figures(size Sizing) []ipam.Figure {
	s := p.GetIPStats()
	list := []ipam.Figure{
		enisMetric.Is(float64(p.GetENIs())), enisMaxMetric.Is(float64(size.ENIsMax)), ipMaxMetric.Is(float64(size.ENIsMax * size.IPsPerENI())),
		totalMetric.Is(float64(s.TotalIPs)), assignedMetric.Is(float64(s.AssignedIPs)), prefixesMetric.Is(float64(s.TotalPrefixes)),
		forcedENIsMetric.Is(float64(s.ForceRemovedENIs)), forcedIPsMetric.Is(float64(s.ForceRemovedIPs)),
	}
	var prefixes []ipam.Figure
	for _, e := range p.enis {
		list = append(list, perENIMetric.Is(float64(p.sum(e)[assigned]), e.id))
		for _, u := range e.units {
			if !u.IsSingleIP() {
				prefixes = append(prefixes, perCIDRMetric.Is(float64(p.count(u)[assigned]), u.String()))
			}
		}
	}
	return append(list, prefixes...)
}
